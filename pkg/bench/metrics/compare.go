package metrics

import (
	"fmt"
	"math"
)

// Comparison sets two results of one view side by side; b is judged against a.
type Comparison struct {
	View      View       `json:"view"`
	Tolerance float64    `json:"tolerance"`
	Rows      []Compared `json:"rows"`
	// Verdict is Worse when a headline row is, else Better when one is, else Within; n/a when
	// nothing could be compared.
	Verdict  Verdict   `json:"verdict"`
	Warnings []Warning `json:"warnings"`
}

// Compared is one figure of both.
type Compared struct {
	What string `json:"what"`
	Unit string `json:"unit"`
	A    Value  `json:"a"`
	B    Value  `json:"b"`
	// Change is B/A - 1.
	Change  Value   `json:"change"`
	Verdict Verdict `json:"verdict"`
	// Headline rows decide the verdict.
	Headline bool `json:"headline"`
	// Noise tells that the 95 % intervals of both overlap: the change may be chance.
	Noise bool `json:"within_noise,omitempty"`
}

// Missed tells whether the comparison fails (exit code 3).
func (c Comparison) Missed() bool { return c.Verdict == Worse || c.Verdict == Unknown }

type figure struct {
	what, unit string
	get        func(Summary) Value
	higher     bool
	headline   bool
}

func metricMean(n MetricName) func(Summary) Value {
	return func(s Summary) Value { m, _ := s.Metric(n); return m.Mean }
}

func metricP(n MetricName, p float64) func(Summary) Value {
	return func(s Summary) Value { m, _ := s.Metric(n); return m.At(p) }
}

func figures() []figure {
	return []figure{
		{"output throughput", "tok/s", func(s Summary) Value { return s.OutputThroughput }, true, true},
		{"total throughput", "tok/s", func(s Summary) Value { return s.TotalThroughput }, true, false},
		{"request throughput", "req/s", func(s Summary) Value { return s.RequestThroughput }, true, false},
		{"goodput", "req/s", goodputOf, true, true},
		{"mean TTFT", "ms", metricMean(TTFT), false, true},
		{"p99 TTFT", "ms", metricP(TTFT, 99), false, false},
		{"mean TPOT", "ms", metricMean(TPOT), false, false},
		{"mean ITL", "ms", metricMean(ITL), false, true},
		{"p99 ITL", "ms", metricP(ITL, 99), false, false},
		{"mean per-token latency", "ms", metricMean(TokenLatency), false, false},
		{"mean E2EL", "ms", metricMean(E2EL), false, false},
		{"mean E2EL from intended send", "ms", metricMean(E2ELWithQueue), false, false},
		{"failed requests", "share", failedShare, false, true},
		{"cost", "$/M output", costOf, false, false},
	}
}

func goodputOf(s Summary) Value {
	if s.SLO == nil {
		return NA()
	}
	return s.SLO.Goodput
}

func failedShare(s Summary) Value { return ratio(float64(s.Requests.Failed), float64(s.Requests.Sent)) }

func costOf(s Summary) Value {
	if s.Cost == nil {
		return NA()
	}
	return s.Cost.PerMillionOutput
}

// Compare judges b against a with a relative tolerance (0.03 for 3 %). The share of
// failed requests is compared by difference, since its base is usually 0.
func Compare(a, b Summary, tolerance float64) Comparison {
	c := Comparison{View: a.View, Tolerance: tolerance, Verdict: Unknown, Warnings: differences(a, b)}
	better, worse, any := false, false, false
	for _, k := range figures() {
		row := Compared{What: k.what, Unit: k.unit, A: k.get(a), B: k.get(b), Change: NA(), Verdict: Unknown, Headline: k.headline}
		if !row.A.Known() && !row.B.Known() {
			continue
		}
		row.Change = ratio(float64(row.B-row.A), float64(row.A))
		change := row.Change
		if k.unit == "share" {
			change = row.B - row.A
		}
		if row.A.Known() && row.B.Known() && change.Known() {
			row.Verdict = judge(float64(change), tolerance, k.higher)
		} else if row.A == 0 && row.B == 0 {
			row.Verdict = Within
		}
		if k.what == "output throughput" {
			row.Noise = overlap(a, b)
		}
		if k.headline {
			any = any || row.Verdict != Unknown
			worse = worse || row.Verdict == Worse || row.Verdict == Unknown
			better = better || row.Verdict == Better
		}
		c.Rows = append(c.Rows, row)
	}
	switch {
	case !any:
	case worse:
		c.Verdict = Worse
	case better:
		c.Verdict = Better
	default:
		c.Verdict = Within
	}
	return c
}

// overlap tells whether the confidence intervals of the two rates touch.
func overlap(a, b Summary) bool {
	p, q := a.Window.Precision, b.Window.Precision
	if p == nil || q == nil || !p.HalfWidth.Known() || !q.HalfWidth.Known() {
		return false
	}
	return math.Abs(float64(p.Mean-q.Mean)) <= float64(p.HalfWidth*p.Mean+q.HalfWidth*q.Mean)
}

// differences warns of what makes two results hard to compare.
func differences(a, b Summary) []Warning {
	list := []Warning{}
	add := func(on bool, format string, args ...any) {
		if on {
			list = append(list, Warning{"not-alike", fmt.Sprintf(format, args...)})
		}
	}
	add(a.View != b.View, "the views differ: %s and %s", a.View, b.View)
	add(a.Window.Method != b.Window.Method, "the windows were chosen differently: %s and %s", a.Window.Method, b.Window.Method)
	add(a.Load.MaxConcurrency != b.Load.MaxConcurrency, "the caps differ: %d and %d", a.Load.MaxConcurrency, b.Load.MaxConcurrency)
	add(a.Load.Binds != b.Load.Binds, "the load was limited differently: %s and %s", a.Load.Binds, b.Load.Binds)
	add(a.Partial || b.Partial, "one result is partial")
	la, lb := lengthOf(a), lengthOf(b)
	add(math.Abs(float64(la/lb)-1) > 0.02, "output lengths differ: %s and %s tokens a request", la.Fixed(1), lb.Fixed(1))
	return list
}

// lengthOf is the mean output length that the served rate implies.
func lengthOf(s Summary) Value {
	return ratio(float64(s.OutputThroughput), float64(s.Load.Little.Rate))
}
