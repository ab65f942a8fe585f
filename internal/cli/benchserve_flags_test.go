package cli_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// Every flag that shapes a request is run, and what the server got is looked at.
func TestServeFlagsOfRequests(t *testing.T) {
	u := newServeUser(t)
	for _, c := range []struct {
		flags  string
		body   map[string]any
		header map[string]string
		path   string
	}{
		{flags: "", body: map[string]any{"repetition_penalty": 1.0, "max_tokens": 5.0, "stream": true, "ignore_eos": true, "stream_options": map[string]any{"include_usage": true}, "temperature": nil, "logprobs": nil}, path: "/v1/completions"},
		{flags: "--temperature 0 --top-p 0.5 --top-k 3 --min-p 0.1 --frequency-penalty 0.2 --presence-penalty 0.3 --repetition-penalty 1.1", body: map[string]any{
			"temperature": 0.0, "top_p": 0.5, "top_k": 3.0, "min_p": 0.1, "frequency_penalty": 0.2, "presence_penalty": 0.3, "repetition_penalty": 1.1,
		}},
		{flags: `--temperature 0 --extra-body {"temperature":0.7,"seed":4}`, body: map[string]any{"temperature": 0.7, "seed": 4.0}},
		{flags: "--logprobs 2", body: map[string]any{"logprobs": 2.0}},
		{flags: "--no-stream", body: map[string]any{"stream": false, "stream_options": nil}},
		{flags: "--backend openai-chat --endpoint /v1/chat/completions", body: map[string]any{"max_completion_tokens": 5.0, "max_tokens": nil, "repetition_penalty": nil, "prompt": nil}, path: "/v1/chat/completions"},
		{flags: "--backend vllm --model deepseek-ai/DeepSeek-R1", body: map[string]any{"model": "deepseek-ai/DeepSeek-R1"}},
		{flags: "--model other --served-model-name deepseek-ai/DeepSeek-R1", body: map[string]any{"model": "deepseek-ai/DeepSeek-R1"}},
		{flags: "--input-len 30 --output_len 7", body: map[string]any{"max_tokens": 7.0}},
		{flags: "--header x-a=1 x-b=2=3 --header x-c=4", header: map[string]string{"x-a": "1", "x-b": "2=3", "x-c": "4", "Authorization": ""}},
		{flags: "--request-id-prefix p-", header: map[string]string{"x-request-id": "p-0"}},
		{flags: "--header x-request-id=mine", header: map[string]string{"x-request-id": `^bench-[0-9a-f]{8}-0$`}},
		{flags: "--trust-remote-code --tokenizer-mode slow --disable-tqdm --skip-chat-template --max-connections-per-worker 3 --lora-assignment random --probe-request-rate 0.0"},
	} {
		o := u.ok(append(strings.Fields(c.flags), "--max-concurrency", "1")...)
		if len(o.load) != 4 {
			t.Errorf("%s: %d requests", c.flags, len(o.load))
			continue
		}
		first := o.load[0]
		for key, want := range c.body {
			if got := first.body[key]; !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %s is %v, want %v", c.flags, key, got, want)
			}
		}
		for key, want := range c.header {
			if got := first.header.Get(key); got != want && !(strings.HasPrefix(want, "^") && regexp.MustCompile(want).MatchString(got)) {
				t.Errorf("%s: header %s is %q, want %q", c.flags, key, got, want)
			}
		}
		if c.path != "" && first.path != c.path {
			t.Errorf("%s: path %s", c.flags, first.path)
		}
	}
}

func TestServeKeyComesFromTheEnvironment(t *testing.T) {
	u := newServeUser(t)
	u.env = []string{"OPENAI_API_KEY=not-to-be-shown"}
	o := u.ok("--save-result", "--result-dir", u.dir, "--result-filename", "r.json", "--records", filepath.Join(u.dir, "runs"))
	if got := o.load[0].header.Get("Authorization"); got != "Bearer not-to-be-shown" {
		t.Errorf("Authorization %q", got)
	}
	if o := u.ok("--header", "Authorization=Basic abc"); o.load[0].header.Get("Authorization") != "Basic abc" {
		t.Errorf("--header does not win over the key: %v", o.load[0].header)
	}
	err := filepath.WalkDir(u.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), "not-to-be-shown") {
			t.Errorf("%s holds the key", path)
		}
		return err
	})
	if err != nil || strings.Contains(o.out+o.talk, "not-to-be-shown") {
		t.Errorf("the key is shown, or %v", err)
	}
}

