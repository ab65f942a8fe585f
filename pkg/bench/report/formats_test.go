package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/mifbench/mifbench/pkg/bench/metrics"
	"github.com/mifbench/mifbench/pkg/bench/record"
)

var update = flag.Bool("update", false, "rewrite golden files")

// sampleRecords is a small run with a ramp, a cap, failures and a drain.
func sampleRecords() []record.Record {
	rng := rand.New(rand.NewPCG(5, 6))
	var out []record.Record
	free := make([]int64, 24)
	for i := range int64(400) {
		intended := i * 50_000_000
		slot := 0
		for k := range free {
			if free[k] < free[slot] {
				slot = k
			}
		}
		at := max(intended, free[slot])
		r := record.Record{
			Index: i, Intended: intended, Sent: at, FirstByte: at + 1, Status: record.OK, HTTPStatus: 200, PromptTokens: 64, UsagePrompt: 64,
			UsageCompletion: 40, CachedTokens: -1, MaxTokens: 40, KernelClock: true, FinishReason: "length",
		}
		t := at + 150_000_000 + rng.Int64N(100_000_000)
		for range 40 {
			r.Events = append(r.Events, record.Event{At: t, Tokens: 1})
			t += 30_000_000 + rng.Int64N(10_000_000)
		}
		r.Done = t
		if i%97 == 5 {
			r.Status, r.HTTPStatus, r.Error, r.Events, r.UsageCompletion, r.Done = record.HTTP, 503, "503: no <capacity>", nil, -1, at+5_000_000
		}
		free[slot] = r.Done
		out = append(out, r)
	}
	return out
}

func sampleData(t *testing.T) Data {
	t.Helper()
	src := metrics.FromRecords(sampleRecords())
	s, err := metrics.NewSurvey(src)
	if err != nil {
		t.Fatal(err)
	}
	o := metrics.Options{
		Window: metrics.WindowSpec{Warmup: 4 * time.Second, Cooldown: 3 * time.Second}, RequestRate: 20, MaxConcurrency: 24,
		SLO: &metrics.SLO{TTFT: 10 * time.Second, ITL: 250 * time.Millisecond}, GPUHour: 2,
		Scale:     metrics.Units{GPUs: 40, Nodes: 5, PrefillNodes: 2, DecodeNodes: 3},
		Reference: &metrics.Reference{OutputTokensPerSecond: 700, Tolerance: 0.03, Source: "published table, row 1"},
	}
	r := Result{
		Name: "sharegpt-64", Views: map[metrics.View]metrics.Summary{}, Records: src,
		Params: Params{
			ISL: 64, OSL: 40, Dataset: "ShareGPT", ApproximateLengths: true, MaxConcurrency: 24, RequestRate: 20, Burstiness: 1, NumPrompts: 400, Workers: 1,
			Warmup: 4 * time.Second, Cooldown: 3 * time.Second, EndpointType: "openai", Backend: "vllm", Model: "deepseek-ai/DeepSeek-R1", Tokenizer: "deepseek-ai/DeepSeek-R1",
			Date: time.Date(2025, 12, 12, 9, 30, 0, 0, time.UTC), MetricPercentiles: []float64{50, 99.9}, PercentileMetrics: []string{"e2el", "itl", "tps", "ttft", "tpot", "client_queue_time"},
			Metadata: []Pair{{"version", "0.1.0"}},
		},
		Proof:      &Proof{Verdict: "UNVERIFIED", Reasons: []string{"client and server count different numbers of output tokens: 1.4 % apart"}, Facts: []Fact{{"send lag p99", "1.2 ms", "20 ms", true}, {"token mismatch", "1.4 %", "1 %", false}}},
		Provenance: map[string]string{"image": "vllm@sha256:abc", "seed": "0"},
	}
	for _, v := range metrics.Views() {
		if r.Views[v], err = s.Summarize(src, v, o); err != nil {
			t.Fatal(err)
		}
	}
	tl, err := s.Timeline(src, 200)
	if err != nil {
		t.Fatal(err)
	}
	r.Timeline = &tl
	var times []float64
	var waiting []metrics.Value
	for i := range 40 {
		times, waiting = append(times, float64(i)), append(waiting, metrics.Value(i%7))
	}
	waiting[20] = metrics.NA()
	r.Server = []Series{{Name: "decode-0", Panel: "Server queue", Unit: "requests waiting", Times: times, Value: waiting}}
	empty := Result{Name: "never-ran", Params: Params{ISL: 512, OSL: 512, Dataset: "Gutenberg"}, Partial: true, Records: metrics.FromRecords(nil)}
	return Data{
		Title: "DeepSeek-R1 <rehearsal>", Stack: "deepseek-r1-mi300x", Tool: "mifbench 0.1.0", Generated: time.Date(2025, 12, 12, 10, 0, 0, 0, time.UTC),
		Provenance: map[string]string{"cluster": "local"}, Results: []Result{r, empty},
	}
}

