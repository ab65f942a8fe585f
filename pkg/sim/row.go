package sim

import (
	"slices"
	"time"
)

// Row is what the published tool prints for one run, by its own rules: token
// events in [first start + warm-up, last end - cool-down) are counted by their
// time, gaps by the time of their later token; requests, input tokens and TTFT
// are those of requests that lie wholly inside the window.
type Row struct {
	// Requests counts the requests wholly inside the window.
	Requests int
	// Window is the window's length.
	Window time.Duration
	// InputTokens and GeneratedTokens are the printed totals.
	InputTokens, GeneratedTokens int
	// OutputPerSecond and TotalPerSecond are in tokens per second.
	OutputPerSecond, TotalPerSecond float64
	// TTFT and ITL are the latencies.
	TTFT, ITL Quantiles
	// Preemptions counts preempted sequences of all engines over the whole run.
	Preemptions int
}

// Quantiles is a distribution of durations; all zero when there is no sample.
type Quantiles struct {
	// Mean and the percentiles; a percentile is the smallest sample that at least
	// that share of the samples does not exceed.
	Mean, P1, P10, P25, P50, P75, P90 time.Duration
}

type weighted struct {
	v time.Duration
	n int
}

func quantiles(samples []weighted) Quantiles {
	slices.SortFunc(samples, func(a, b weighted) int { return int(a.v - b.v) })
	total, sum := 0, 0.0
	for _, s := range samples {
		total += s.n
		sum += float64(s.v) * float64(s.n)
	}
	if total == 0 {
		return Quantiles{}
	}
	at := func(p float64) time.Duration {
		seen := 0
		for _, s := range samples {
			if seen += s.n; float64(seen) >= p*float64(total) {
				return s.v
			}
		}
		return samples[len(samples)-1].v
	}
	return Quantiles{
		Mean: time.Duration(sum / float64(total)),
		P1:   at(0.01), P10: at(0.10), P25: at(0.25), P50: at(0.50), P75: at(0.75), P90: at(0.90),
	}
}

func (w *world) row() Row {
	from, to := w.reqs[0].start, time.Duration(0)
	for _, r := range w.reqs {
		from, to = min(from, r.start), max(to, r.end)
	}
	from, to = from+w.load.Warmup, to-w.load.Cooldown
	row := Row{Window: to - from}
	var ttft, itl []weighted
	for _, r := range w.reqs {
		if r.start >= from && r.end < to {
			row.Requests++
			ttft = append(ttft, weighted{r.first - r.start, 1})
		}
	}
	for _, g := range w.gaps {
		if g.at < from || g.at >= to {
			continue
		}
		row.GeneratedTokens += g.tokens
		if g.n > 0 {
			itl = append(itl, weighted{g.gap, g.n})
		}
	}
	row.TTFT, row.ITL = quantiles(ttft), quantiles(itl)
	row.InputTokens = row.Requests * w.load.InputTokens
	row.OutputPerSecond = float64(row.GeneratedTokens) / row.Window.Seconds()
	row.TotalPerSecond = float64(row.GeneratedTokens+row.InputTokens) / row.Window.Seconds()
	for _, r := range append(w.prefill, w.decode...) {
		row.Preemptions += int(r.e.preemptions)
	}
	return row
}
