//go:build linux

package main

import (
	"slices"
	"time"
)

// errorOf is a distribution of absolute errors.
type errorOf struct{ P50, P99, P999 time.Duration }

func errorsOf(ns []int64) errorOf {
	if len(ns) == 0 {
		return errorOf{}
	}
	slices.Sort(ns)
	at := func(q float64) time.Duration { return time.Duration(ns[min(len(ns)-1, int(q*float64(len(ns))))]) }
	return errorOf{at(0.5), at(0.99), at(0.999)}
}

// steady are the samples from the first to the last with nearly as many requests in
// flight as ever.
func steady(all []sample) []sample {
	most := 0.0
	for _, s := range all {
		most = max(most, s.running)
	}
	first, last := -1, -1
	for i, s := range all {
		if s.running >= 0.95*most && most > 0 {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	if first < 0 {
		return nil
	}
	return all[first : last+1]
}

// summarize fills in what the server and /proc tell.
func (r *row) summarize(all []sample) {
	for _, s := range all {
		r.Held, r.Memory = max(r.Held, s.running), max(r.Memory, s.memory)
	}
	r.Offered = offered(all, r.Load) - 1
	w := steady(all)
	if len(w) < 2 {
		return
	}
	a, b := w[0], w[len(w)-1]
	seconds, tokens := b.at.Sub(a.at).Seconds(), b.tokens-a.tokens
	cpu := (b.cpu - a.cpu).Seconds()
	r.TokensPerSecond, r.Cores = tokens/seconds, cpu/seconds
	if tokens > 0 {
		r.CPU = cpu / tokens * 1e6
	}
}

// offered is the rate of sends over that asked for, by the server's counts, from a tenth
// of the requests to nine tenths.
func offered(all []sample, l load) float64 {
	n := float64(l.Requests)
	var from, to *sample
	for i := range all {
		s := &all[i]
		if from == nil && s.received >= n/10 {
			from = s
		}
		if s.received <= 0.9*n {
			to = s
		}
	}
	if from == nil || to == nil || !to.at.After(from.at) {
		return 0
	}
	return (to.received - from.received) / to.at.Sub(from.at).Seconds() / l.Rate
}

// compare fills in the timing errors of the events in the steady time.
func (r *row) compare(requests []request, all []sample) {
	w := steady(all)
	if len(w) < 2 {
		return
	}
	from, to := w[0].at.UnixNano(), w[len(w)-1].at.UnixNano()
	var stamp, gap []int64
	for _, q := range requests {
		for i := range min(len(q.at), len(q.stamps)) {
			if q.stamps[i] < from || q.stamps[i] >= to {
				continue
			}
			stamp = append(stamp, abs(q.at[i]-q.stamps[i]))
			if i > 0 && !q.ends {
				gap = append(gap, abs((q.at[i]-q.at[i-1])-(q.stamps[i]-q.stamps[i-1])))
			}
		}
	}
	r.Events, r.Stamp, r.Gap = len(stamp), errorsOf(stamp), errorsOf(gap)
}

func abs(v int64) int64 { return max(v, -v) }
