package report

import (
	"io"
	"strconv"
	"strings"

	"github.com/mifbench/mifbench/pkg/bench/metrics"
)

// Markdown writes the published table (its nine columns, in its view) with our verdicts
// beside it, then the table of the mifbench view, then what must be known to read them.
func Markdown(w io.Writer, d Data) error {
	o := &out{w: w}
	if d.Title != "" {
		o.printf("# %s\n\n", d.Title)
	}
	publishedTable(o, d)
	o.line("")
	ourTable(o, d)
	notes(o, d)
	return o.err
}

// Table writes the published table alone.
func Table(w io.Writer, d Data) error {
	o := &out{w: w}
	publishedTable(o, d)
	return o.err
}

func row(o *out, cells ...string) {
	for i, c := range cells {
		cells[i] = strings.NewReplacer("|", "\\|", "\n", " ").Replace(c)
	}
	o.printf("| %s |\n", strings.Join(cells, " | "))
}

func rule(o *out, n int) { o.printf("|%s\n", strings.Repeat("---|", n)) }

// publishedTable has the published columns; RPS is the rate asked for, and the per-node
// figure counts decode nodes only, as published.
func publishedTable(o *out, d Data) {
	row(o, "Input sequence length", "Output sequence length", "Dataset", "(Concurrency, RPS)", "Output tokens/sec",
		"Output tokens/sec per decode node", "Total tokens/sec", "Mean TTFT (ms)", "Mean ITL (ms)", "Reference", "Verdict", "Flags")
	rule(o, 12)
	for _, r := range d.Results {
		s, _ := r.published(d.View)
		ttft, _ := s.Metric(metrics.TTFT)
		itl, _ := s.Metric(metrics.ITL)
		p := r.Params
		row(o, length(p.ISL), length(p.OSL), p.Dataset, limitsOf(p), thousands(s.OutputThroughput), thousands(perDecodeNode(s)),
			thousands(s.TotalThroughput), thousands(ttft.Mean), thousands(itl.Mean), referenceCell(s), verdictCell(r), strings.Join(r.Flags(), ", "))
	}
}

func limitsOf(p Params) string {
	c, rps := "∞", "∞"
	if p.MaxConcurrency > 0 {
		c = strconv.Itoa(p.MaxConcurrency)
	}
	if p.RequestRate > 0 {
		rps = strconv.FormatFloat(p.RequestRate, 'g', 5, 64)
	}
	return "(" + c + ", " + rps + ")"
}

func perDecodeNode(s metrics.Summary) metrics.Value {
	if s.Scale == nil {
		return metrics.NA()
	}
	return s.Scale.OutputPerDecodeNode
}

// referenceCell is the share of the reference, for example "99.5 %".
func referenceCell(s metrics.Summary) string {
	if len(s.References) == 0 {
		return ""
	}
	return s.References[0].Percent.Fixed(1) + " %"
}

func verdictCell(r Result) string {
	s, ok := r.Main()
	switch {
	case !ok:
		return "n/a"
	case len(r.Missed()) > 0:
		return "MISSED"
	case s.SLO == nil && len(s.References) == 0:
		return ""
	}
	return "ok"
}

func ourTable(o *out, d Data) {
	o.line("One basis for every figure (view mifbench):\n")
	row(o, "Scenario", "Window (s)", "Output tok/s", "± 95 %", "Input tok/s", "Requests/s", "TTFT mean / p99 (ms)", "ITL mean / p99 (ms)",
		"TPOT mean (ms)", "E2EL mean (s)", "In flight", "Binds", "tok/s/GPU", "$/M output", "Failed")
	rule(o, 15)
	for _, r := range d.Results {
		s, ok := r.Views[metrics.ViewMifbench]
		if !ok {
			continue
		}
		ttft, _ := s.Metric(metrics.TTFT)
		itl, _ := s.Metric(metrics.ITL)
		tpot, _ := s.Metric(metrics.TPOT)
		e2el, _ := s.Metric(metrics.E2EL)
		gpu, dollars := metrics.NA(), metrics.NA()
		if s.Scale != nil {
			gpu = s.Scale.OutputPerGPU
		}
		if s.Cost != nil {
			dollars = s.Cost.PerMillionOutput
		}
		row(o, r.Name, thousands(metrics.Value(s.Duration)), thousands(s.OutputThroughput), halfWidth(s), thousands(s.InputThroughput),
			s.RequestThroughput.Fixed(2), pair(ttft), pair(itl), tpot.Mean.Fixed(2), (e2el.Mean / 1000).Fixed(2),
			s.Load.InFlight.Fixed(0), string(s.Load.Binds), gpu.Fixed(1), dollars.Fixed(3), strconv.FormatInt(s.Requests.Failed, 10))
	}
}

func pair(m metrics.Metric) string { return thousands(m.Mean) + " / " + thousands(m.At(99)) }

func halfWidth(s metrics.Summary) string {
	if s.Window.Precision == nil || !s.Window.Precision.HalfWidth.Known() {
		return "n/a"
	}
	return (100 * s.Window.Precision.HalfWidth).Fixed(1) + " %"
}

func notes(o *out, d Data) {
	for _, r := range d.Results {
		for _, n := range notesOf(r) {
			o.printf("\n- **%s**: %s", r.Name, n)
		}
	}
	o.line("")
}

// notesOf is everything that must be read with r's figures.
func notesOf(r Result) []string {
	var list []string
	if r.Proof != nil && r.Proof.Verdict != ProofOK {
		list = append(list, r.Proof.Verdict+": "+strings.Join(r.Proof.Reasons, "; "))
	}
	for _, m := range r.Missed() {
		list = append(list, "MISSED: "+m)
	}
	if r.Params.ApproximateLengths {
		list = append(list, "input lengths are approximate: prompts were not cut with the server's tokenizer")
	}
	list = append(list, r.Notes...)
	s, _ := r.Main()
	for _, w := range s.Warnings {
		list = append(list, w.Text)
	}
	return list
}

// thousands is a figure with two decimals and separators: 66,194.80.
func thousands(v metrics.Value) string {
	s := v.Fixed(2)
	if !v.Known() {
		return s
	}
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	whole, frac, _ := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return sign + whole + "." + frac
}