func TestGoldenFormats(t *testing.T) {
	d := sampleData(t)
	for _, e := range Formats() {
		if e.Name == "parquet" || e.Name == "requests-csv" { // large or binary: tested by reading back
			continue
		}
		t.Run(e.Name, func(t *testing.T) {
			var got bytes.Buffer
			if err := e.Write(&got, d); err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", "golden", e.Name+e.Extension)
			if *update {
				if err := os.WriteFile(golden, got.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got.String()); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestFlagsAndWarningsAreInEveryReadableFormat(t *testing.T) {
	d := sampleData(t)
	for _, name := range []string{"text", "markdown", "html", "json", "csv", "vllm", "vllm-json"} {
		e, err := ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := e.Write(&got, d); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(got.String(), "UNVERIFIED") {
			t.Errorf("%s does not say UNVERIFIED", name)
		}
		if name != "vllm" && name != "vllm-json" && !strings.Contains(strings.ToLower(got.String()), "approximate") {
			t.Errorf("%s does not say that lengths are approximate", name)
		}
	}
}

func TestUpstreamBlockPadsItsValues(t *testing.T) {
	d := sampleData(t)
	d.View = metrics.ViewVLLM
	var got bytes.Buffer
	if err := VLLM(&got, d); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(got.String(), "\n")
	if lines[0] != "============ Serving Benchmark Result ============" {
		t.Errorf("title %q", lines[0])
	}
	if !regexp.MustCompile(`(?m)^Successful requests:                     395       $`).MatchString(got.String()) {
		t.Errorf("no padded row in\n%s", got.String())
	}
	var order []string
	for _, l := range lines {
		if strings.HasPrefix(l, "---") {
			order = append(order, strings.Trim(l, "-"))
		}
	}
	want := []string{"Time to First Token", "Time per Output Token (excl. 1st token)", "Inter-token Latency", "End-to-end Latency", "Client-side Queueing"}
	if d := cmp.Diff(want, order); d != "" {
		t.Error(d)
	}
}

func TestVLLMJSONHasUpstreamsKeysInOrder(t *testing.T) {
	d := sampleData(t)
	d.View = metrics.ViewVLLM
	d.Results = d.Results[:1]
	d.SaveDetailed = true
	var got bytes.Buffer
	if err := VLLMJSON(&got, d); err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(&got)
	var keys []string
	depth := 0
	expectKey := false
	for {
		tok, err := dec.Token()
		if err != nil {
			break
		}
		switch v := tok.(type) {
		case json.Delim:
			if v == '{' || v == '[' {
				depth++
			} else {
				depth--
			}
			expectKey = depth == 1
			continue
		case string:
			if depth == 1 && expectKey {
				keys = append(keys, v)
				expectKey = false
				continue
			}
		}
		expectKey = depth == 1
	}
	want := []string{
		"date", "endpoint_type", "backend", "label", "model_id", "tokenizer_id", "num_prompts", "version", "request_rate", "burstiness", "max_concurrency",
		"duration", "completed", "failed", "total_input_tokens", "total_output_tokens", "request_throughput", "request_goodput", "output_throughput",
		"total_token_throughput", "max_output_tokens_per_s", "max_concurrent_requests", "rtfx",
	}
	for _, m := range []string{"ttft", "tpot", "itl", "e2el", "client_queue_time"} {
		want = append(want, "mean_"+m+"_ms", "median_"+m+"_ms", "std_"+m+"_ms", "p50_"+m+"_ms", "p99.9_"+m+"_ms")
	}
	want = append(want, "input_lens", "output_lens", "start_times", "ttfts", "itls", "generated_texts", "errors", "mifbench_view", "mifbench_verdict")
	if d := cmp.Diff(want, keys); d != "" {
		t.Error(d)
	}
}

func TestPageIsSelfContained(t *testing.T) {
	var got bytes.Buffer
	if err := HTML(&got, sampleData(t)); err != nil {
		t.Fatal(err)
	}
	page := got.String()
	if bad := regexp.MustCompile(`(?i)(src=|<link|@import|url\(|https?://|<script)`).FindString(page); bad != "" {
		t.Errorf("the page refers to something outside: %q", bad)
	}
	if strings.Contains(page, "<rehearsal>") || strings.Contains(page, "no <capacity>") {
		t.Error("text is not escaped")
	}
	for _, want := range []string{"Output token rate", "Requests in flight", "Time to first token", "Inter-token latency", "Server queue", `class="window"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if regexp.MustCompile(`NaN|[+-]Inf`).MatchString(page) {
		t.Error("NaN or Inf in the page")
	}
}

func TestParquetReadsBack(t *testing.T) {
	var got bytes.Buffer
	if err := Parquet(&got, sampleData(t)); err != nil {
		t.Fatal(err)
	}
	rows, err := parquet.Read[eventRow](bytes.NewReader(got.Bytes()), int64(got.Len()))
	if err != nil {
		t.Fatal(err)
	}
	var want []eventRow
	for _, r := range sampleRecords() {
		want = append(want, eventRows(nil, "sharegpt-64", &r)...)
	}
	if d := cmp.Diff(want, rows); d != "" {
		t.Error(d)
	}
}

func TestRequestsCSVHasARowARequest(t *testing.T) {
	var got bytes.Buffer
	if err := RequestsCSV(&got, sampleData(t)); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&got).ReadAll()
	if err != nil || len(rows) != 401 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	if rows[6][2] != "http" || rows[6][3] != "503" || rows[6][8] != "" {
		t.Errorf("failed request: %v", rows[6])
	}
}

func TestTableOfFormats(t *testing.T) {
	var names []string
	for _, e := range Formats() {
		names = append(names, e.Name)
		if e.Summary == "" || e.Write == nil || !strings.HasPrefix(e.Extension, ".") {
			t.Errorf("row %q is not complete", e.Name)
		}
	}
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("names %v are not sorted and unique", names)
	}
	if _, err := ByName("htlm"); err == nil || !strings.Contains(err.Error(), "html") {
		t.Errorf("error %v does not help", err)
	}
}

func TestJSONReadsBack(t *testing.T) {
	d := sampleData(t)
	var got bytes.Buffer
	if err := JSON(&got, d); err != nil {
		t.Fatal(err)
	}
	var back struct {
		Version int
		Results []Result
	}
	if err := json.Unmarshal(got.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	na := cmp.Comparer(func(a, b metrics.Value) bool { return a == b || !a.Known() && !b.Known() })
	if d := cmp.Diff(d.Results[0].Views, back.Results[0].Views, na); d != "" || back.Version != JSONVersion {
		t.Error(d)
	}
}
