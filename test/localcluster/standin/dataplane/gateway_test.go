package dataplane

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestGateway(t *testing.T) {
	pool := func(p Pool) *Table { return &Table{Routes: []Route{{Name: "ns/r", Pool: &p}}} }
	cases := []struct {
		name    string
		table   *Table
		status  int
		message string
	}{
		{"a gateway without proxy pods is unavailable", &Table{Down: "no ready proxy pod"}, 503, "no ready proxy pod"},
		{"no route is not found", &Table{}, 404, "no route matches POST"},
		{"a route without backend says why", &Table{Routes: []Route{{Name: "ns/r", Problem: "InferencePool x not found"}}}, 503, "InferencePool x not found"},
		{"a pool without ready pods names the pool", pool(Pool{Name: "heimdall"}), 503, "pool heimdall has no ready pod"},
		{"a pool that is down says why", pool(Pool{Name: "p", Down: "picker gone", Decode: []string{"127.0.0.1:1"}}), 503, "picker gone"},
		{"a rank that refuses is a connect error", pool(Pool{Name: "p", Decode: []string{"127.0.0.1:1"}}), 503, "upstream connect error"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			g := New(&Picker{}, Transport())
			g.Set(c.table)
			w := httptest.NewRecorder()
			g.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/completions", strings.NewReader("{}")))
			var body struct{ Error struct{ Message string } }
			if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
				t.Fatal(err)
			}
			if w.Code != c.status || !strings.Contains(body.Error.Message, c.message) {
				t.Errorf("got %d %q, want %d and %q", w.Code, body.Error.Message, c.status, c.message)
			}
		})
	}
}

// engine streams a chunk for every value received on more.
func engine(t *testing.T, more <-chan string, prefill chan<- string) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		prefill <- r.Header.Get(PrefillHeader)
		w.Header().Set("Content-Type", "text/event-stream")
		for m := range more {
			fmt.Fprintf(w, "data: %s\n\n", m)
			w.(http.Flusher).Flush()
		}
	}))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

func TestStreamsEachChunkAsItComes(t *testing.T) {
	more, prefill := make(chan string), make(chan string, 1)
	rank := engine(t, more, prefill)
	picker := &Picker{}
	g := New(picker, Transport())
	g.Set(&Table{Routes: []Route{{Name: "ns/r", Pool: &Pool{Name: "p", Decode: []string{rank}, Prefill: []string{"127.0.0.9:8003"}}}}})
	front := httptest.NewServer(g)
	defer front.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, front.URL, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set(PrefillHeader, "client's own wish")
	got := make(chan *http.Response, 1)
	go func() {
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			panic(err)
		}
		got <- resp
	}()
	if h := <-prefill; h != "127.0.0.9:8003" {
		t.Errorf("prefill header is %q", h)
	}
	if n := picker.Active("127.0.0.9:8003"); n != 1 {
		t.Errorf("prefill rank has %d requests before the first token, want 1", n)
	}
	more <- "0"
	resp := <-got
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for i := range 3 {
		lines.Scan()
		if want := fmt.Sprintf("data: %d", i); lines.Text() != want {
			t.Fatalf("got %q, want %q", lines.Text(), want)
		}
		lines.Scan() // the empty line
		if n := picker.Active("127.0.0.9:8003"); n != 0 {
			t.Errorf("prefill rank has %d requests after the first token, want 0", n)
		}
		if n := picker.Active(rank); n != 1 {
			t.Errorf("decode rank has %d requests, want 1", n)
		}
		more <- fmt.Sprint(i + 1) // would block for ever if the chunk before had not been passed on
	}
	close(more)
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatal(err)
	}
}

func TestPickerSpreadsEvenly(t *testing.T) {
	p := &Picker{}
	ranks := []string{"a:1", "a:2", "b:1"}
	for range 30 {
		p.Acquire(ranks)
	}
	for _, r := range ranks {
		if p.Active(r) != 10 {
			t.Errorf("%s has %d of 30 requests, want 10", r, p.Active(r))
		}
	}
	p.Release("b:1")
	if got := p.Acquire(ranks); got != "b:1" {
		t.Errorf("picked %s, want the rank with the fewest requests", got)
	}
	if got := p.Acquire(nil); got != "" {
		t.Errorf("picked %q from nothing", got)
	}
}

