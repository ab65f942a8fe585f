package report

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mifbench/mifbench/pkg/bench/metrics"
)

// published are the seven published logs, typed as data.
func published(t *testing.T) []map[string]any {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "published", "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]any
	if err := json.Unmarshal(b, &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) != 7 {
		t.Fatalf("%d published rows, want 7", len(rows))
	}
	return rows
}

// resultOf makes a result of a published row; the name tells data set and lengths.
func resultOf(t *testing.T, row map[string]any) Result {
	t.Helper()
	num := func(k string) float64 {
		f, ok := row[k].(float64)
		if !ok {
			t.Fatalf("%v has no %q", row["name"], k)
		}
		return f
	}
	name := row["name"].(string)
	parts := strings.Split(name, "-")
	isl, _ := strconv.Atoi(parts[1])
	osl := isl
	if len(parts) > 2 {
		osl, _ = strconv.Atoi(parts[2])
	}
	p := Params{
		ISL: isl, OSL: osl, Dataset: map[string]string{"sharegpt": "ShareGPT", "gutenberg": "Gutenberg"}[parts[0]],
		MaxConcurrency: int(num("Maximum request concurrency")), RequestRate: num("Request rate configured (RPS)"), Workers: int(num("Number of worker processes")),
		Warmup: time.Duration(num("Warm-up Time") * 1e9), Cooldown: time.Duration(num("Cool-down Time") * 1e9),
		PercentileMetrics: []string{"itl", "tps", "ttft"},
	}
	s := metrics.Summary{
		View: metrics.ViewMoreh, Duration: num("Benchmark duration (s)"), InputTokens: int64(num("Total input tokens")), OutputTokens: int64(num("Total generated tokens")),
		OutputThroughput: metrics.Value(num("Output token throughput (tok/s)")), TotalThroughput: metrics.Value(num("Total Token throughput (tok/s)")),
	}
	s.Requests.Successful = int64(num("Successful requests"))
	s.Scale = &metrics.Scale{OutputPerDecodeNode: s.OutputThroughput / 3}
	for _, m := range []metrics.MetricName{metrics.TTFT, metrics.ITL} {
		label := strings.ToUpper(string(m))
		st := metrics.Stats{Mean: metrics.Value(num("Mean " + label + " (ms)")), Median: metrics.Value(num("Median " + label + " (ms)"))}
		for _, q := range []float64{1, 10, 25, 50, 75, 90} {
			if v, ok := row["P"+percentileName(q)+" "+label+" (ms)"].(float64); ok {
				st.Percentiles = append(st.Percentiles, metrics.Percentile{P: q, Value: metrics.Value(v)})
			}
		}
		s.Metrics = append(s.Metrics, metrics.Metric{Name: m, Unit: "ms", Stats: st})
	}
	for _, q := range s.Metrics[0].Percentiles {
		p.MetricPercentiles = append(p.MetricPercentiles, q.P)
	}
	return Result{Name: name, Params: p, Views: map[metrics.View]metrics.Summary{metrics.ViewMoreh: s}}
}

