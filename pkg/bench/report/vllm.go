package report

import (
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mifbench/mifbench/pkg/bench/metrics"
)

// blockWidth is the width of the block's rulers.
const blockWidth = 50

// VLLM writes the block that `vllm bench serve` prints. In the moreh view it is the
// published benchmark's (byte for byte: other title line, other rows, no trailing
// blanks), else upstream's. A flagged or partial result has a row more before the
// last ruler.
func VLLM(w io.Writer, d Data) error {
	o := &out{w: w}
	for _, r := range d.Results {
		s, ok := r.published(d.View)
		if !ok {
			o.printf("%s: no result\n", r.Name)
			continue
		}
		b := block{out: o, pad: s.View != metrics.ViewMoreh}
		if s.View == metrics.ViewMoreh {
			b.moreh(r, s)
		} else {
			b.upstream(r, s)
		}
		b.sections(r.Params, s)
		if v := r.Verdict(); v != "" && v != ProofOK {
			b.row("Client verdict:", v)
		}
		if r.Partial || s.Partial {
			b.row("Run ended early:", "PARTIAL")
		}
		o.line(strings.Repeat("=", blockWidth))
	}
	return o.err
}

// block prints rows: label in 40 columns, a blank, the value; upstream pads the value to 10.
type block struct {
	*out
	pad bool
}

func (b block) row(label, value string) {
	if b.pad {
		b.printf("%-40s %-10s\n", label, value)
		return
	}
	b.printf("%-40s %s\n", label, value)
}

func (b block) integer(label string, v int64) { b.row(label, strconv.FormatInt(v, 10)) }

func (b block) fixed(label string, v metrics.Value) { b.row(label, v.Fixed(2)) }

// center pads as Python's str.center does for an even width.
func center(s string, fill byte) string {
	pad := max(blockWidth-len(s), 0)
	return strings.Repeat(string(fill), pad/2) + s + strings.Repeat(string(fill), pad-pad/2)
}

func (b block) moreh(r Result, s metrics.Summary) {
	p := r.Params
	b.line(center("Serving Benchmark Result", '='))
	if p.Workers > 0 {
		b.integer("Number of worker processes:", int64(p.Workers))
	}
	b.integer("Successful requests:", s.Requests.Successful)
	b.limits(p)
	b.row("Warm-up Time:", pythonFloat(p.Warmup.Seconds()))
	b.row("Cool-down Time:", pythonFloat(p.Cooldown.Seconds()))
	b.fixed("Benchmark duration (s):", metrics.Value(s.Duration))
	b.integer("Total input tokens:", s.InputTokens)
	b.integer("Total generated tokens:", s.OutputTokens)
	b.fixed("Output token throughput (tok/s):", s.OutputThroughput)
	b.fixed("Total Token throughput (tok/s):", s.TotalThroughput)
}

func (b block) limits(p Params) {
	if p.MaxConcurrency > 0 {
		b.integer("Maximum request concurrency:", int64(p.MaxConcurrency))
	}
	if p.RequestRate > 0 && !math.IsInf(p.RequestRate, 1) {
		b.fixed("Request rate configured (RPS):", metrics.Value(p.RequestRate))
	}
}

func (b block) upstream(r Result, s metrics.Summary) {
	b.line(center(" Serving Benchmark Result ", '='))
	b.integer("Successful requests:", s.Requests.Successful)
	b.integer("Failed requests:", failed(s))
	b.limits(r.Params)
	b.fixed("Benchmark duration (s):", metrics.Value(s.Duration))
	b.integer("Total input tokens:", s.InputTokens)
	b.integer("Total generated tokens:", s.OutputTokens)
	b.fixed("Request throughput (req/s):", s.RequestThroughput)
	if r.Params.Goodput && s.SLO != nil {
		b.fixed("Request goodput (req/s):", s.SLO.Goodput)
	}
	b.fixed("Output token throughput (tok/s):", s.OutputThroughput)
	b.fixed("Peak output token throughput (tok/s):", s.PeakOutput)
	b.fixed("Peak concurrent requests:", s.PeakInFlight)
	b.fixed("Total token throughput (tok/s):", s.TotalThroughput)
}

// failed is what upstream calls failed: everything scheduled that did not succeed.
func failed(s metrics.Summary) int64 {
	return s.Requests.Failed + s.Requests.Cancelled + s.Requests.Dropped
}

// section is a metric's part of the block: upstream's order, titles and labels.
type section struct {
	name         metrics.MetricName
	title, label string
}

func sections() []section {
	return []section{
		{metrics.TTFT, "Time to First Token", "TTFT"},
		{metrics.TPOT, "Time per Output Token (excl. 1st token)", "TPOT"},
		{metrics.ITL, "Inter-token Latency", "ITL"},
		{metrics.E2EL, "End-to-end Latency", "E2EL"},
		{metrics.QueueTime, "Client-side Queueing", "Client Queue Time"},
		{metrics.E2ELWithQueue, "Queue-inclusive End-to-end Latency", "E2EL incl. Client Queue"},
	}
}

// selected tells whether the section is asked for and exists: upstream has client queue time
// only with a cap, and the queue-inclusive latency only with a cap and a finite rate.
func (p Params) selected(n metrics.MetricName) bool {
	finite := p.RequestRate > 0 && !math.IsInf(p.RequestRate, 1)
	if n == metrics.QueueTime && p.MaxConcurrency == 0 || n == metrics.E2ELWithQueue && (p.MaxConcurrency == 0 || !finite) {
		return false
	}
	if len(p.PercentileMetrics) == 0 {
		return n == metrics.TTFT || n == metrics.TPOT || n == metrics.ITL
	}
	return slices.ContainsFunc(p.PercentileMetrics, func(s string) bool { return strings.TrimSpace(s) == string(n) })
}

func (p Params) percentiles() []float64 {
	if len(p.MetricPercentiles) == 0 {
		return []float64{99}
	}
	return p.MetricPercentiles
}

func (b block) sections(p Params, s metrics.Summary) {
	for _, sec := range sections() {
		if !p.selected(sec.name) {
			continue
		}
		m, _ := s.Metric(sec.name)
		b.line(center(sec.title, '-'))
		b.fixed("Mean "+sec.label+" (ms):", m.Mean)
		b.fixed("Median "+sec.label+" (ms):", m.Median)
		for _, q := range p.percentiles() {
			b.fixed("P"+percentileName(q)+" "+sec.label+" (ms):", m.At(q))
		}
	}
}

// percentileName is an integer when whole, else the shortest float, as upstream's.
func percentileName(p float64) string { return strconv.FormatFloat(p, 'f', -1, 64) }

// pythonFloat is str(float) for the usual range: 120.0, 0.5.
func pythonFloat(f float64) string {
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}