func TestFind(t *testing.T) {
	cases := []struct {
		name  string
		route Route
		url   string
		want  bool
	}{
		{"an empty rule matches all", Route{}, "http://h/v1/models", true},
		{"a prefix matches whole elements", Route{Matches: []Match{{Prefix: "/v1"}}}, "http://h/v1/models", true},
		{"a prefix does not match half an element", Route{Matches: []Match{{Prefix: "/v1"}}}, "http://h/v1beta", false},
		{"the prefix / matches all", Route{Matches: []Match{{Prefix: "/"}}}, "http://h/x", true},
		{"an exact path", Route{Matches: []Match{{Exact: "/health"}}}, "http://h/health", true},
		{"a header that is missing", Route{Matches: []Match{{Headers: map[string]string{"X-Gateway-Model-Name": "m"}}}}, "http://h/", false},
		{"one of two matches", Route{Matches: []Match{{Exact: "/a"}, {Exact: "/b"}}}, "http://h/b", true},
		{"a host with a port", Route{Hosts: []string{"h.example"}}, "http://h.example:80/", true},
		{"a wildcard host", Route{Hosts: []string{"*.example"}}, "http://h.example/", true},
		{"another host", Route{Hosts: []string{"h.example"}}, "http://g.example/", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			table := &Table{Routes: []Route{c.route}}
			if got := table.Find(httptest.NewRequest(http.MethodGet, c.url, nil)) != nil; got != c.want {
				t.Errorf("match is %v, want %v", got, c.want)
			}
		})
	}
}

func TestByPrecedence(t *testing.T) {
	routes := []Route{
		{Name: "all"}, {Name: "v1", Matches: []Match{{Prefix: "/v1"}}}, {Name: "v1/models", Matches: []Match{{Prefix: "/v1/models"}}},
		{Name: "header", Matches: []Match{{Headers: map[string]string{"A": "b"}}}}, {Name: "exact", Matches: []Match{{Exact: "/v1"}}}, {Name: "all again"},
	}
	ByPrecedence(routes)
	var got []string
	for _, r := range routes {
		got = append(got, r.Name)
	}
	if want := "exact,v1/models,v1,header,all,all again"; strings.Join(got, ",") != want {
		t.Errorf("order is %v, want %s", got, want)
	}
}

// BenchmarkStream passes one chunk per iteration through gateway, with engine and client in the same process, over 200
// streams; ns/op is therefore the cost of all three.
func BenchmarkStream(b *testing.B) {
	for _, through := range []string{"gateway", "direct"} {
		b.Run(through, func(b *testing.B) { benchmarkStream(b, through == "gateway") })
	}
}

func benchmarkStream(b *testing.B, gateway bool) {
	const streams = 200
	chunk := []byte("data: " + strings.Repeat("x", 200) + "\n\n")
	each := b.N/streams + 1
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for range each {
			if _, err := w.Write(chunk); err != nil {
				return
			}
			w.(http.Flusher).Flush()
		}
	}))
	defer s.Close()
	url := s.URL
	if gateway {
		g := New(&Picker{}, Transport())
		g.Set(&Table{Routes: []Route{{Pool: &Pool{Decode: []string{strings.TrimPrefix(s.URL, "http://")}}}}})
		srv, err := Listen(b.Context(), "127.0.0.1", 0, g, b.Logf)
		if err != nil {
			b.Fatal(err)
		}
		defer srv.Close()
		url = "http://" + srv.Address
	}
	b.ResetTimer()
	errs := make(chan error, streams)
	for range streams {
		go func() { errs <- drain(b.Context(), url) }()
	}
	for range streams {
		if err := <-errs; err != nil {
			b.Fatal(err)
		}
	}
}

func drain(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader("{}"))
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}
