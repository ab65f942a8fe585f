package metrics

import (
	"cmp"
	"math"
	"slices"

	"github.com/mifbench/mifbench/pkg/bench/record"
)

// peak counts tokens in 1-s buckets from origin on.
type peak struct {
	origin  int64
	buckets []int64
}

func (p *peak) add(at, k int64) {
	if at < p.origin {
		return
	}
	b := (at - p.origin) / 1e9
	for int64(len(p.buckets)) <= b {
		p.buckets = append(p.buckets, 0)
	}
	p.buckets[b] += k
}

// value is the fullest bucket.
func (p *peak) value() Value {
	if len(p.buckets) == 0 {
		return NA()
	}
	return Value(slices.Max(p.buckets))
}

// extent is the first and last of a set of instants.
type extent struct{ n, first, last int64 }

func (e *extent) add(t int64) {
	if e.n == 0 {
		e.first, e.last = t, t
	}
	e.first, e.last = min(e.first, t), max(e.last, t)
	e.n++
}

// rate is (n-1) / (last - first), per second.
func (e extent) rate() Value {
	if e.n < 2 || e.last == e.first {
		return NA()
	}
	return Value(float64(e.n-1) / float64(e.last-e.first) * 1e9)
}

// failures counts what went wrong, by status and code.
type failures struct{ counts []FailureCount }

func (f *failures) add(r *record.Record) {
	if r.Status == record.OK {
		return
	}
	for i := range f.counts {
		c := &f.counts[i]
		if c.Status == string(r.Status) && c.HTTPStatus == r.HTTPStatus {
			c.Count++
			return
		}
	}
	f.counts = append(f.counts, FailureCount{Status: string(r.Status), HTTPStatus: r.HTTPStatus, Count: 1, Example: r.Error})
}

// list is sorted by count, the most frequent first.
func (f *failures) list() []FailureCount {
	slices.SortFunc(f.counts, func(a, b FailureCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Status, b.Status), cmp.Compare(a.HTTPStatus, b.HTTPStatus))
	})
	return f.counts
}

// usage compares counts over the whole run.
type usage struct {
	c                      UsageCheck
	prompts, promptsOff    int64
	cached, cachedOfPrompt int64
}

func (u *usage) add(r *record.Record) {
	if r.CachedTokens >= 0 {
		u.cached += int64(r.CachedTokens)
		u.cachedOfPrompt += promptTokens(r)
	}
	if r.Status != record.OK {
		return
	}
	u.c.Successful++
	counted := int64(0)
	for i := range r.Events {
		counted += int64(r.Events[i].Tokens)
	}
	got := counted
	if r.UsageCompletion >= 0 {
		u.c.WithUsage++
		u.c.Counted += counted
		u.c.Reported += int64(r.UsageCompletion)
		got = int64(r.UsageCompletion)
	}
	if r.MaxTokens > 0 && got < int64(r.MaxTokens) {
		u.c.ShortOutputs++
	}
	if r.UsagePrompt >= 0 && r.PromptTokens > 0 {
		u.prompts++
		if r.UsagePrompt != r.PromptTokens {
			u.promptsOff++
		}
	}
}

func (u *usage) result() UsageCheck {
	c := u.c
	c.OutputMismatch = ratio(math.Abs(float64(c.Counted-c.Reported)), float64(c.Reported))
	c.PromptMismatch = ratio(float64(u.promptsOff), float64(u.prompts))
	c.CacheHit = ratio(float64(u.cached), float64(u.cachedOfPrompt))
	return c
}
