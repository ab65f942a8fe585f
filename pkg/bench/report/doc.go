// Package report writes results in the formats people and programs already read, one file
// a format and one row in Formats. It computes nothing that a metrics.Summary does not
// hold. Errors are those of the writer, and of a record source that cannot be read
// (formats parquet and requests-csv, and vllm-json with SaveDetailed).
//
// A result whose proof failed carries its flag (CLIENT-LIMITED, UNVERIFIED) in every
// format; a figure without samples is n/a, null or an empty cell, never 0.
package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Format writes d to w.
type Format func(w io.Writer, d Data) error

// Entry is a row of the table of formats.
type Entry struct {
	Name string
	// Extension of a file in this format, with its dot.
	Extension string
	// Summary is one line for help texts.
	Summary string
	Write   Format
}

// Formats lists the formats, sorted by name.
func Formats() []Entry {
	return []Entry{
		{"csv", ".csv", "one row a scenario and view", CSV},
		{"html", ".html", "one self-contained page with plots", HTML},
		{"json", ".json", "everything, versioned", JSON},
		{"markdown", ".md", "the published table and ours", Markdown},
		{"parquet", ".parquet", "one row a token event, for pandas and DuckDB", Parquet},
		{"requests-csv", ".csv", "one row a request", RequestsCSV},
		{"text", ".txt", "a summary for the terminal", Text},
		{"vllm", ".txt", "the block that vllm bench serve prints", VLLM},
		{"vllm-json", ".json", "the result file of vllm bench serve, one object a line", VLLMJSON},
	}
}

// ByName finds a format; the error lists the names that exist.
func ByName(name string) (Entry, error) {
	var names []string
	for _, e := range Formats() {
		if e.Name == name {
			return e, nil
		}
		names = append(names, e.Name)
	}
	slices.Sort(names)
	return Entry{}, fmt.Errorf("report format %q does not exist: use one of %s", name, strings.Join(names, ", "))
}

// out is a writer whose first failure sticks, so that a format checks once at its end.
type out struct {
	w   io.Writer
	err error
}

func (o *out) printf(format string, a ...any) {
	if o.err == nil {
		_, o.err = fmt.Fprintf(o.w, format, a...)
	}
}

func (o *out) line(s string) { o.printf("%s\n", s) }
