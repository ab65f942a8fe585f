package metrics

import (
	"fmt"
	"math"
)

// Precision says how sure the token rate of a window is. Neighbouring seconds are not
// independent (the same requests are in flight), so the interval comes from blocks that
// are not shorter than one request's latency.
type Precision struct {
	// Blocks of BlockSeconds each; Rates are their token rates.
	Blocks       int     `json:"blocks"`
	BlockSeconds float64 `json:"block_seconds"`
	// Mean is the mean block rate, tok/s; HalfWidth the half width of its 95 % confidence
	// interval (Student's t), as a share of Mean. n/a with fewer than two blocks.
	Mean      Value `json:"mean"`
	HalfWidth Value `json:"half_width_95"`
	// Drift is the change of the fitted line over the window as a share of Mean; DriftKnown is
	// false with fewer than three blocks. Stationary means that the slope cannot be told from 0
	// at 95 %, or that the drift is under 1 %.
	Drift      Value `json:"drift"`
	Stationary *bool `json:"stationary"`
	// Latencies is the window's length in mean request latencies.
	Latencies Value `json:"latencies"`
	// Sure is "high", "medium" or "low", Why the reason.
	Sure string `json:"sure"`
	Why  string `json:"why"`
}

// The degrees of Precision.Sure.
const (
	SureHigh   = "high"
	SureMedium = "medium"
	SureLow    = "low"
)

// auto finds the steady state: the longest stretch in which the requests in flight stay at
// or over ratio of their peak (sglang's steady-state idea), shortened from the front, a
// block at a time, while its token rate drifts and at least four blocks remain.
func (s *Survey) auto(r float64) WindowInfo {
	if r <= 0 || r > 1 {
		r = 0.9
	}
	steps := curve(s.spans)
	_, peak := inFlight(steps, Window{s.Start, s.Over + 1})
	w := longest(steps, int(math.Ceil(r*float64(peak))), max(fineBin, int64(s.latency/20)))
	w.To = min(w.To, s.Over+1)
	info := WindowInfo{Window: w, Method: MethodAuto}
	cut := 0
	for {
		p := s.precision(info.Window)
		if p.Stationary == nil || *p.Stationary || p.Blocks < 5 {
			break
		}
		info.From += int64(p.BlockSeconds * 1e9)
		cut++
	}
	info.Why = fmt.Sprintf("longest stretch with at least %.0f %% of the peak of %d requests in flight", 100*r, peak)
	if cut > 0 {
		info.Why += fmt.Sprintf(", without its first %d blocks, in which the token rate still drifted", cut)
	}
	return info
}

// longest is the longest stretch of the curve at or over level. A dip shorter than patience
// does not end it: a slot is empty for a moment between two requests.
func longest(steps []step, level int, patience int64) Window {
	var best, cur Window
	open, closed := false, false // closed: cur.To is set and may still be bridged
	for _, s := range steps {
		switch {
		case s.level >= level && !open:
			if !closed || s.at-cur.To > patience {
				cur.From = s.at
			}
			open, closed = true, false
		case s.level < level && open:
			cur.To, open, closed = s.at, false, true
			if cur.To-cur.From > best.To-best.From {
				best = cur
			}
		}
	}
	return best
}

// precision judges the token rate within w.
func (s *Survey) precision(w Window) Precision {
	p := Precision{Mean: NA(), HalfWidth: NA(), Drift: NA(), Latencies: ratio(float64(w.To-w.From), s.latency)}
	rates := s.blocks(w, &p)
	p.Blocks = len(rates)
	if len(rates) > 0 {
		m, _ := meanStd(rates)
		p.Mean = Value(m)
	}
	if len(rates) >= 2 {
		m, sd := meanStd(rates)
		p.HalfWidth = ratio(student95(len(rates)-1)*sd/math.Sqrt(float64(len(rates))), m)
	}
	if len(rates) >= 3 {
		slope, se := fit(rates)
		m, _ := meanStd(rates)
		p.Drift = ratio(slope*float64(len(rates)-1), m)
		steady := math.Abs(slope) <= student95(len(rates)-2)*se || math.Abs(float64(p.Drift)) < 0.01
		p.Stationary = &steady
	}
	p.Sure, p.Why = p.judge()
	return p
}

func (p Precision) judge() (sure, why string) {
	switch {
	case p.Blocks < 4:
		return SureLow, fmt.Sprintf("the window is only %s request latencies long: fewer than four independent blocks", p.Latencies.Fixed(1))
	case p.Stationary != nil && !*p.Stationary:
		return SureLow, fmt.Sprintf("the token rate drifts by %.1f %% over the window", 100*float64(p.Drift))
	case p.HalfWidth > 0.05:
		return SureLow, fmt.Sprintf("blocks differ: ±%.1f %% at 95 %%", 100*float64(p.HalfWidth))
	case p.Blocks < 8 || p.HalfWidth > 0.02:
		return SureMedium, fmt.Sprintf("±%.1f %% at 95 %% from %d blocks", 100*float64(p.HalfWidth), p.Blocks)
	}
	return SureHigh, fmt.Sprintf("±%.1f %% at 95 %% from %d blocks, no drift", 100*float64(p.HalfWidth), p.Blocks)
}

// blocks cuts w into equal blocks not shorter than one mean latency (at most 32) and
// returns their token rates. Edges are rounded to the fine bins, and the rate uses the
// rounded length.
func (s *Survey) blocks(w Window, p *Precision) []float64 {
	from, to := ceilDiv(w.From, fineBin), w.To/fineBin
	width := max(int64(math.Ceil(s.latency/fineBin)), 1)
	n := min((to-from)/width, 32)
	if n < 1 {
		return nil
	}
	width = (to - from) / n
	p.BlockSeconds = float64(width) * fineBin / 1e9
	rates := make([]float64, n)
	for b := range n {
		for i := from + b*width; i < from+(b+1)*width && i < int64(len(s.fine)); i++ {
			rates[b] += float64(s.fine[max(i, 0)])
		}
		rates[b] /= p.BlockSeconds
	}
	return rates
}

func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }

// meanStd are the mean and the sample's standard deviation (n-1).
func meanStd(v []float64) (mean, std float64) {
	for _, x := range v {
		mean += x
	}
	mean /= float64(len(v))
	if len(v) < 2 {
		return mean, 0
	}
	for _, x := range v {
		std += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(std / float64(len(v)-1))
}

// fit is the least-squares slope of v against its index and the slope's standard error.
func fit(v []float64) (slope, se float64) {
	n := float64(len(v))
	mean, _ := meanStd(v)
	mid := (n - 1) / 2
	var sxy, sxx float64
	for i, y := range v {
		sxy += (float64(i) - mid) * (y - mean)
		sxx += (float64(i) - mid) * (float64(i) - mid)
	}
	slope = sxy / sxx
	rss := 0.0
	for i, y := range v {
		e := y - mean - slope*(float64(i)-mid)
		rss += e * e
	}
	return slope, math.Sqrt(rss / max(n-2, 1) / sxx)
}

// student95 is the two-sided 95 % quantile of Student's t with df degrees of freedom.
func student95(df int) float64 {
	table := [...]float64{
		12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
		2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
	}
	if df < 1 {
		return math.Inf(1)
	}
	return table[min(df, len(table))-1]
}