func TestServeFlagsOfLoad(t *testing.T) {
	u := newServeUser(t)
	o := u.ok("--num-prompts", "30", "--max-concurrency", "3")
	if most := u.most.Load(); most > 3 || !strings.Contains(o.out, "Maximum request concurrency:             3 ") {
		t.Errorf("%d in flight:\n%s", most, o.out)
	}
	start := time.Now()
	o = u.ok("--num-prompts", "20", "--request-rate", "50", "--burstiness", "inf", "--save-result", "--result-filename", filepath.Join(u.dir, "even.json"))
	if took := time.Since(start); took < 380*time.Millisecond || !strings.Contains(o.out, "Request rate configured (RPS):           50.00") {
		t.Errorf("20 requests at 50/s took %v:\n%s", took, o.out)
	}
	if r := u.object("even.json"); r["burstiness"] != "inf" || r["max_concurrency"] != nil {
		t.Errorf("result %v", r)
	}
	inOrder(t, o.talk, "Traffic request rate: 50.0", "Burstiness factor: inf (Gamma distribution)", "Maximum request concurrency: None")
	o = u.ok("--num-prompts", "20", "--ramp-up-strategy", "linear", "--ramp-up-start-rps", "20", "--ramp-up-end-rps", "200", "--save-result", "--result-dir", u.dir, "--result-filename", "ramp.json")
	inOrder(t, o.talk, "Traffic ramp-up strategy: linear.", "Will increase RPS from 20 to 200 RPS")
	if r := u.object("ramp.json"); r["ramp_up_strategy"] != "linear" || r["ramp_up_start_rps"] != 20.0 || r["ramp_up_end_rps"] != 200.0 || r["request_rate"] != "inf" {
		t.Errorf("result %v", r)
	}
	o = u.ok("--num-warmups", "3", "--ready-check-timeout-sec", "5", "--max-concurrency", "1")
	p := o.prompts()
	if len(p) != 8 || !slices.Equal(p[:5], []string{p[0], p[0], p[0], p[0], p[0]}) || p[5] == p[0] {
		t.Errorf("prompts %q", p)
	}
	inOrder(t, o.talk, "Initial test run completed.", "Warming up with 3 requests...", "Starting main benchmark run...")
	if a, b, c := u.ok("--max-concurrency", "1").prompts(), u.ok("--seed", "0", "--max-concurrency", "1").prompts(), u.ok("--seed", "7", "--max-concurrency", "1").prompts(); !slices.Equal(a, b) || slices.Equal(a, c) {
		t.Errorf("seeds 0, 0 and 7 give %q, %q, %q", a, b, c)
	}
	if o := u.ok("--base-url", u.url, "--port", "1"); len(o.load) != 4 {
		t.Errorf("--base-url: %d requests", len(o.load))
	}
}

func TestServeFlagsOfResults(t *testing.T) {
	u := newServeUser(t)
	in := func(name string) string { return filepath.Join(u.dir, name) }
	o := u.ok("--save-result", "--result-dir", in("made/here"), "--label", "mine", "--max-concurrency", "2", "--request-rate", "100",
		"--metadata", "node=a", "note=x=y", "--metadata", "run=3", "--tokenizer", "some/tokenizer")
	files, err := filepath.Glob(in("made/here/mine-100.0qps-concurrency2-DeepSeek-R1-*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %v, %v:\n%s", files, err, o.talk)
	}
	rel, _ := filepath.Rel(u.dir, files[0])
	r := u.object(rel)
	for key, want := range map[string]any{
		"node": "a", "note": "x=y", "run": "3", "label": "mine", "backend": "openai", "endpoint_type": "openai", "model_id": "deepseek-ai/DeepSeek-R1",
		"tokenizer_id": "some/tokenizer", "num_prompts": 4.0, "request_rate": 100.0, "burstiness": 1.0, "max_concurrency": 2.0, "completed": 4.0,
		"failed": 0.0, "total_input_tokens": 80.0, "total_output_tokens": 20.0, "request_goodput": nil,
	} {
		if got, ok := r[key]; !ok || got != want {
			t.Errorf("%s is %v (there %t), want %v", key, got, ok, want)
		}
	}
	if _, ok := r["input_lens"]; ok {
		t.Error("arrays of requests without --save-detailed")
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}

	u.ok("--append-result", "--result-filename", in("all.json"))
	u.ok("--append-result", "--result-filename", in("all.json"), "--save-detailed")
	text, err := os.ReadFile(in("all.json"))
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(strings.NewReader(string(text)))
	var list []map[string]any
	for dec.More() {
		var m map[string]any
		if err := dec.Decode(&m); err != nil {
			t.Fatal(err)
		}
		list = append(list, m)
	}
	if len(list) != 2 {
		t.Fatalf("%d results appended: %s", len(list), text)
	}
	for _, key := range []string{"input_lens", "output_lens", "start_times", "ttfts", "itls", "generated_texts", "errors"} {
		if a, ok := list[1][key].([]any); !ok || len(a) != 4 {
			t.Errorf("--save-detailed: %s is %v", key, list[1][key])
		}
	}
}

