package vllm_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mifbench/mifbench/pkg/bench/client"
	"github.com/mifbench/mifbench/pkg/bench/record"
)

// send makes one request with the product's client and returns its record.
func send(ctx context.Context, t *testing.T, o client.Options, p client.Params, prompt string, max int32) record.Record {
	t.Helper()
	o.APIKey = or(o.APIKey, key)
	o.Clock, o.Timeouts = client.NewClock(time.Now()), client.DefaultTimeouts()
	c, err := client.New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	p.Model = or(p.Model, model)
	tmpl, err := client.NewTemplate(o.API, p)
	if err != nil {
		t.Fatal(err)
	}
	body, err := tmpl.Body(prompt, nil, max)
	if err != nil {
		t.Fatal(err)
	}
	var res client.Result
	c.Do(ctx, &client.Request{Body: body, MaxTokens: max, Stream: !p.NoStream}, &res)
	return res.Record(nil)
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// metric is the sum of a metric's lines that contain each of the parts.
func metric(t *testing.T, url, name string, parts ...string) float64 {
	t.Helper()
	_, _, body := call{method: http.MethodGet, path: "/metrics"}.do(t, url)
	sum, found := 0.0, false
lines:
	for line := range strings.SplitSeq(string(body), "\n") {
		if !strings.HasPrefix(line, name+"{") && !strings.HasPrefix(line, name+" ") {
			continue
		}
		for _, p := range parts {
			if !strings.Contains(line, p) {
				continue lines
			}
		}
		v, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		sum, found = sum+v, true
	}
	if !found {
		t.Fatalf("%s has no metric %s %v", url, name, parts)
	}
	return sum
}

// tokenCount is the server's own count of a prompt.
func tokenCount(t *testing.T, url string, body map[string]any) int {
	t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	_, _, got := call{path: "/tokenize", body: string(b)}.do(t, url)
	var out struct{ Count int }
	if err := json.Unmarshal(got, &out); err != nil || out.Count == 0 {
		t.Fatalf("%s: %v", got, err)
	}
	return out.Count
}

// What our client reports of a real server's answers adds up with what the server says
// of itself: counts of tokens, usage, /tokenize and /metrics.
func TestClientAgreesWithVLLM(t *testing.T) {
	url := realURL(t)
	const max = 24
	prompt := "The quick brown fox jumps over the lazy dog, naïvely — 42 times."
	words := map[string]any{"allowed_token_ids": []int{9707, 11, 1879}} // whole characters only
	quiet := map[string]any{"allowed_token_ids": []int{9707, 11, 1879}, "chat_template_kwargs": map[string]any{"enable_thinking": false}}
	text := tokenCount(t, url, map[string]any{"prompt": prompt})
	for _, c := range []struct {
		name   string
		api    client.API
		tr     client.Transport
		params client.Params
		events int
	}{
		{"completions", client.Completions, client.Lean, client.Params{ExtraBody: words}, max},
		{"completions, net/http", client.Completions, client.Standard, client.Params{ExtraBody: words}, max},
		{"completions, usage in each chunk", client.Completions, client.Lean, client.Params{ContinuousUsage: true, ExtraBody: words}, max},
		{"completions, whole", client.Completions, client.Lean, client.Params{NoStream: true, ExtraBody: words}, 1},
		{"chat", client.Chat, client.Lean, client.Params{ExtraBody: quiet}, max},
		{"chat, reasoning", client.Chat, client.Lean, client.Params{ExtraBody: words}, max},
		{"chat, whole", client.Chat, client.Lean, client.Params{NoStream: true, ExtraBody: quiet}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := text
			if c.api == client.Chat {
				ask := map[string]any{"messages": []any{map[string]any{"role": "user", "content": prompt}}}
				if k, ok := c.params.ExtraBody["chat_template_kwargs"]; ok {
					ask["chat_template_kwargs"] = k
				}
				want = tokenCount(t, url, ask)
			}
			made, read := metric(t, url, "vllm:generation_tokens_total"), metric(t, url, "vllm:prompt_tokens_total")
			c.params.IgnoreEOS = true
			r := send(t.Context(), t, client.Options{BaseURLs: []string{url}, API: c.api, Transport: c.tr}, c.params, prompt, max)
			if r.Status != record.OK || r.FinishReason != "length" || r.UsageCompletion != max || int(r.UsagePrompt) != want {
				t.Errorf("status %s %s, finish %s, usage %d + %d, want %d + %d", r.Status, r.Error, r.FinishReason, r.UsagePrompt, r.UsageCompletion, want, max)
			}
			tokens := int32(0)
			for _, e := range r.Events {
				tokens += e.Tokens
			}
			// Where the server falls behind it joins tokens to one chunk; only usage in each tells.
			if c.params.ContinuousUsage && tokens != max || len(r.Events) > c.events || len(r.Events) == 0 {
				t.Errorf("%d events of %d tokens, want %d of %d", len(r.Events), tokens, c.events, max)
			}
			if strings.Contains(c.name, "reasoning") != (r.ReasoningEvents > 0) {
				t.Errorf("%d reasoning events", r.ReasoningEvents)
			}
			if dm, dr := metric(t, url, "vllm:generation_tokens_total")-made, metric(t, url, "vllm:prompt_tokens_total")-read; dm != max || int(dr) != want {
				t.Errorf("the server counted %v output and %v prompt tokens", dm, dr)
			}
		})
	}
}