func TestPublishedBlocksAreByteIdentical(t *testing.T) {
	for _, row := range published(t) {
		r := resultOf(t, row)
		t.Run(r.Name, func(t *testing.T) {
			want, err := os.ReadFile(filepath.Join("testdata", "published", r.Name+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if err := VLLM(&got, Data{Results: []Result{r}}); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got.String()); d != "" {
				t.Fatalf("(-published +ours)\n%s", d)
			}
			checkLabels(t, row, got.String())
		})
	}
}

// checkLabels makes sure that every typed figure is on the block, so that the block cannot
// lose a row that the golden file lost, too.
func checkLabels(t *testing.T, row map[string]any, block string) {
	t.Helper()
	for k := range row {
		if k != "name" && !strings.Contains(block, k+":") {
			t.Errorf("the block has no row %q", k)
		}
	}
	for _, line := range strings.Split(block, "\n") {
		label, _, ok := strings.Cut(line, ":")
		if _, known := row[label]; ok && !known {
			t.Errorf("row %q is not published", label)
		}
	}
}

func TestPublishedTable(t *testing.T) {
	// The document's own rows; per-decode-node figures are rounded the same way.
	want := []string{
		"| 512 | 512 | ShareGPT | (10800, 140) | 66,194.80 | 22,064.93 | 85,347.35 | 1,677.87 | 160.33 |",
		"| 512 | 512 | Gutenberg | (10800, 140) | 64,695.10 | 21,565.03 | 79,432.24 | 1,774.90 | 164.32 |",
		"| 1000 | 1000 | ShareGPT | (10800, 80) | 61,828.90 | 20,609.63 | 94,103.87 | 1,802.87 | 172.16 |",
		"| 1000 | 1000 | Gutenberg | (10800, 80) | 61,418.55 | 20,472.85 | 92,353.63 | 2,149.80 | 173.63 |",
		"| 2000 | 2000 | ShareGPT | (10800, 48) | 51,187.87 | 17,062.62 | 77,775.33 | 2,567.87 | 208.59 |",
		"| 2000 | 2000 | Gutenberg | (10800, 60) | 50,892.65 | 16,964.22 | 76,739.86 | 5,586.34 | 208.76 |",
		"| 2000 | 100 | Gutenberg | (10800, 1500) | 53,776.62 | 17,925.54 | 1,063,226.66 | 1,079.36 | 191.71 |",
	}
	var d Data
	for _, row := range published(t) {
		d.Results = append(d.Results, resultOf(t, row))
	}
	var got bytes.Buffer
	if err := Markdown(&got, d); err != nil {
		t.Fatal(err)
	}
	head := "| Input sequence length | Output sequence length | Dataset | (Concurrency, RPS) | Output tokens/sec | Output tokens/sec per decode node | Total tokens/sec | Mean TTFT (ms) | Mean ITL (ms) |"
	for _, line := range append(want, head) {
		if !strings.Contains(got.String(), "\n"+line) && !strings.HasPrefix(got.String(), line) {
			t.Errorf("the table lacks\n%s\nin\n%s", line, got.String())
		}
	}
}

// The arithmetic on the published logs: what their numbers imply.
func TestPublishedRowsObeyLittlesLaw(t *testing.T) {
	for _, row := range published(t)[:6] { // the appendix run is bound by prefill
		r := resultOf(t, row)
		s := r.Views[metrics.ViewMoreh]
		l := metrics.LittlesLaw(float64(s.OutputThroughput), float64(r.Params.OSL), float64(s.Metrics[0].Mean), float64(s.Metrics[1].Mean))
		if off := math.Abs(float64(l.Implied)/10800 - 1); off > 0.006 {
			t.Errorf("%s: %v in flight, %.2f %% from the cap", r.Name, l.Implied, 100*off)
		}
		binds := metrics.Binding(r.Params.MaxConcurrency, r.Params.RequestRate, float64(l.Implied), float64(l.Rate))
		if binds != metrics.LimitConcurrency {
			t.Errorf("%s: %s binds, want the cap", r.Name, binds)
		}
		fill := metrics.FillSeconds(r.Params.MaxConcurrency, r.Params.RequestRate)
		if w := r.Params.Warmup.Seconds(); float64(fill) > w || w > 1.9*float64(fill) {
			t.Errorf("%s: the cap fills in %v s, the warm-up is %v s", r.Name, fill, w)
		}
	}
}

func TestPublishedRowsMixTheirBasis(t *testing.T) {
	for _, row := range published(t) {
		r := resultOf(t, row)
		s := r.Views[metrics.ViewMoreh]
		if s.InputTokens != s.Requests.Successful*int64(r.Params.ISL) {
			t.Errorf("%s: input tokens are not those of the successful requests", r.Name)
		}
		if float64(s.OutputTokens) <= float64(s.Requests.Successful)*float64(r.Params.OSL) {
			t.Errorf("%s: generated tokens are not more than those of the successful requests", r.Name)
		}
		for what, c := range map[string][2]float64{
			"output": {float64(s.OutputThroughput), float64(s.OutputTokens)},
			"total":  {float64(s.TotalThroughput), float64(s.OutputTokens + s.InputTokens)},
		} {
			if off := math.Abs(c[0]*s.Duration/c[1] - 1); off > 1e-4 { // the duration has two decimals
				t.Errorf("%s: %s throughput is not tokens / duration (%.5f)", r.Name, what, off)
			}
		}
	}
}

// Wholly inside are about rate × (window - latency), within 9 % (rates and latencies differ
// over a run): at 83.6 s latency in a 115.8 s window
// few requests are, and they decide the printed TTFT.
func TestPublishedInsideCounts(t *testing.T) {
	for _, row := range published(t)[:6] {
		r := resultOf(t, row)
		s := r.Views[metrics.ViewMoreh]
		l := metrics.LittlesLaw(float64(s.OutputThroughput), float64(r.Params.OSL), float64(s.Metrics[0].Mean), float64(s.Metrics[1].Mean))
		want := float64(l.Rate) * (s.Duration - float64(l.Latency))
		if off := float64(s.Requests.Successful)/want - 1; math.Abs(off) > 0.09 {
			t.Errorf("%s: %d inside, rate × (window - latency) = %.0f (%.1f %%)", r.Name, s.Requests.Successful, want, 100*off)
		}
	}
}

func TestFlagIsInTheBlock(t *testing.T) {
	r := resultOf(t, published(t)[0])
	r.Proof = &Proof{Verdict: "CLIENT-LIMITED", Reasons: []string{"the process used 97 % of its cores"}}
	var got bytes.Buffer
	if err := VLLM(&got, Data{Results: []Result{r}}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(got.String(), "Client verdict:                          CLIENT-LIMITED\n=====") {
		t.Errorf("no flag in\n%s", got.String())
	}
}
