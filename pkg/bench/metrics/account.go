package metrics

import (
	"github.com/mifbench/mifbench/pkg/bench/record"
)

// account adds up one view of the records. What differs between the views is decided in
// verdict and in the few places that look at view.
type account struct {
	view View
	win  Window
	opt  Options

	requests Requests
	failures failures
	usage    usage
	tok      tokens

	input, output, chunks, coalesced int64
	doneTokens, doneCount            int64

	itl, perToken *gaps // perToken is nil while each chunk held one token
	ttft, ttfat   floats
	tpot, e2el    floats
	tps, queue    floats
	withQueue     floats

	slo      goodput
	peak     peak
	intended extent
	sends    extent
	served   []span // successful requests: the vllm view's concurrency
}

func (s *Survey) newAccount(view View, win Window, opt Options) *account {
	a := &account{view: view, win: win, opt: opt, itl: &gaps{}}
	a.peak.origin = win.From
	if view == ViewVLLM {
		a.win.To++ // what ends with the run is part of it
		a.peak.origin = s.Start
	}
	if opt.SLO != nil {
		a.slo.limits = *opt.SLO
	}
	return a
}

// verdict is how a view sees one request.
type verdict struct {
	events bool // its chunks count (each by its own time, except in the vllm view)
	first  bool // its first token counts: input tokens and TTFT
	done   bool // its completion counts: TPOT, E2EL, requests, goodput
}

// judge applies the view's rule.
//
//	mifbench (design §5.4): chunks of every request that arrived in the window, first token
//	in the window, last token in the window of a successful request.
//	vllm (benchmarking facts §2.2): all successful requests, wholly.
//	moreh (the published tool): chunks by arrival; everything else of successful requests
//	that lie wholly inside the window.
func (a *account) judge(r *record.Record) verdict {
	ok := r.Status == record.OK
	last := lastEvent(r)
	switch a.view {
	case ViewVLLM:
		return verdict{ok, ok, ok}
	case ViewMoreh:
		inside := ok && a.inside(r)
		return verdict{ok, inside, inside}
	default:
		first := len(r.Events) > 0 && a.win.Contains(r.Events[0].At)
		return verdict{true, first, ok && a.win.Contains(last)}
	}
}

func (a *account) inside(r *record.Record) bool {
	return a.win.Contains(r.Sent) && len(r.Events) > 0 && a.win.Contains(lastEvent(r))
}

func (a *account) add(r *record.Record) {
	a.requests.Scheduled++
	a.failures.add(r)
	a.intended.add(r.Intended)
	if !sent(r) {
		a.requests.Dropped++
		return
	}
	a.sends.add(r.Sent)
	a.tok.count(r)
	a.countRequest(r)
	a.usage.add(r)
	v := a.judge(r)
	if v.events {
		a.addEvents(r)
	}
	if v.first && len(r.Events) > 0 {
		a.addFirst(r)
	}
	if v.done && len(r.Events) > 0 {
		a.addDone(r)
	}
	if (a.view == ViewMifbench && a.win.Contains(r.Sent)) || (a.view != ViewMifbench && v.done) {
		a.queue.add(float64(r.Sent-r.Intended) / 1e6)
	}
}

func (a *account) countRequest(r *record.Record) {
	c := &a.requests
	c.Sent++
	ok := r.Status == record.OK
	switch {
	case r.Status == record.Cancelled:
		c.Cancelled++
	case !ok:
		c.Failed++
	}
	if a.win.Contains(r.Sent) {
		c.Started++
	}
	end := left(r)
	if ok && a.win.Contains(end) {
		c.Finished++
		if a.win.Contains(r.Sent) {
			c.Inside++
		}
	}
	if r.Sent < a.win.To && max(r.Done, end) >= a.win.From {
		c.Touching++
	}
	if ok && a.view == ViewVLLM {
		a.served = append(a.served, span{r.Sent, end})
	}
}

