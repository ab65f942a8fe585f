package vllm_test

import (
	"context"
	"flag"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mifbench/mifbench/pkg/sim"
)

var capture = flag.Bool("capture", false, "rewrite the recorded streams of pkg/bench/client")

const (
	key     = "sesame"
	model   = "tiny"
	longest = 2048 // tokens, prompt and output
)

// realURL is the real server's address, from run.sh.
func realURL(t *testing.T) string {
	t.Helper()
	u := os.Getenv("MIFBENCH_VLLM_URL")
	if u == "" {
		t.Skip("no real vLLM: use make real-vllm")
	}
	return u
}

// simulator starts a simulator that is set up as run.sh sets up vLLM.
func simulator(t *testing.T, edit func(*sim.Config)) string {
	t.Helper()
	c := sim.DefaultConfig()
	c.Listen, c.Model, c.APIKey, c.MaxModelLen, c.ITL = "127.0.0.1:0", model, key, longest, time.Millisecond
	if edit != nil {
		edit(&c)
	}
	s, err := sim.New(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return "http://" + s.Addr().String()
}

// call is one request of a comparison.
type call struct {
	name, method, path, body string
	key                      string // "": the right one; "-": none
}

func (c call) do(t *testing.T, url string) (int, http.Header, []byte) {
	t.Helper()
	method := c.method
	if method == "" {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(t.Context(), method, url+c.path, strings.NewReader(c.body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Request-Id", "abc")
	switch c.key {
	case "":
		req.Header.Set("Authorization", "Bearer "+key)
	case "-":
	default:
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, b
}
