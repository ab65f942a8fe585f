package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/mifbench/mifbench/pkg/bench/metrics"
)

// Text writes a summary for the terminal: flags first, our view, then the other views beside
// it, every figure with its unit.
func Text(w io.Writer, d Data) error {
	o := &out{w: w}
	if d.Title != "" {
		o.printf("%s\n\n", d.Title)
	}
	for i, r := range d.Results {
		if i > 0 {
			o.line("")
		}
		textResult(o, r)
	}
	return o.err
}

func textResult(o *out, r Result) {
	head := r.Name
	if f := r.Flags(); len(f) > 0 {
		head += "   [" + strings.Join(f, "] [") + "]"
	}
	o.line(head)
	o.printf("  %s\n", describe(r.Params))
	s, ok := r.Main()
	if !ok {
		o.line("  no result")
		return
	}
	textWindow(o, s)
	textRates(o, s)
	textMetrics(o, s)
	textLoad(o, s)
	textVerdicts(o, r, s)
	textViews(o, r)
	for _, n := range notesOf(r) {
		o.printf("  ! %s\n", n)
	}
}

func describe(p Params) string {
	approx := ""
	if p.ApproximateLengths {
		approx = "about "
	}
	return fmt.Sprintf("%s, %s%s tokens in, %s out, (concurrency, RPS) = %s", p.Dataset, approx, length(p.ISL), length(p.OSL), limitsOf(p))
}

// length is a length of prompts or answers; 0 is the data set's own for each.
func length(n int) string {
	if n == 0 {
		return "various"
	}
	return strconv.Itoa(n)
}

func textWindow(o *out, s metrics.Summary) {
	w := s.Window
	o.printf("  window      %.2f s, from %.2f to %.2f s (%s)\n", s.Duration, float64(w.From)/1e9, float64(w.To)/1e9, w.Why)
	if p := w.Precision; p != nil {
		o.printf("  confidence  %s: %s\n", p.Sure, p.Why)
	}
}

func textRates(o *out, s metrics.Summary) {
	unit := func(label string, v metrics.Value, unit string) {
		o.printf("  %-11s %14s %s\n", label, thousands(v), unit)
	}
	unit("output", s.OutputThroughput, "tok/s")
	unit("input", s.InputThroughput, "tok/s")
	unit("total", s.TotalThroughput, "tok/s")
	unit("requests", s.RequestThroughput, "req/s")
	unit("peak", s.PeakOutput, "tok/s in one second")
	if sc := s.Scale; sc != nil {
		for _, c := range []struct {
			label string
			v     metrics.Value
		}{{"per GPU", sc.OutputPerGPU}, {"per node", sc.OutputPerNode}, {"per decode", sc.OutputPerDecodeNode}} {
			if c.v.Known() {
				unit(c.label, c.v, "output tok/s")
			}
		}
	}
	if c := s.Cost; c != nil {
		o.printf("  %-11s %14s $ per M output tokens, %s $ per M tokens (%d GPUs at %v $/h)\n", "cost",
			c.PerMillionOutput.Fixed(3), c.PerMillionTotal.Fixed(3), c.GPUs, c.GPUHour)
	}
}

func textMetrics(o *out, s metrics.Summary) {
	o.printf("  %-36s %10s %10s %10s %10s %10s %9s\n", "", "mean", "p50", "p90", "p99", "max", "samples")
	for _, def := range metrics.Definitions() {
		m, ok := s.Metric(def.Name)
		if !ok || def.Name == metrics.TokenLatency && sameAsITL(s) {
			continue
		}
		label := fmt.Sprintf("%s (%s)", shortLabel(def), def.Unit)
		o.printf("  %-36s %10s %10s %10s %10s %10s %9d\n", label, m.Mean.Fixed(2), m.Median.Fixed(2), m.At(90).Fixed(2), m.At(99).Fixed(2), m.Max.Fixed(2), m.Count)
	}
}

// sameAsITL tells that every chunk held one token, so that the two metrics are one.
func sameAsITL(s metrics.Summary) bool {
	a, _ := s.Metric(metrics.ITL)
	b, _ := s.Metric(metrics.TokenLatency)
	return a.Count == b.Count && a.Mean == b.Mean
}

