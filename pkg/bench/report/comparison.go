package report

import (
	"io"

	"github.com/mifbench/mifbench/pkg/bench/metrics"
)

// Comparison writes the comparison of two results, a the base, for the terminal: one row a
// figure, headline rows marked, the verdict last.
func Comparison(w io.Writer, a, b string, c metrics.Comparison) error {
	o := &out{w: w}
	o.printf("a = %s\nb = %s\nview %s, tolerance %s %%\n\n", a, b, c.View, metrics.Value(100*c.Tolerance).Fixed(1))
	o.printf("  %-30s %-11s %16s %16s %9s  %s\n", "", "", "a", "b", "change", "verdict")
	for _, r := range c.Rows {
		mark, note := " ", ""
		if r.Headline {
			mark = "*"
		}
		if r.Noise {
			note = " (within the confidence intervals)"
		}
		change := signed(100 * r.Change)
		if r.Change.Known() {
			change += " %"
		}
		o.printf("%s %-30s %-11s %16s %16s %9s  %s%s\n", mark, r.What, r.Unit, figure(r, r.A), figure(r, r.B), change, r.Verdict, note)
	}
	for _, warn := range c.Warnings {
		o.printf("! %s\n", warn.Text)
	}
	o.printf("\nb is %s (rows with * decide)\n", c.Verdict)
	return o.err
}

// figure shows shares and dollars with more decimals than rates.
func figure(r metrics.Compared, v metrics.Value) string {
	if r.Unit == "share" || r.Unit == "$/M output" {
		return v.Fixed(4)
	}
	return thousands(v)
}