// addEvents counts chunks and their gaps. A gap belongs to the instant of its later chunk.
func (a *account) addEvents(r *record.Record) {
	all := a.view == ViewVLLM
	if a.tok.multi && a.perToken == nil {
		a.perToken = a.itl.clone() // so far every chunk held one token
	}
	pending := int64(0) // gap of chunks that carry no token of their own
	for i := range r.Events {
		e := &r.Events[i]
		if !all && !a.win.Contains(e.At) {
			pending = 0
			continue
		}
		k := a.tok.of(r, i)
		a.chunks++
		a.countTokens(e.At, k)
		if e.Coalesced {
			a.coalesced++
		}
		if i == 0 {
			continue
		}
		gap := e.At - r.Events[i-1].At
		if a.view == ViewMifbench && a.opt.ExcludeCoalesced && (e.Coalesced || r.Events[i-1].Coalesced) {
			continue
		}
		a.itl.add(gap)
		if a.perToken != nil {
			pending = a.addPerToken(gap+pending, k)
		}
	}
	if all {
		a.output += a.tok.total
	}
}

// addPerToken spreads a gap over the k tokens of its chunk and returns what is left for
// the next chunk.
func (a *account) addPerToken(gap, k int64) int64 {
	if k == 0 {
		return gap
	}
	for range k {
		a.perToken.add(gap / k)
	}
	return 0
}

// countTokens adds a chunk to the output and to its second. The moreh view counts chunks, as
// its tool does; vllm's peak counts chunks while its total is the server's count.
func (a *account) countTokens(at, k int64) {
	switch a.view {
	case ViewVLLM:
		a.peak.add(at, 1)
	case ViewMoreh:
		a.output++
		a.peak.add(at, 1)
	default:
		a.output += k
		a.peak.add(at, k)
	}
}

func (a *account) addFirst(r *record.Record) {
	a.input += promptTokens(r)
	a.ttft.add(float64(r.Events[0].At-r.Sent) / 1e6)
	if n := int(r.ReasoningEvents); n > 0 && n < len(r.Events) {
		a.ttfat.add(float64(r.Events[n].At-r.Sent) / 1e6)
	}
}

func (a *account) addDone(r *record.Record) {
	a.requests.Successful++
	last := lastEvent(r)
	a.e2el.add(float64(last-r.Sent) / 1e6)
	a.withQueue.add(float64(last-r.Intended) / 1e6)
	n := a.tok.total
	a.doneTokens += n
	a.doneCount++
	tpot := 0.0 // counts as 0 for goodput when there is no second token
	if n > 1 {
		span := float64(last - r.Events[0].At)
		tpot = span / float64(n-1) / 1e6
		a.tpot.add(tpot)
		if span > 0 {
			a.tps.add(float64(n-1) / span * 1e9)
		}
	}
	if a.opt.SLO != nil {
		a.slo.add(r, tpot)
	}
}

// meanOutput is the mean number of output tokens of completed requests.
func (a *account) meanOutput() Value { return ratio(float64(a.doneTokens), float64(a.doneCount)) }

// metrics describes the distributions, in report order.
func (a *account) metrics(p []float64) []Metric {
	perToken := a.perToken
	if perToken == nil {
		perToken = a.itl
	}
	basis := a.basis()
	list := []Metric{
		{Name: TTFT, Unit: "ms", Basis: basis.first, Stats: a.ttft.stats(p)},
		{Name: TPOT, Unit: "ms", Basis: basis.done, Stats: a.tpot.stats(p)},
		{Name: ITL, Unit: "ms", Basis: basis.gap, Stats: a.itl.stats(p)},
		{Name: TokenLatency, Unit: "ms", Basis: basis.gap, Stats: perToken.stats(p)},
		{Name: E2EL, Unit: "ms", Basis: basis.done, Stats: a.e2el.stats(p)},
		{Name: UserTPS, Unit: "tok/s", Basis: basis.done, Stats: a.tps.stats(p)},
		{Name: QueueTime, Unit: "ms", Basis: basis.queue, Stats: a.queue.stats(p)},
		{Name: E2ELWithQueue, Unit: "ms", Basis: basis.done, Stats: a.withQueue.stats(p)},
	}
	if len(a.ttfat.v) > 0 {
		m := Metric{Name: TTFAT, Unit: "ms", Basis: basis.first, Stats: a.ttfat.stats(p)}
		list = append(list[:1], append([]Metric{m}, list[1:]...)...)
	}
	return list
}

type bases struct{ first, gap, done, queue string }

func (a *account) basis() bases {
	switch a.view {
	case ViewVLLM:
		all := "all successful requests"
		return bases{all, all, all, all}
	case ViewMoreh:
		in := "successful requests wholly inside the window"
		return bases{in, "gaps whose later chunk is in the window", in, in}
	default:
		return bases{"first token in the window", "gaps that end in the window", "successful requests whose last token is in the window", "requests sent in the window"}
	}
}
