package real

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	requests = 60
	tokens   = 24
)

// checkRequests sends requests to the gateway and finds each again on one prefill and one decode
// rank.
func checkRequests(t *testing.T, c *cluster) {
	var svc struct{ Spec struct{ ClusterIP string } }
	decode(t, c.get(t, schema.GroupVersionResource{Version: "v1", Resource: "services"}, namespace, "mif-istio"), &svc)
	url := "http://" + svc.Spec.ClusterIP + "/v1/completions"
	awaitFirst(t, url)
	before := map[string]map[string]float64{"decode": served(t, c, "decode"), "prefill": served(t, c, "prefill")}
	g, ctx := errgroup.WithContext(t.Context())
	g.SetLimit(12)
	for i := range requests {
		g.Go(func() error { return complete(ctx, url, i) })
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	for role, was := range before {
		sum, busy := 0.0, 0
		now := served(t, c, role)
		for rank, n := range now {
			if n > was[rank] {
				sum += n - was[rank]
				busy++
			}
		}
		t.Logf("%d requests: %v on %d of %d %s ranks", requests, sum, busy, len(now), role)
		if sum != requests {
			t.Errorf("%s ranks served %v of %d requests", role, sum, requests)
		}
		if busy < len(now)/2 {
			t.Errorf("only %d of %d %s ranks were picked", busy, len(now), role)
		}
	}
}

// awaitFirst waits for the first completion: the endpoint picker calls itself healthy before it
// has made its certificate and listens. (The proxy listens: apply waits for its Deployment.)
func awaitFirst(t *testing.T, url string) {
	t.Helper()
	var err error
	for begun := time.Now(); time.Since(begun) < 2*time.Minute; time.Sleep(time.Second) {
		if err = complete(t.Context(), url, 0); err == nil {
			return
		}
	}
	t.Fatal(err)
}

// complete streams one completion and counts its tokens.
func complete(ctx context.Context, url string, i int) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	body := fmt.Sprintf(`{"model": "deepseek-ai/DeepSeek-R1", "prompt": "request %d", "max_tokens": %d, "ignore_eos": true, "stream": true}`, i, tokens)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		text, err := io.ReadAll(resp.Body)
		return fmt.Errorf("request %d: %s: %.500s (%w)", i, resp.Status, text, err)
	}
	chunks, done := 0, false
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		switch {
		case lines.Text() == "data: [DONE]":
			done = true
		case strings.HasPrefix(lines.Text(), "data: ") && strings.Contains(lines.Text(), `"text"`):
			chunks++
		}
	}
	if !done || chunks < tokens {
		return fmt.Errorf("request %d: %d of %d tokens, ended %v", i, chunks, tokens, done)
	}
	return nil
}

// served counts the requests that each rank of a role has finished.
func served(t *testing.T, c *cluster, role string) map[string]float64 {
	t.Helper()
	out := map[string]float64{}
	for _, ip := range c.pods(t, role) {
		for port := 8000; port < 8008; port++ {
			rank := fmt.Sprintf("%s:%d", ip, port)
			out[rank] = finished(t, rank)
		}
	}
	if len(out) == 0 {
		t.Fatalf("no %s ranks", role)
	}
	return out
}

func finished(t *testing.T, rank string) float64 {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+rank+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	sum := 0.0
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), " "); ok && strings.HasPrefix(name, "vllm:request_success_total") {
			n, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Fatal(err)
			}
			sum += n
		}
	}
	return sum
}
