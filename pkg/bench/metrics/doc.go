// Package metrics turns the records of a run and a measurement window into a Summary
// with warnings. It is pure: it reads a Source (any number of times) and computes; it
// neither opens files nor prints. Every formula stands in the comment of the function
// that computes it, with its source.
//
// Three views answer three questions. ViewMifbench counts everything on one basis inside
// the window; ViewVLLM is what `vllm bench serve` would print for the same requests
// (untrimmed); ViewMoreh is the published benchmark's trimming with its mixed basis, so
// that old tables can be laid beside new ones.
//
// Errors: a source that fails (not a damaged one: that is a warning and the result is
// Partial) and a window that holds nothing (ErrEmptyWindow). A metric without samples is
// n/a (NaN, JSON null), never 0.
package metrics

import (
	"iter"

	"github.com/mifbench/mifbench/pkg/bench/record"
)

// Source yields the records of a run, again from the start at each iteration; a record is
// valid until the next step. record.All and record.Join return such values.
type Source = iter.Seq2[*record.Record, error]

// FromRecords is a Source over records in memory.
func FromRecords(records []record.Record) Source {
	return func(yield func(*record.Record, error) bool) {
		for i := range records {
			if !yield(&records[i], nil) {
				return
			}
		}
	}
}

// View is a way of counting.
type View string

// The views.
const (
	ViewMifbench View = "mifbench"
	ViewVLLM     View = "vllm"
	ViewMoreh    View = "moreh"
)

// Views lists the views, the default first.
func Views() []View { return []View{ViewMifbench, ViewVLLM, ViewMoreh} }
