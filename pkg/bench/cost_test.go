package bench_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/mifbench/mifbench/pkg/bench"
	"github.com/mifbench/mifbench/pkg/bench/arrival"
	"github.com/mifbench/mifbench/pkg/bench/calibrate"
	"github.com/mifbench/mifbench/pkg/bench/client"
	"github.com/mifbench/mifbench/pkg/bench/record"
)

// TestCost compares what a token costs in CPU: a reader that only counts line ends (the
// floor), plain net/http with encoding/json, and this package with both transports and
// records written. Each runs in a process of its own on one P against one simulator; the
// figures are the medians of the rounds.
func TestCost(t *testing.T) {
	loads := os.Getenv("MIFBENCH_COST")
	if loads == "" {
		t.Skip(`set MIFBENCH_COST, such as "1000x20ms,10800x164ms" (streams x gap), and MIFBENCH_ROUNDS for more than one`)
	}
	rounds, _ := strconv.Atoi(os.Getenv("MIFBENCH_ROUNDS")) // 0: one
	for _, load := range strings.Split(loads, ",") {
		n, g, _ := strings.Cut(load, "x")
		gap, err := time.ParseDuration(g)
		if err != nil {
			t.Fatal(err)
		}
		url := startSim(t, 50*time.Millisecond, gap)
		roles := []string{"floor", "lean", "standard", "json"}
		seen := map[string][]cost{}
		for range max(1, rounds) {
			for _, role := range roles {
				seen[role] = append(seen[role], costOf(t, start(t, role, url, n, gap.String())))
			}
		}
		costTable(t, load, roles, seen)
	}
}

// costTable prints the medians and holds our own to 1.10 of the floor.
func costTable(t *testing.T, load string, roles []string, seen map[string][]cost) {
	t.Helper()
	floor, plain := median(seen["floor"]), median(seen["json"])
	fmt.Printf("\n%s (streams x gap), GOMAXPROCS 1, medians of %d\n| client | tokens/s | CPU s per M tokens | × floor | × net/http + encoding/json | cores | joined reads | RSS MB |\n|---|---|---|---|---|---|---|---|\n", load, len(seen["floor"]))
	names := map[string]string{"floor": "floor: read, count line ends", "lean": "mifbench", "standard": "mifbench on net/http", "json": "net/http + encoding/json"}
	for _, role := range roles {
		c := median(seen[role])
		joined := "n/a"
		if role != "json" {
			joined = fmt.Sprintf("%.3f %%", 100*c.Joined)
		}
		fmt.Printf("| %s | %.0f | %.2f | %.2f | %.2f | %.2f | %s | %d |\n", names[role], c.Tokens/c.Seconds, c.perMillion(),
			c.perMillion()/floor.perMillion(), c.perMillion()/plain.perMillion(), c.CPU/c.Seconds, joined, c.RSS>>20)
	}
	ours := median(seen["lean"])
	fmt.Printf("mifbench says of itself: %s\n", ours.Verdict)
	// Joined reads make a token cheap: a floor that fell behind is no floor.
	if x := ours.perMillion() / floor.perMillion(); heavy() && floor.Joined < 0.001 && ours.Joined < 0.001 && x > 1.10 {
		t.Errorf("%s: ours costs %.2f times the floor, want 1.10 at most", load, x)
	}
}

func median(c []cost) cost {
	c = slices.Clone(c)
	slices.SortFunc(c, func(a, b cost) int { return cmp.Compare(a.perMillion(), b.perMillion()) })
	return c[len(c)/2]
}

// cost is what a client used in its steady window.
type cost struct {
	CPU, Seconds, Tokens float64
	// Joined is the share of tokens that came by a read together with others.
	Joined  float64
	RSS     int64
	Verdict string `json:",omitempty"`
}

func (c cost) perMillion() float64 { return c.CPU / c.Tokens * 1e6 }

// shape is a load: streams at a gap, measured between two instants.
type shape struct {
	url         string
	n           int
	gap         time.Duration
	from, until time.Duration
}

func (s shape) tokens() int { return int((s.until+2*time.Second)/s.gap) + 1 }

func (s shape) ramp() time.Duration {
	return time.Duration(float64(s.n) / s.perSecond() * float64(time.Second))
}

// perSecond is how many connections are opened a second: handshakes take both sides' CPU.
func (s shape) perSecond() float64 {
	if strings.HasPrefix(s.url, "https") {
		return 600
	}
	return 2000
}

func playClient(ctx context.Context, role string, args []string) error {
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	gap, err := time.ParseDuration(args[2])
	if err != nil {
		return err
	}
	s := shape{url: args[0], n: n, gap: gap}
	s.from = s.ramp() + 2*time.Second
	s.until = s.from + 6*time.Second
	runtime.GOMAXPROCS(1)
	if role == "calibrate" {
		l, err := calibrate.Measure(ctx, calibratePlan(s.url), n, gap)
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(l)
	}
	var c cost
	switch role {
	case "floor", "json":
		c, err = plainClient(s, role)
	default:
		c, err = ourClient(ctx, s, client.Transport(role))
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(c)
}

func costOf(t *testing.T, p *process) cost {
	t.Helper()
	var c cost
	if err := json.Unmarshal([]byte(p.line(t)), &c); err != nil {
		t.Fatalf("%s: %v", p.role, err)
	}
	return c
}

func level(t *testing.T, p *process) calibrate.Level {
	t.Helper()
	var l calibrate.Level
	if err := json.Unmarshal([]byte(p.line(t)), &l); err != nil {
		t.Fatalf("%s: %v", p.role, err)
	}
	return l
}

// use reads CPU time and the largest resident size.
func use() (time.Duration, int64) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0, 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), u.Maxrss << 10
}