// A refusal is told in the server's own words, and none of its requests are left running
// when we hang up.
func TestClientFailuresAtVLLM(t *testing.T) {
	url := realURL(t)
	at := client.Options{BaseURLs: []string{url}, API: client.Completions}
	for _, c := range []struct {
		name   string
		opt    client.Options
		params client.Params
		max    int32
		status int
		want   string
	}{
		{"model", at, client.Params{Model: "other"}, 4, 404, "The model `other` does not exist"},
		{"length", at, client.Params{}, 4000, 400, "max_tokens=4000 cannot be greater than max_model_len=2048"},
		{"key", client.Options{BaseURLs: at.BaseURLs, API: at.API, APIKey: "wrong"}, client.Params{}, 4, 401, "Unauthorized"},
		{"path", client.Options{BaseURLs: at.BaseURLs, API: at.API, Path: "/v1/nothing"}, client.Params{}, 4, 404, "Not Found"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := send(t.Context(), t, c.opt, c.params, "a", c.max)
			if r.Status != record.HTTP || r.HTTPStatus != c.status || !strings.Contains(r.Error, c.want) {
				t.Errorf("%s %d: %s", r.Status, r.HTTPStatus, r.Error)
			}
		})
	}
}

func TestAbortEndsTheRequestAtVLLM(t *testing.T) {
	for name, url := range map[string]string{"vLLM": realURL(t), "simulator": simulator(t, nil)} {
		t.Run(name, func(t *testing.T) {
			before := metric(t, url, "vllm:request_success_total")
			ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
			defer cancel()
			r := send(ctx, t, client.Options{BaseURLs: []string{url}, API: client.Completions}, client.Params{IgnoreEOS: true}, "a", 2000)
			if r.Status != record.Cancelled || len(r.Events) == 0 {
				t.Errorf("%s %s with %d events", r.Status, r.Error, len(r.Events))
			}
			deadline := time.Now().Add(10 * time.Second)
			for metric(t, url, "vllm:num_requests_running") > 0 && time.Now().Before(deadline) {
				time.Sleep(20 * time.Millisecond)
			}
			if n := metric(t, url, "vllm:num_requests_running"); n != 0 {
				t.Errorf("%v requests still run", n)
			}
			if n := metric(t, url, "vllm:request_success_total") - before; n != 0 {
				t.Errorf("%v requests more count as done, though we hung up", n)
			}
		})
	}
}

// Each family of the simulator's /metrics is one of vLLM's, with its type and labels.
func TestMetricsAreVLLMs(t *testing.T) {
	theirs, ours := families(t, realURL(t)), families(t, simulator(t, nil))
	for name, want := range ours {
		if strings.HasPrefix(name, "mifbench_") {
			continue
		}
		if got := theirs[name]; got == "" {
			t.Errorf("%s %s is not vLLM's", name, want)
		} else if !strings.HasPrefix(name, "vllm:cache_config_info") && got != want {
			t.Errorf("%s is %s, vLLM's %s", name, want, got)
		}
	}
	if len(ours) < 20 {
		t.Errorf("only %d families", len(ours))
	}
}

// families maps each metric to its type and the names of its labels.
func families(t *testing.T, url string) map[string]string {
	t.Helper()
	call{path: completions, body: "{" + text + "}"}.do(t, url)
	_, _, body := call{method: http.MethodGet, path: "/metrics"}.do(t, url)
	kinds, out := map[string]string{}, map[string]string{}
	for line := range strings.SplitSeq(string(body), "\n") {
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, kind, _ := strings.Cut(rest, " ")
			kinds[name] = kind
			continue
		}
		name, rest, ok := strings.Cut(line, "{")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		labels := map[string]bool{}
		for part := range strings.SplitSeq(rest[:strings.LastIndexByte(rest, '}')], ",") {
			l, _, _ := strings.Cut(part, "=")
			labels[l] = true
		}
		family := name
		for _, end := range []string{"_bucket", "_count", "_sum"} {
			if f := strings.TrimSuffix(name, end); kinds[f] == "histogram" {
				family = f
			}
		}
		if out[name] = fmt.Sprintf("%s %v", kinds[family], labels); name == "" {
			t.Errorf("line %q", line)
		}
	}
	return out
}
