package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/mifbench/mifbench/pkg/bench/metrics"
)

//go:embed page.html.tmpl
var pageText string

// HTML writes one page that needs nothing else: style, plots (inline SVG) and tables are in
// it, and it loads nothing from anywhere.
func HTML(w io.Writer, d Data) error {
	t, err := template.New("page").Parse(pageText)
	if err != nil {
		panic(err) // our own template
	}
	if err := t.Execute(w, newPage(d)); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

type page struct {
	Title, Stack, Tool, Generated string
	Results                       []pageResult
	Provenance                    []Pair
	Definitions                   []metrics.Definition
}

type pageResult struct {
	ID, Name, Params, Verdict string
	Flags, Notes              []string
	Tiles                     []tile
	Window                    string
	Plots                     []pagePlot
	Views                     [][]string
	Metrics                   [][]string
	Facts                     []Fact
	Failures                  []metrics.FailureCount
	Provenance                []Pair
}

type tile struct{ Label, Value, Unit string }

type pagePlot struct {
	Title, Unit string
	SVG         template.HTML
	Legend      []Pair // class, name
}

func newPage(d Data) page {
	p := page{Title: d.Title, Stack: d.Stack, Tool: d.Tool, Provenance: pairs(d.Provenance), Definitions: metrics.Definitions()}
	if p.Title == "" {
		p.Title = "Benchmark results"
	}
	if !d.Generated.IsZero() {
		p.Generated = d.Generated.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	for i, r := range d.Results {
		p.Results = append(p.Results, newPageResult(i, r))
	}
	return p
}

func pairs(m map[string]string) []Pair {
	var list []Pair
	for _, k := range slices.Sorted(maps.Keys(m)) {
		list = append(list, Pair{k, m[k]})
	}
	return list
}

func newPageResult(i int, r Result) pageResult {
	p := pageResult{
		ID: fmt.Sprintf("r%d", i), Name: r.Name, Params: describe(r.Params), Flags: r.Flags(), Notes: notesOf(r),
		Provenance: pairs(r.Provenance), Verdict: verdictCell(r),
	}
	if r.Proof != nil {
		p.Facts = r.Proof.Facts
	}
	s, ok := r.Main()
	if !ok {
		return p
	}
	p.Tiles, p.Failures = tiles(s), s.Failures
	p.Window = fmt.Sprintf("%.2f s, from %.2f s to %.2f s: %s", s.Duration, float64(s.Window.From)/1e9, float64(s.Window.To)/1e9, s.Window.Why)
	if q := s.Window.Precision; q != nil {
		p.Window += fmt.Sprintf(". Confidence %s: %s", q.Sure, q.Why)
	}
	p.Views, p.Metrics = viewRows(r), metricRows(s)
	if r.Timeline != nil {
		p.Plots = plots(*r.Timeline, s.Window.Window, r.Server)
	}
	return p
}

func tiles(s metrics.Summary) []tile {
	ttft, _ := s.Metric(metrics.TTFT)
	itl, _ := s.Metric(metrics.ITL)
	list := []tile{
		{"Output", thousands(s.OutputThroughput), "tok/s"},
		{"Total", thousands(s.TotalThroughput), "tok/s"},
		{"Mean TTFT", thousands(ttft.Mean), "ms"},
		{"Mean ITL", thousands(itl.Mean), "ms"},
		{"In flight", s.Load.InFlight.Fixed(0), "requests, " + string(s.Load.Binds) + " binds"},
	}
	if s.Scale != nil && s.Scale.OutputPerGPU.Known() {
		list = append(list, tile{"Per GPU", thousands(s.Scale.OutputPerGPU), "output tok/s"})
	}
	if s.Cost != nil {
		list = append(list, tile{"Cost", s.Cost.PerMillionOutput.Fixed(3), "$ per M output tokens"})
	}
	if len(s.References) > 0 {
		list = append(list, tile{"Reference", s.References[0].Percent.Fixed(1), "% (" + string(s.References[0].Verdict) + ")"})
	}
	return list
}

func viewRows(r Result) [][]string {
	var rows [][]string
	for _, v := range metrics.Views() {
		s, ok := r.Views[v]
		if !ok {
			continue
		}
		ttft, _ := s.Metric(metrics.TTFT)
		itl, _ := s.Metric(metrics.ITL)
		rows = append(rows, []string{
			string(v), metrics.Value(s.Duration).Fixed(2), fmt.Sprint(s.Requests.Successful), thousands(s.OutputThroughput),
			thousands(s.InputThroughput), thousands(s.TotalThroughput), thousands(ttft.Mean), thousands(itl.Mean),
		})
	}
	return rows
}

func metricRows(s metrics.Summary) [][]string {
	var rows [][]string
	for _, def := range metrics.Definitions() {
		m, ok := s.Metric(def.Name)
		if !ok {
			continue
		}
		row := []string{def.Label, def.Unit}
		for _, v := range []metrics.Value{m.Mean, m.Std, m.At(1), m.At(10), m.Median, m.At(90), m.At(99), m.Max} {
			row = append(row, v.Fixed(2))
		}
		rows = append(rows, append(row, fmt.Sprint(m.Count)))
	}
	return rows
}

// plots are the curves of a timeline and of the server on one time axis.
func plots(t metrics.Timeline, w metrics.Window, server []Series) []pagePlot {
	n := len(t.TokenRate)
	from, to := t.Start, t.Start+t.Bin*float64(n)
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = t.Start + t.Bin*(float64(i)+0.5)
	}
	curveOf := func(name, class string, ys []metrics.Value) line { return line{name, class, xs, plain(ys)} }
	list := []plot{
		{title: "Output token rate", unit: "tok/s", lines: []line{curveOf("tokens", "c1", t.TokenRate)}},
		{title: "Requests in flight", unit: "requests", lines: []line{curveOf("in flight", "c1", t.InFlight)}},
		{title: "Time to first token", unit: "ms", lines: []line{curveOf("p50", "c1", t.TTFT50), curveOf("p90", "c2", t.TTFT90)}},
		{title: "Inter-token latency", unit: "ms", lines: []line{curveOf("p50", "c1", t.ITL50), curveOf("p99", "c2", t.ITL99)}},
		{title: "Sends", unit: "requests/s", lines: []line{curveOf("sends", "c1", t.SendRate)}},
	}
	list = append(list, serverPlots(server)...)
	var out []pagePlot
	for _, p := range list {
		p.from, p.to, p.window = from, to, w
		pp := pagePlot{Title: p.title, Unit: p.unit, SVG: p.svg()}
		for _, l := range p.lines {
			pp.Legend = append(pp.Legend, Pair{l.class, l.name})
		}
		out = append(out, pp)
	}
	return out
}

// serverPlots groups the series by panel, in order of appearance.
func serverPlots(server []Series) []plot {
	var list []plot
	for _, s := range server {
		i := slices.IndexFunc(list, func(p plot) bool { return p.title == s.Panel })
		if i < 0 {
			list = append(list, plot{title: s.Panel, unit: s.Unit})
			i = len(list) - 1
		}
		class := fmt.Sprintf("c%d", len(list[i].lines)%6+1)
		n := min(len(s.Times), len(s.Value))
		list[i].lines = append(list[i].lines, line{s.Name, class, s.Times[:n], plain(s.Value[:n])})
	}
	return list
}

func plain(vs []metrics.Value) []float64 {
	out := make([]float64, len(vs))
	for i, v := range vs {
		out[i] = float64(v)
		if !v.Known() {
			out[i] = math.NaN()
		}
	}
	return out
}

// quantile is the q-quantile of v by the nearest rank.
func quantile(v []float64, q float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return s[min(int(q*float64(len(s))), len(s)-1)]
}
