package metrics

import (
	"errors"
	"math"
	"slices"

	"github.com/mifbench/mifbench/pkg/bench/record"
)

// span is the time a request was in flight: [from, to).
type span struct{ from, to int64 }

// Survey is what one pass over the records learns before a window can be chosen: extents, the
// curve of requests in flight and the token rate. It is shared by the views.
type Survey struct {
	// Start is the earliest send and End the latest last token of successful requests (of all
	// requests that were sent, when none succeeded). Over is the latest end of any request.
	Start, End, Over int64
	// Records counts all records, OK the successful ones.
	Records, OK int64
	// Damage is the damage of the record file, nil if none: what follows is then partial.
	Damage error
	// latency is the mean time from send to last token of successful requests, ns.
	latency float64
	spans   []span // of requests that were sent, by from
	fine    []int64
	multi   int64 // successful requests with more tokens than chunks
}

// fineBin is the resolution of the token-rate curve that blocks are made of.
const fineBin = 100_000_000

// NewSurvey reads src once. A damaged source is kept in Damage; other failures are returned.
func NewSurvey(src Source) (*Survey, error) {
	s := &Survey{Start: math.MaxInt64, End: math.MinInt64}
	all := span{math.MaxInt64, math.MinInt64}
	var t tokens
	for r, err := range src {
		if err != nil {
			if !errors.Is(err, record.ErrDamaged) {
				return nil, err
			}
			s.Damage = errors.Join(s.Damage, err)
			continue
		}
		s.Records++
		if !sent(r) {
			continue
		}
		s.add(r, &t)
		all = span{min(all.from, r.Sent), max(all.to, left(r))}
	}
	if s.OK == 0 {
		s.Start, s.End = all.from, all.to
	}
	if len(s.spans) == 0 {
		s.Start, s.End = 0, 0
	}
	if s.OK > 0 {
		s.latency /= float64(s.OK)
	}
	slices.SortFunc(s.spans, func(a, b span) int { return cmpInt(a.from, b.from) })
	return s, nil
}

func cmpInt(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func (s *Survey) add(r *record.Record, t *tokens) {
	t.count(r)
	s.Over = max(s.Over, r.Done, lastEvent(r))
	s.spans = append(s.spans, span{r.Sent, max(r.Done, lastEvent(r), r.Sent)})
	for i := range r.Events {
		b := r.Events[i].At / fineBin
		if b < 0 {
			continue
		}
		for int64(len(s.fine)) <= b {
			s.fine = append(s.fine, 0)
		}
		s.fine[b] += t.of(r, i)
	}
	if r.Status != record.OK {
		return
	}
	s.OK++
	s.Start, s.End = min(s.Start, r.Sent), max(s.End, left(r))
	s.latency += float64(left(r) - r.Sent)
	if t.multi {
		s.multi++
	}
}

// step is a change of the number of requests in flight.
type step struct {
	at    int64
	level int
}

// curve is the number in flight over time: an exact sweep over the half-open spans, which
// are sorted by from. An empty span is in flight at no instant.
func curve(spans []span) []step {
	ends := make([]int64, 0, len(spans))
	for _, s := range spans {
		if s.to > s.from {
			ends = append(ends, s.to)
		}
	}
	slices.Sort(ends)
	steps := make([]step, 0, 2*len(spans))
	level, j := 0, 0
	change := func(at int64, by int) {
		level += by
		if n := len(steps); n > 0 && steps[n-1].at == at {
			steps[n-1].level = level
			return
		}
		steps = append(steps, step{at, level})
	}
	for _, s := range spans {
		if s.to <= s.from {
			continue
		}
		for ; ends[j] <= s.from; j++ { // s's own end stops this
			change(ends[j], -1)
		}
		change(s.from, 1)
	}
	for ; j < len(ends); j++ {
		change(ends[j], -1)
	}
	return steps
}

// inFlight is the time-weighted mean and the peak of the curve within w.
func inFlight(steps []step, w Window) (mean Value, peak int) {
	area, level, from := 0.0, 0, w.From
	for _, s := range steps {
		if s.at >= w.To {
			break
		}
		if s.at > from {
			area += float64(level) * float64(s.at-from)
			peak = max(peak, level)
			from = s.at
		}
		level = s.level
	}
	if w.To > from {
		area += float64(level) * float64(w.To-from)
		peak = max(peak, level)
	}
	return ratio(area, float64(w.To-w.From)), peak
}