func TestServeFlagsOfMetrics(t *testing.T) {
	u := newServeUser(t)
	o := u.ok("--max-concurrency", "2", "--request-rate", "200", "--goodput", "ttft:60000", "e2el:60000", "--goodput", "tpot:60000",
		"--percentile-metrics", "e2el,ttft,client_queue_time,e2el_including_client_queue,nonsense", "--metric-percentiles", "50,99.9",
		"--save-result", "--result-filename", filepath.Join(u.dir, "m.json"))
	inOrder(t, o.out, "Request goodput (req/s):", "-Time to First Token-", "P50 TTFT (ms):", "P99.9 TTFT (ms):", "-End-to-end Latency-", "Mean E2EL (ms):",
		"-Client-side Queueing-", "Mean Client Queue Time (ms):", "-Queue-inclusive End-to-end Latency-", "P99.9 E2EL incl. Client Queue (ms):")
	if strings.Contains(o.out, "Inter-token") || strings.Contains(o.out, "Output Token (excl") {
		t.Errorf("sections that were not asked for:\n%s", o.out)
	}
	r := u.object("m.json")
	for _, key := range []string{"mean_e2el_ms", "median_ttft_ms", "std_client_queue_time_ms", "p50_e2el_ms", "p99.9_e2el_including_client_queue_ms", "request_goodput"} {
		if v, ok := r[key].(float64); !ok || math.IsNaN(v) {
			t.Errorf("%s is %v", key, r[key])
		}
	}
	if r["request_goodput"] != r["request_throughput"] {
		t.Errorf("goodput %v of %v with limits that all requests keep", r["request_goodput"], r["request_throughput"])
	}
	if o := u.ok("--goodput", "ttft:0.001"); !strings.Contains(o.out, "Request goodput (req/s):                 0.00 ") {
		t.Errorf("goodput with a limit that none keeps:\n%s", o.out)
	}
	if o := u.ok(); !strings.Contains(o.out, "P99 TPOT (ms):") || strings.Contains(o.out, "End-to-end") {
		t.Errorf("without flags:\n%s", o.out)
	}
}

// With a window the block is the published one and --save-result has its figures.
func TestServeFlagsOfWindow(t *testing.T) {
	u := newServeUser(t)
	o := u.ok("--num-prompts", "60", "--request-rate", "100", "--warmup-time", "0.2", "--cooldown-time", "0.1", "--save-result", "--result-filename", filepath.Join(u.dir, "w.json"))
	inOrder(t, o.out, "=Serving Benchmark Result=", "Number of worker processes:              1", "Warm-up Time:                            0.2", "Cool-down Time:                          0.1")
	r := u.object("w.json")
	if !strings.Contains(o.out, fmt.Sprintf("%-40s %d\n", "Total generated tokens:", int64(r["total_output_tokens"].(float64)))) || r["mifbench_view"] != "moreh" {
		t.Errorf("file %v, block:\n%s", r, o.out)
	}
	if o := u.serve("--warmup-time", "60"); o.code != 1 || !strings.Contains(o.talk, "shorten --warmup-time and --cooldown-time") {
		t.Errorf("exit code %d:\n%s", o.code, o.talk)
	}
}

func TestServeKeepsRecords(t *testing.T) {
	u := newServeUser(t)
	o := u.ok("--records", filepath.Join(u.dir, "runs"), "--label", "kept")
	runs, err := filepath.Glob(filepath.Join(u.dir, "runs", "*"))
	if err != nil || len(runs) != 1 || !strings.Contains(o.talk, "mifbench report "+runs[0]) {
		t.Fatalf("runs %v, %v:\n%s", runs, err, o.talk)
	}
}

// Every flag of upstream's and the published benchmark's is known, and one that cannot be
// obeyed says why.
func TestServeKnowsEveryFlag(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "vllm_flags.txt"))
	if err != nil {
		t.Fatal(err)
	}
	u := newServeUser(t)
	help := u.serve("--help").out
	for _, name := range strings.Fields(string(text)) {
		i := strings.Index(help, "--"+name+" ")
		if i < 0 {
			t.Errorf("--%s is not known", name)
			continue
		}
		line, _, _ := strings.Cut(help[i:], "\n")
		if _, why, refused := strings.Cut(line, "not part of this version: "); refused {
			o := u.serve("--"+name+"=true", "--num-prompts", "1")
			if o.code != 1 || len(why) < 10 || !strings.Contains(o.talk, "--"+name+" is not part of this version: ") {
				t.Errorf("--%s: exit code %d:\n%s", name, o.code, o.talk)
			}
		}
	}
}
