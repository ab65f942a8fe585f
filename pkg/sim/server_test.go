package sim

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// start serves cfg on free ports until the test ends.
func start(t *testing.T, change func(*Config)) *Server {
	t.Helper()
	cfg := DefaultConfig()
	cfg.Listen = "127.0.0.1:0"
	cfg.ITL = time.Millisecond
	cfg.DrainTimeout = 100 * time.Millisecond
	if change != nil {
		change(&cfg)
	}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
		http.DefaultClient.CloseIdleConnections()
	})
	return s
}

func url(s *Server, path string) string { return "http://" + s.Addr().String() + path }

func post(t *testing.T, url, body string, header ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return resp, string(b) + "\n!! " + err.Error()
	}
	return resp, string(b)
}

func TestSmoke(t *testing.T) {
	s := start(t, nil)
	for range 2 {
		_, b := post(t, url(s, "/v1/completions"), `{"prompt":"Hello world","max_tokens":3,"stream":true,"ignore_eos":true,"stream_options":{"include_usage":true}}`)
		t.Log(b)
	}
	_, b := post(t, url(s, "/v1/chat/completions"), `{"messages":[{"role":"user","content":"Hello world"}],"max_tokens":3,"stream":true,"ignore_eos":true,"stream_options":{"include_usage":true}}`)
	t.Log(b)
	_, b = post(t, url(s, "/v1/completions"), `{"prompt":"Hello world","max_tokens":3,"ignore_eos":true}`)
	t.Log(b)
	_, b = post(t, url(s, "/tokenize"), `{"prompt":"Hello world"}`)
	t.Log(b)
	resp, err := http.Get(url(s, "/metrics"))
	if err != nil {
		t.Fatal(err)
	}
	x, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	t.Log(string(x[:1500]))
}
