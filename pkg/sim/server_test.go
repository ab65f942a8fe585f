package sim

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
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
	t.Cleanup(serveInBackground(t, s))
	return s
}

// serveInBackground runs the server until the function it returns is called.
func serveInBackground(t testing.TB, s *Server) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
		http.DefaultClient.CloseIdleConnections()
	}
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

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
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
	return resp.StatusCode, string(b)
}

// eventually polls cond, which some other goroutine makes true, for 5 s.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for range 500 {
		if cond() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("not within 5 s: %s", what)
}

// value is the value of a metric line that begins with name and holds all of labels.
func value(t *testing.T, text, name string, labels ...string) float64 {
	t.Helper()
lines:
	for line := range strings.SplitSeq(text, "\n") {
		if !strings.HasPrefix(line, name+"{") {
			continue
		}
		for _, l := range labels {
			if !strings.Contains(line, l) {
				continue lines
			}
		}
		v, err := strconv.ParseFloat(line[strings.LastIndex(line, " ")+1:], 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	t.Fatalf("no metric %s%v", name, labels)
	return 0
}

func TestMetricsCountRequests(t *testing.T) {
	s := start(t, func(c *Config) { c.PrefixCaching = true })
	const body = `{"prompt":"` // 64 words, twice: the second time three blocks are cached
	text := strings.Repeat("word ", 63) + "end"
	for range 2 {
		post(t, url(s, "/v1/completions"), body+text+`","max_tokens":10,"ignore_eos":true}`)
	}
	eventually(t, "both requests are accounted for", func() bool {
		_, m := get(t, url(s, "/metrics"))
		return value(t, m, "vllm:request_success_total", `finished_reason="length"`) == 2
	})
	_, m := get(t, url(s, "/metrics"))
	for _, c := range []struct {
		name string
		want float64
	}{
		{"vllm:prompt_tokens_total", 128}, {"vllm:generation_tokens_total", 20}, {"vllm:num_requests_running", 0},
		{"vllm:num_requests_waiting", 0}, {"vllm:kv_cache_usage_perc", 0}, {"vllm:num_preemptions_total", 0},
		{"vllm:prefix_cache_queries_total", 128}, {"vllm:prefix_cache_hits_total", 48},
		{"vllm:time_to_first_token_seconds_count", 2}, {"vllm:inter_token_latency_seconds_count", 18},
		{"vllm:e2e_request_latency_seconds_count", 2},
	} {
		if got := value(t, m, c.name, `engine="0"`, `model_name="simulated"`); got != c.want {
			t.Errorf("%s is %v, want %v", c.name, got, c.want)
		}
	}
}

func TestHangUpCancels(t *testing.T) {
	s := start(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url(s, "/v1/completions"),
		strings.NewReader(`{"prompt":"a","max_tokens":100000,"ignore_eos":true,"stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(resp.Body, make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	_, m := get(t, url(s, "/metrics"))
	if got := value(t, m, "vllm:num_requests_running"); got != 1 {
		t.Errorf("%v running, want 1", got)
	}
	cancel()
	resp.Body.Close()
	eventually(t, "the request is aborted", func() bool {
		_, m := get(t, url(s, "/metrics"))
		return value(t, m, "vllm:num_requests_running") == 0
	})
}

func TestClientThatDoesNotRead(t *testing.T) {
	s := start(t, func(c *Config) { c.Speedup = 50 })
	nc, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if err := nc.(*net.TCPConn).SetReadBuffer(8192); err != nil {
		t.Fatal(err)
	}
	body := `{"prompt":"a","max_tokens":8000,"ignore_eos":true,"stream":true}`
	fmt.Fprintf(nc, "POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	// Another client is served meanwhile: the rank does not wait for the first.
	resp, got := post(t, url(s, "/v1/completions"), `{"prompt":"a","max_tokens":200,"ignore_eos":true,"stream":true}`)
	if resp.StatusCode != 200 || strings.Count(got, "data: ") != 201 {
		t.Errorf("%s, %d events", resp.Status, strings.Count(got, "data: "))
	}
	all, err := io.ReadAll(io.LimitReader(nc, 8000*200)) // then reads: nothing was lost
	if err != nil || len(all) != 8000*200 {
		t.Errorf("read %d bytes: %v", len(all), err)
	}
}

func TestKeepAliveAndPipelining(t *testing.T) {
	s := start(t, nil)
	nc, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	body := `{"prompt":"a","max_tokens":5,"ignore_eos":true,"stream":true}`
	one := fmt.Sprintf("POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	last := fmt.Sprintf("POST /v1/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	if _, err := io.WriteString(nc, one+one+last); err != nil {
		t.Fatal(err)
	}
	br := bufio.NewReader(nc)
	for i := range 3 {
		resp, err := http.ReadResponse(br, nil)
		if err != nil {
			t.Fatalf("response %d: %v", i, err)
		}
		b, err := io.ReadAll(resp.Body)
		if err != nil || strings.Count(string(b), "data: ") != 6 {
			t.Errorf("response %d: %q, %v", i, b, err)
		}
	}
	if _, err := br.ReadByte(); !errors.Is(err, io.EOF) {
		t.Errorf("after Connection: close: %v", err)
	}
}

func TestRanksOnConsecutivePorts(t *testing.T) {
	s := start(t, func(c *Config) { c.Ranks = 3 })
	for i, a := range s.Addrs() {
		_, m := get(t, "http://"+a.String()+"/metrics")
		value(t, m, "vllm:num_requests_running", fmt.Sprintf(`engine="%d"`, i))
	}
}

func TestPortTaken(t *testing.T) {
	s := start(t, nil)
	cfg := DefaultConfig()
	cfg.Listen = s.Addr().String()
	if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), "rank 0") {
		t.Errorf("error %v does not name the rank", err)
	}
}

func TestStopDrainsRunningRequests(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Listen, cfg.ITL = "127.0.0.1:0", time.Millisecond
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	body := make(chan string, 1)
	go func() {
		_, b := post(t, url(s, "/v1/completions"), `{"prompt":"a","max_tokens":200,"ignore_eos":true,"stream":true}`)
		body <- b
	}()
	eventually(t, "the request runs", s.busy)
	cancel()
	if b := <-body; strings.Count(b, "data: ") != 201 || !strings.Contains(b, "[DONE]") {
		t.Errorf("the running request was cut short:\n%s", b)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	http.DefaultClient.CloseIdleConnections()
}
