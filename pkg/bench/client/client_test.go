package client_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/mifbench/mifbench/pkg/bench/benchtest"
	"github.com/mifbench/mifbench/pkg/bench/client"
	"github.com/mifbench/mifbench/pkg/bench/record"
)

// transports are run through every case.
func transports() []client.Transport { return []client.Transport{client.Standard, client.Lean} }

// newClient returns a client of one server; edit may change its options.
func newClient(t *testing.T, url string, edit func(*client.Options)) *client.Client {
	t.Helper()
	o := client.Options{BaseURLs: []string{url}, Clock: client.NewClock(time.Now()), Timeouts: client.Timeouts{Dial: 5 * time.Second, Total: 20 * time.Second}}
	if edit != nil {
		edit(&o)
	}
	c, err := client.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func do(ctx context.Context, t *testing.T, c *client.Client) record.Record {
	t.Helper()
	return doBody(ctx, t, c, `{"model":"m","prompt":"hello","stream":true}`)
}

func doBody(ctx context.Context, t *testing.T, c *client.Client, body string) record.Record {
	t.Helper()
	var res client.Result
	c.Do(ctx, &client.Request{Index: 3, Body: []byte(body), MaxTokens: 8, PromptTokens: 2, Stream: true}, &res)
	return res.Record(nil)
}

func TestStream(t *testing.T) {
	for _, tr := range transports() {
		t.Run(string(tr), func(t *testing.T) {
			s := benchtest.Start(t, nil, func(benchtest.Request) []benchtest.Step {
				return benchtest.Stream(5, 30*time.Millisecond, 10*time.Millisecond)
			})
			c := newClient(t, s.URL, func(o *client.Options) { o.Transport = tr })
			for i := range 3 {
				r := do(t.Context(), t, c)
				if r.Status != record.OK || len(r.Events) != 5 || r.UsageCompletion != 5 || r.UsagePrompt != 7 || r.FinishReason != "length" {
					t.Fatalf("record = %+v", r)
				}
				// The kernel switches stamping on a moment after the first socket asked for it, so
				// the machine's first stream may lack stamps; it says so and is not judged here.
				if i > 0 && r.KernelClock != client.KernelStamps() {
					t.Errorf("kernel clock = %v, want %v", r.KernelClock, client.KernelStamps())
				}
				if r.Connected < r.Sent || r.FirstByte < r.Connected || r.Events[0].At-r.FirstByte < 20e6 || r.Done < r.Events[4].At {
					t.Errorf("times out of order: %+v", r)
				}
				if got := s.Requests()[i]; got.Conn != 0 {
					t.Errorf("request %d came on connection %d, want the first again", i, got.Conn)
				}
			}
		})
	}
}

func TestFailures(t *testing.T) {
	stream := func(events ...string) []benchtest.Step {
		steps := []benchtest.Step{{Write: benchtest.Head}}
		for _, e := range events {
			steps = append(steps, benchtest.Step{Write: benchtest.Chunk(benchtest.Data(e))})
		}
		return steps
	}
	tok := benchtest.Token(" x")
	cases := []struct {
		name   string
		steps  []benchtest.Step
		edit   func(*client.Options)
		status record.Status
		tokens int
		text   string
	}{
		{name: "a refusal keeps its message", steps: benchtest.Status(429, `{"error":{"message":"slow down"}}`), status: record.HTTP, text: "status 429: slow down"},
		{name: "an echoed prompt is masked", steps: benchtest.Status(400, `{"detail":"bad: a long secret prompt that nobody may see"}`), status: record.HTTP, text: "status 400: bad: [request]"},
		{name: "an error object in a 200 stream", steps: benchtest.Then(stream(tok, `{"error":{"message":"out of memory","code":500}}`), benchtest.Step{Write: benchtest.Tail}), status: record.InStream, tokens: 1, text: "error in the stream: out of memory"},
		{name: "older vLLM's error object", steps: stream(tok, `{"object":"error","message":"engine dead"}`), status: record.InStream, tokens: 1, text: "error in the stream: engine dead"},
		{name: "a stream that ends early", steps: benchtest.Then(stream(tok, tok), benchtest.Step{Write: benchtest.Tail}), status: record.Truncated, tokens: 2, text: "without finish_reason or [DONE]"},
		{name: "a connection closed in the body", steps: benchtest.Then(stream(tok, tok), benchtest.Step{End: benchtest.Close}), status: record.Truncated, tokens: 2, text: "middle of the body"},
		{name: "a connection reset", steps: benchtest.Then(stream(tok), benchtest.Step{Wait: 20 * time.Millisecond, End: benchtest.Reset}), status: record.Reset, tokens: 1, text: "connection reset"},
		{name: "closed before the response", steps: []benchtest.Step{{End: benchtest.Close}}, status: record.Reset, text: "before the response"},
		{name: "not JSON", steps: stream(tok, "<html>"), status: record.Decode, tokens: 1, text: "event 2 (6 bytes)"},
		{name: "not HTTP", steps: []benchtest.Step{{Write: "SSH-2.0-OpenSSH\r\n\r\n", End: benchtest.Close}}, status: record.Decode, text: ""},
		{name: "no tokens", steps: benchtest.Then(stream(benchtest.Last(""), "[DONE]"), benchtest.Step{Write: benchtest.Tail}), status: record.NoTokens, text: "carried no content"},
		{name: "no token in time", steps: benchtest.Then(stream(), benchtest.Step{End: benchtest.Hang}), edit: func(o *client.Options) { o.Timeouts.FirstByte = 50 * time.Millisecond }, status: record.FirstByte, text: "no token within 50ms"},
		{name: "a stream that stands still", steps: benchtest.Then(stream(tok, tok), benchtest.Step{End: benchtest.Hang}), edit: func(o *client.Options) { o.Timeouts.Idle = 50 * time.Millisecond }, status: record.Idle, tokens: 2, text: "no event for 50ms"},
		{name: "total time over", steps: benchtest.Stream(100, 0, 10*time.Millisecond), edit: func(o *client.Options) { o.Timeouts.Total = 80 * time.Millisecond }, status: record.Timeout, tokens: -1, text: "not done within 80ms"},
		{name: "a body kept open after [DONE] is no failure", steps: benchtest.Then(stream(tok, benchtest.Last(" y"), "[DONE]"), benchtest.Step{End: benchtest.Hang}), status: record.OK, tokens: 2},
		{name: "no [DONE] but a finish reason", steps: benchtest.Then(stream(tok, benchtest.Last(" y")), benchtest.Step{Write: benchtest.Tail}), status: record.OK, tokens: 2},
	}
	for _, tr := range transports() {
		for _, c := range cases {
			t.Run(string(tr)+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				s := benchtest.Start(t, nil, func(benchtest.Request) []benchtest.Step { return c.steps })
				cl := newClient(t, s.URL, func(o *client.Options) {
					o.Transport = tr
					if c.edit != nil {
						c.edit(o)
					}
				})
				r := doBody(t.Context(), t, cl, `{"prompt":"a long secret prompt that nobody may see","stream":true}`)
				if r.Status != c.status || !strings.Contains(r.Error, c.text) {
					t.Errorf("status %s %q, want %s %q", r.Status, r.Error, c.status, c.text)
				}
				if c.tokens >= 0 && len(r.Events) != c.tokens {
					t.Errorf("%d events, want %d", len(r.Events), c.tokens)
				}
				if r.Done < r.Sent {
					t.Errorf("done %d before sent %d", r.Done, r.Sent)
				}
			})
		}
	}
}
