package sim

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestWire holds every form of answer to a golden file.
func TestWire(t *testing.T) {
	const (
		text  = `"model":"simulated","prompt":"Once upon a time","max_tokens":3,"ignore_eos":true`
		chat  = `"model":"simulated","messages":[{"role":"user","content":"Hello there"}],"max_completion_tokens":3,"ignore_eos":true`
		usage = `,"stream_options":{"include_usage":true}`
	)
	completions, chats := "/v1/completions", "/v1/chat/completions"
	cases := []struct {
		name, path, body string
		status           int
	}{
		{"completions-stream", completions, `{` + text + `,"stream":true}`, 200},
		{"completions-stream-usage", completions, `{` + text + `,"stream":true` + usage + `}`, 200},
		{"completions-stream-continuous-usage", completions, `{` + text + `,"stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true}}`, 200},
		{"completions", completions, `{` + text + `}`, 200},
		{"completions-token-ids", completions, `{"prompt":[1,2,3,4,5],"max_tokens":2,"ignore_eos":true}`, 200},
		{"completions-min-tokens", completions, `{"prompt":"a","max_tokens":600,"min_tokens":598}`, 200},
		{"completions-stop", completions, `{"prompt":"a","max_tokens":60,"ignore_eos":true,"stream":true,"stop":["he","engin"]}`, 200},
		{"chat-stream", chats, `{` + chat + `,"stream":true}`, 200},
		{"chat-stream-usage", chats, `{` + chat + `,"stream":true` + usage + `}`, 200},
		{"chat", chats, `{` + chat + `}`, 200},
		{"error-too-long", completions, `{"prompt":"a b c","max_tokens":4000}`, 400},
		{"error-prompt-too-long", completions, `{"prompt":"` + strings.Repeat("a ", 1100) + `","max_tokens":1}`, 400},
		{"error-model", completions, `{"model":"other","prompt":"a"}`, 404},
		{"error-json", completions, `{"prompt":`, 400},
		{"error-no-prompt", completions, `{}`, 400},
		{"error-no-messages", chats, `{}`, 400},
		{"error-stream-options", completions, `{` + text + usage + `}`, 400},
		{"error-n", completions, `{` + text + `,"n":2}`, 400},
		{"error-max-tokens", completions, `{"prompt":"a","max_tokens":0}`, 400},
		{"tokenize", "/tokenize", `{"prompt":"Hello, extraordinary  world!"}`, 200},
		{"not-found", "/v2/nothing", `{}`, 404},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := start(t, func(cfg *Config) { cfg.MaxModelLen = 1000 })
			resp, body := post(t, url(s, c.path), c.body, "X-Request-Id", "abc")
			if resp.StatusCode != c.status {
				t.Errorf("status %d, want %d", resp.StatusCode, c.status)
			}
			golden(t, c.name+".txt", body)
		})
	}
}

func TestWireReasoning(t *testing.T) {
	s := start(t, func(c *Config) { c.ReasoningTokens = 2 })
	body := `{"messages":[{"role":"user","content":"hi"}],"max_tokens":4,"ignore_eos":true`
	_, got := post(t, url(s, "/v1/chat/completions"), body+`,"stream":true}`, "X-Request-Id", "abc")
	golden(t, "chat-stream-reasoning.txt", got)
	_, got = post(t, url(s, "/v1/chat/completions"), body+`}`, "X-Request-Id", "abc")
	golden(t, "chat-reasoning.txt", got)
}

func TestStampIsTheTimeOfSending(t *testing.T) {
	s := start(t, func(c *Config) { c.Stamp = true })
	from := time.Now().UnixNano()
	_, body := post(t, url(s, "/v1/completions"), `{"prompt":"a","max_tokens":20,"ignore_eos":true,"stream":true}`)
	to := time.Now().UnixNano()
	last, n := from, 0
	for line := range strings.SplitSeq(body, "\n") {
		_, rest, ok := strings.Cut(line, `"text":" `)
		if !ok {
			continue
		}
		digits, _, _ := strings.Cut(rest, `"`)
		at, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || at < last || at > to {
			t.Fatalf("stamp %q is not a time between %d and %d", digits, last, to)
		}
		last, n = at, n+1
	}
	if n != 20 {
		t.Errorf("%d stamps, want 20", n)
	}
}

func TestGetEndpoints(t *testing.T) {
	s := start(t, func(c *Config) { c.MaxModelLen = 1000 })
	for _, c := range []struct{ path, want string }{
		{"/health", ""}, {"/ping", ""},
		{"/version", `{"version":"0.32.0+mifbench.simulated"}`},
		{"/v1/models", `"id":"simulated","object":"model"`},
		{"/metrics", "# TYPE vllm:num_requests_running gauge"},
	} {
		code, body := get(t, url(s, c.path))
		if code != http.StatusOK || !strings.Contains(body, c.want) {
			t.Errorf("%s: %d %s", c.path, code, body)
		}
	}
	if code, _ := get(t, url(s, "/v1/completions")); code != http.StatusMethodNotAllowed {
		t.Errorf("GET of completions: %d", code)
	}
}

func TestAPIKey(t *testing.T) {
	s := start(t, func(c *Config) { c.APIKey = "sesame" })
	const body = `{"prompt":"a","max_tokens":1}`
	if resp, _ := post(t, url(s, "/v1/completions"), body); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("without key: %s", resp.Status)
	}
	if resp, _ := post(t, url(s, "/v1/completions"), body, "Authorization", "Bearer sesame"); resp.StatusCode != http.StatusOK {
		t.Errorf("with key: %s", resp.Status)
	}
	if code, _ := get(t, url(s, "/health")); code != http.StatusOK {
		t.Errorf("health needs no key: %d", code)
	}
}
