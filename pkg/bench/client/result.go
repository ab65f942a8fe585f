package client

import (
	"github.com/mifbench/mifbench/pkg/bench/record"
)

// Result collects the outcome of one request. It is reused: Reset before each Do.
type Result struct {
	// Rec is the outcome without its events; Record adds them.
	Rec record.Record
	// Coalesced counts the events marked so.
	Coalesced int64
	// Tokens is the sum of the events' token counts.
	Tokens int64
	log    eventLog
}

// Reset empties the result and makes room for maxTokens events.
func (r *Result) Reset(maxTokens int32) {
	r.log.reset(maxTokens)
	*r = Result{log: r.log, Rec: record.Record{UsagePrompt: -1, UsageCompletion: -1, CachedTokens: -1}}
}

// Add appends a token event that arrived at ns since the run's start.
func (r *Result) Add(at int64, tokens int32, coalesced bool) {
	r.log.add(at, tokens, coalesced)
	r.Tokens += int64(tokens)
	if coalesced {
		r.Coalesced++
	}
}

// Events is the number of token events so far.
func (r *Result) Events() int { return r.log.n }

// Record returns the outcome with its events appended to buf[:0].
func (r *Result) Record(buf []record.Event) record.Record {
	rec := r.Rec
	rec.Events = r.log.appendTo(buf[:0])
	return rec
}

// fail sets the outcome once; a later failure does not hide the first.
func (r *Result) fail(s record.Status, text string) {
	if r.Rec.Status == "" {
		r.Rec.Status, r.Rec.Error = s, text
	}
}