func shortLabel(d metrics.Definition) string {
	switch d.Name {
	case metrics.TTFT, metrics.TPOT, metrics.ITL, metrics.E2EL:
		return strings.ToUpper(string(d.Name))
	case metrics.E2ELWithQueue:
		return "E2EL from intended send"
	default:
		return d.Label
	}
}

func textLoad(o *out, s metrics.Summary) {
	l, r := s.Load, s.Requests
	o.printf("  in flight   %s mean, %s peak; Little's law gives %s (%s %%); %s binds\n", l.InFlight.Fixed(1), s.PeakInFlight.Fixed(0),
		l.Little.Implied.Fixed(1), signed(100*l.Little.Error), l.Binds)
	o.printf("  rate        asked %s, sent %s requests/s\n", l.RequestRate.Fixed(2), l.SendRate.Fixed(2))
	o.printf("  requests    %d started, %d finished, %d inside, %d touching the window; run: %d sent, %d failed, %d cancelled, %d dropped\n",
		r.Started, r.Finished, r.Inside, r.Touching, r.Sent, r.Failed, r.Cancelled, r.Dropped)
	for _, f := range s.Failures {
		o.printf("              %d × %s%s  %s\n", f.Count, f.Status, httpCode(f.HTTPStatus), f.Example)
	}
}

func httpCode(code int) string {
	if code == 0 {
		return ""
	}
	return fmt.Sprintf(" (HTTP %d)", code)
}

func signed(v metrics.Value) string {
	if !v.Known() {
		return "n/a"
	}
	return fmt.Sprintf("%+.1f", float64(v))
}

func textVerdicts(o *out, r Result, s metrics.Summary) {
	if s.SLO != nil {
		for _, c := range s.SLO.Checks {
			o.printf("  SLO         %s %s ms, limit %s ms: %s (%s)\n", c.Metric, c.Value.Fixed(1), metrics.Value(c.Limit).Fixed(1), metOrMissed(c.Met), s.SLO.Rule)
		}
		o.printf("  goodput     %s req/s, %d of %d requests\n", s.SLO.Goodput.Fixed(2), s.SLO.Good, s.SLO.Judged)
	}
	for _, ref := range s.References {
		o.printf("  reference   %s %s, %s %% of %s (%s), %s, tolerance %s %%\n", ref.What, thousands(ref.Got), ref.Percent.Fixed(1),
			thousands(metrics.Value(ref.Want)), ref.Source, ref.Verdict, metrics.Value(100*ref.Tolerant).Fixed(1))
	}
	if r.Proof != nil {
		o.printf("  client      %s\n", r.Proof.Verdict)
		for _, f := range r.Proof.Facts {
			o.printf("              %-24s %s%s\n", f.Name, f.Value, boundText(f))
		}
	}
}

func metOrMissed(met bool) string {
	if met {
		return "met"
	}
	return "MISSED"
}

func boundText(f Fact) string {
	switch {
	case f.Bound == "":
		return ""
	case f.OK:
		return " (bound " + f.Bound + ")"
	}
	return " OVER the bound " + f.Bound
}

// textViews sets the views beside each other when there is more than one.
func textViews(o *out, r Result) {
	if len(r.Views) < 2 {
		return
	}
	o.printf("  %-11s %10s %12s %12s %12s %12s %10s %10s\n", "view", "seconds", "requests", "output tok/s", "input tok/s", "total tok/s", "TTFT ms", "ITL ms")
	for _, v := range metrics.Views() {
		s, ok := r.Views[v]
		if !ok {
			continue
		}
		ttft, _ := s.Metric(metrics.TTFT)
		itl, _ := s.Metric(metrics.ITL)
		o.printf("  %-11s %10.2f %12d %12s %12s %12s %10s %10s\n", v, s.Duration, s.Requests.Successful, s.OutputThroughput.Fixed(2),
			s.InputThroughput.Fixed(2), s.TotalThroughput.Fixed(2), ttft.Mean.Fixed(2), itl.Mean.Fixed(2))
	}
}
