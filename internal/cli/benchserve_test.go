package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mifbench/mifbench/internal/cli"
	"github.com/mifbench/mifbench/pkg/sim"
)

// TestPublishedCommands pastes the six published commands with vllm replaced by mifbench.
// What follows them points at a simulator and makes the numbers small; later flags win.
func TestPublishedCommands(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "published_commands.txt"))
	if err != nil {
		t.Fatal(err)
	}
	host, port := simulator(t)
	prompts := books(t)
	pasted := strings.Split(strings.TrimSpace(string(text)), "\n\n")
	if len(pasted) != 6 {
		t.Fatalf("%d commands, want 6", len(pasted))
	}
	for i, command := range pasted {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			args := strings.Fields(strings.NewReplacer("\\\n", " ", `"`, "").Replace(command))
			dataset := args[1+indexOf(args, "--dataset-name")]
			file := filepath.Join(t.TempDir(), "result.json")
			args = append(args[1:], "--host", host, "--port", port, "--dataset-path", prompts[dataset],
				"--num-prompts", "60", "--request-rate", "200", "--max-concurrency", "20", "--warmup-time", "0.1", "--cooldown-time", "0.1",
				"--"+dataset+"-input-len", "64", "--"+dataset+"-output-len", "64", "--save-result", "--result-filename", file)
			var out, talk bytes.Buffer
			if code := cli.Run(t.Context(), cli.Env{Args: args, Stdout: &out, Stderr: &talk}); code != 0 {
				t.Fatalf("exit code %d:\n%s", code, &talk)
			}
			inOrder(t, out.String(), "=Serving Benchmark Result=", "Number of worker processes:", "Successful requests:",
				"Maximum request concurrency:             20", "Request rate configured (RPS):           200.00", "Warm-up Time:", "Cool-down Time:",
				"Benchmark duration (s):", "Total input tokens:", "Total generated tokens:", "Output token throughput (tok/s):", "Total Token throughput (tok/s):",
				"-Time to First Token-", "Mean TTFT (ms):", "Median TTFT (ms):", "P10 TTFT (ms):", "P90 TTFT (ms):",
				"-Inter-token Latency-", "Mean ITL (ms):", "P90 ITL (ms):", "====")
			hasKeys(t, file, "date", "backend", "model_id", "num_prompts", "request_rate", "burstiness", "max_concurrency", "duration", "completed", "failed",
				"total_input_tokens", "total_output_tokens", "output_throughput", "total_token_throughput", "mean_ttft_ms", "p90_ttft_ms", "mean_itl_ms", "p10_itl_ms")
		})
	}
}

func TestServeRefusesByName(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--profile", "--profile is not part of this version"},
		{"--probe-request-rate 2", "--probe-request-rate is not part"},
		{"--backend vllm-rerank", `--backend "vllm-rerank" is not part`},
		{"--backend openai-chat", "add --endpoint /v1/chat/completions"},
		{"--dataset-name hf --model m", "--dataset-name hf is not part"},
		{"--max-concurrency 0", "must be greater than 0"},
		{"--goodput speed:3", "not one of ttft, tpot, e2el"},
		{"--ramp-up-strategy linear --request-rate 3", "leave --request-rate out"},
		{"--no-such", "unknown flag: --no-such"},
		{"stray", `argument "stray" belongs to no flag`},
	} {
		var out, talk bytes.Buffer
		code := cli.Run(t.Context(), cli.Env{Args: append([]string{"bench", "serve"}, strings.Fields(c.args)...), Stdout: &out, Stderr: &talk})
		if code != 1 || !strings.Contains(talk.String(), c.want) {
			t.Errorf("%s: exit code %d:\n%s", c.args, code, &talk)
		}
	}
}

func indexOf(args []string, name string) int {
	for i, a := range args {
		if a == name {
			return i
		}
	}
	return -1
}

func simulator(t *testing.T) (host, port string) {
	t.Helper()
	config := sim.DefaultConfig()
	config.Listen, config.Model, config.ITL, config.DrainTimeout = "127.0.0.1:0", "deepseek-ai/DeepSeek-R1", time.Millisecond, 0
	server, err := sim.New(config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx) }()
	t.Cleanup(func() { stop(); <-done })
	host, port, err = net.SplitHostPort(server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return host, port
}

// books writes a small file for each published data set.
func books(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	var prose strings.Builder
	var talks []any
	for i := range 400 {
		var text strings.Builder
		for k := range 120 {
			fmt.Fprintf(&text, "word%d ", i*131+k*17)
		}
		prose.WriteString(text.String())
		turn := func(who string) any { return map[string]any{"from": who, "value": text.String()} }
		talks = append(talks, map[string]any{"id": fmt.Sprint(i), "conversations": []any{turn("human"), turn("gpt")}})
	}
	js, err := json.Marshal(talks)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	share := write("share.json", string(js))
	if err := os.Mkdir(filepath.Join(dir, "project_gutenberg"), 0o700); err != nil {
		t.Fatal(err)
	}
	return map[string]string{"sharegpt": share, "gutenberg": filepath.Dir(write("project_gutenberg/book.txt", prose.String()))}
}

func inOrder(t *testing.T, text string, parts ...string) {
	t.Helper()
	rest := text
	for _, p := range parts {
		_, after, ok := strings.Cut(rest, p)
		if !ok {
			t.Fatalf("%q is missing or out of order in:\n%s", p, text)
		}
		rest = after
	}
}

func hasKeys(t *testing.T, path string, keys ...string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	for _, k := range keys {
		if _, ok := m[k]; !ok {
			t.Errorf("the result file has no %q: %s", k, text)
		}
	}
}
