package report

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"

	"github.com/mifbench/mifbench/pkg/bench/metrics"
)

// The size of one plot in SVG units; the page scales it to its width.
const (
	plotWidth  = 960.0
	plotHeight = 170.0
	plotLeft   = 70.0
	plotRight  = 10.0
	plotTop    = 8.0
	plotBottom = 24.0
)

// line is one curve of a plot; x in s.
type line struct {
	name   string
	class  string
	xs, ys []float64 // y NaN breaks the curve
}

// plot draws lines over the time axis [from, to] with the window shaded.
type plot struct {
	title, unit string
	from, to    float64
	window      metrics.Window
	lines       []line
}

func (p plot) x(t float64) float64 {
	return plotLeft + (t-p.from)/(p.to-p.from)*(plotWidth-plotLeft-plotRight)
}

func y(v, top float64) float64 {
	return plotTop + (1-v/top)*(plotHeight-plotTop-plotBottom)
}

// svg is the drawing; everything in it comes from numbers and from fixed or escaped text.
func (p plot) svg() template.HTML {
	var b strings.Builder
	top := p.top()
	fmt.Fprintf(&b, `<svg viewBox="0 0 %g %g" role="img" aria-label="%s">`, plotWidth, plotHeight, template.HTMLEscapeString(p.title))
	from, to := p.x(max(p.from, float64(p.window.From)/1e9)), p.x(min(p.to, float64(p.window.To)/1e9))
	if to > from {
		fmt.Fprintf(&b, `<rect class="window" x="%.1f" y="%g" width="%.1f" height="%g"/>`, from, plotTop, to-from, plotHeight-plotTop-plotBottom)
	}
	for _, v := range ticks(0, top, 4) {
		fmt.Fprintf(&b, `<line class="grid" x1="%g" x2="%g" y1="%.1f" y2="%.1f"/><text class="tick end" x="%g" y="%.1f">%s</text>`,
			plotLeft, plotWidth-plotRight, y(v, top), y(v, top), plotLeft-6, y(v, top)+4, short(v))
	}
	for _, t := range ticks(p.from, p.to, 10) {
		fmt.Fprintf(&b, `<text class="tick mid" x="%.1f" y="%g">%s s</text>`, p.x(t), plotHeight-6, short(t))
	}
	for _, l := range p.lines {
		fmt.Fprintf(&b, `<path class="%s" d="%s"><title>%s</title></path>`, l.class, p.path(l, top), template.HTMLEscapeString(l.name))
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String())
}

// top is the upper end of the axis: a bit over the largest value, but a single spike does not
// flatten the rest: it is cut at four times the 98th percentile.
func (p plot) top() float64 {
	var all []float64
	for _, l := range p.lines {
		for _, v := range l.ys {
			if !math.IsNaN(v) {
				all = append(all, v)
			}
		}
	}
	if len(all) == 0 {
		return 1
	}
	largest, high := quantile(all, 1), quantile(all, 0.98)
	if high > 0 && largest > 4*high {
		largest = 4 * high
	}
	if largest <= 0 {
		return 1
	}
	return largest * 1.08
}

// path draws a curve. A value between two gaps is a line of no length, which round caps make
// a dot.
func (p plot) path(l line, top float64) string {
	var b strings.Builder
	drawn := func(i int) bool {
		return i >= 0 && i < len(l.ys) && !math.IsNaN(l.ys[i]) && l.xs[i] >= p.from && l.xs[i] <= p.to
	}
	for i, v := range l.ys {
		if !drawn(i) {
			continue
		}
		pen := "L"
		if !drawn(i - 1) {
			pen = "M"
		}
		fmt.Fprintf(&b, "%s%.1f %.1f", pen, p.x(l.xs[i]), y(min(v, top), top))
		if pen == "M" && !drawn(i+1) {
			b.WriteString("h0")
		}
	}
	return b.String()
}

// ticks are round values in [from, to], about n of them.
func ticks(from, to float64, n int) []float64 {
	if !(to > from) {
		return nil
	}
	raw := (to - from) / float64(n)
	step := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5, 10} {
		if m*step >= raw*(1-1e-9) {
			step *= m
			break
		}
	}
	var out []float64
	for v := math.Ceil(from/step) * step; v <= to+step*1e-9; v += step {
		out = append(out, v)
	}
	return out
}

// short writes a tick: 66k, 1.5k, 0.2.
func short(v float64) string {
	if math.Abs(v) >= 10000 {
		return strconv.FormatFloat(v/1000, 'g', 4, 64) + "k"
	}
	return strconv.FormatFloat(v, 'g', 5, 64)
}