// ourClient runs the real thing with records written to a file.
func ourClient(ctx context.Context, s shape, tr client.Transport) (cost, error) {
	dir, err := os.MkdirTemp("", "cost")
	if err != nil {
		return cost{}, err
	}
	defer os.RemoveAll(dir)
	w, err := record.Create(dir+"/records", record.Header{}, record.WriterOptions{})
	if err != nil {
		return cost{}, err
	}
	stop := make(chan struct{})
	var c cost
	var cpu0 time.Duration
	var first, last bench.Event
	progress := func(e bench.Event) {
		switch {
		case e.Elapsed < s.from:
		case first.Elapsed == 0:
			first = e
			cpu0, _ = use()
		case e.Elapsed >= s.until && last.Elapsed == 0:
			last = e
			cpu, rss := use()
			c = cost{CPU: (cpu - cpu0).Seconds(), Seconds: (e.Elapsed - first.Elapsed).Seconds(), Tokens: float64(e.Tokens - first.Tokens), RSS: rss}
			close(stop)
		}
	}
	out, err := bench.Run(ctx, bench.Scenario{
		Client: client.Options{BaseURLs: []string{s.url}, Transport: tr, Timeouts: client.DefaultTimeouts(), TLS: client.TLS{Insecure: true}},
		Params: client.Params{Model: "simulated", IgnoreEOS: true}, Source: text(512), OutputTokens: s.tokens(),
		MaxConcurrency: s.n, Arrival: arrival.Spec{Process: "constant", Rate: s.perSecond(), Requests: int64(s.n)},
		Stop: stop, Drain: bench.Drain{Cancel: true}, SkipProbe: true, // a probe would be as long as a stream
	}, w, progress)
	v := out.Proof.Judge(bench.DefaultBounds())
	c.Verdict = strings.Join(append([]string{string(v.Class)}, v.Reasons...), "; ")
	c.Joined = float64(out.Proof.Coalesced) / float64(max(1, out.Proof.Events))
	return c, errors.Join(err, w.Close())
}

// plainClient runs a goroutine per stream that only reads, in one of two ways.
func plainClient(s shape, role string) (cost, error) {
	var tokens, joined atomic.Int64
	read := func(s shape, tokens *atomic.Int64) error { return readLines(s, tokens, &joined) }
	if role == "json" {
		http.DefaultTransport.(*http.Transport).MaxIdleConnsPerHost = s.n
		read = readJSON
	}
	begin := time.Now()
	fail := make(chan error, s.n)
	for i := range s.n {
		go func() {
			time.Sleep(time.Until(begin.Add(time.Duration(i) * time.Second / 2000)))
			if err := read(s, &tokens); err != nil {
				fail <- err
			}
		}()
	}
	time.Sleep(time.Until(begin.Add(s.from)))
	cpu0, _ := use()
	t0, n0, j0 := time.Now(), tokens.Load(), joined.Load()
	time.Sleep(time.Until(begin.Add(s.until)))
	cpu, rss := use()
	select {
	case err := <-fail:
		return cost{}, err
	default:
	}
	n := float64(tokens.Load() - n0)
	return cost{CPU: (cpu - cpu0).Seconds(), Seconds: time.Since(t0).Seconds(), Tokens: n, Joined: float64(joined.Load()-j0) / max(1, n), RSS: rss}, nil
}

func requestBody(s shape) string {
	return fmt.Sprintf(`{"model":"simulated","prompt":"hello","max_tokens":%d,"stream":true,"ignore_eos":true}`, s.tokens())
}

// readLines is the floor: net.Conn.Read and a count of the blank lines.
func readLines(s shape, tokens, joined *atomic.Int64) error {
	addr := strings.TrimPrefix(s.url, "http://")
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	body := requestBody(s)
	if _, err := fmt.Fprintf(c, "POST /v1/completions HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", addr, len(body), body); err != nil {
		return err
	}
	buf := make([]byte, 4096)
	for {
		n, err := c.Read(buf)
		if err != nil {
			return err
		}
		events := int64(bytes.Count(buf[:n], []byte("\n\n")))
		if tokens.Add(events); events > 1 {
			joined.Add(events)
		}
	}
}

// readJSON is what one writes first: net/http, bufio and encoding/json.
func readJSON(s shape, tokens *atomic.Int64) error {
	resp, err := http.Post(s.url+"/v1/completions", "application/json", strings.NewReader(requestBody(s)))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	r := bufio.NewReader(resp.Body)
	var times []time.Time
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok || strings.HasPrefix(data, "[DONE]") {
			continue
		}
		var c struct{ Choices []struct{ Text string } }
		if err := json.Unmarshal([]byte(data), &c); err != nil {
			return err
		}
		if len(c.Choices) > 0 && c.Choices[0].Text != "" {
			times = append(times, time.Now()) //nolint:staticcheck // the cost of keeping them is what is measured
			tokens.Add(1)
		}
	}
}
