package client_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mifbench/mifbench/pkg/bench/benchtest"
	"github.com/mifbench/mifbench/pkg/bench/client"
	"github.com/mifbench/mifbench/pkg/bench/record"
)

// The tests named TestRow… are held to docs/benchmark-complaints.md, which says what users of
// other clients complained of.

// onBoth runs a test with both transports against a server that answers with steps.
func onBoth(t *testing.T, steps []benchtest.Step, edit func(*client.Options), test func(*testing.T, *client.Client, *benchtest.Server)) {
	t.Helper()
	for _, tr := range transports() {
		t.Run(string(tr), func(t *testing.T) {
			s := benchtest.Start(t, nil, func(benchtest.Request) []benchtest.Step { return steps })
			test(t, newClient(t, s.URL, func(o *client.Options) {
				o.Transport = tr
				if edit != nil {
					edit(o)
				}
			}), s)
		})
	}
}

func chunks(events ...string) []benchtest.Step {
	steps := []benchtest.Step{{Write: benchtest.Head}}
	for _, e := range events {
		steps = append(steps, benchtest.Step{Write: benchtest.Chunk(benchtest.Data(e))})
	}
	return append(steps, benchtest.Step{Write: benchtest.Chunk(benchtest.Data("[DONE]")) + benchtest.Tail})
}

// vllm-project/vllm#39963: events larger than a read buffer.
func TestRow39963LargeEventsAreReadWhole(t *testing.T) {
	large := fmt.Sprintf(`{"choices":[{"index":0,"text":" x","logprobs":{"tokens":[%q]}}]}`, strings.Repeat("y", 300<<10))
	onBoth(t, chunks(large, large, benchtest.Last(" z"), benchtest.Usage(50_000, 3)), nil, func(t *testing.T, c *client.Client, _ *benchtest.Server) {
		r := doBody(t.Context(), t, c, `{"prompt":"`+strings.Repeat("long ", 50_000)+`"}`)
		if r.Status != record.OK || len(r.Events) != 3 || r.UsagePrompt != 50_000 {
			t.Errorf("%s %s: %d events, usage %d", r.Status, r.Error, len(r.Events), r.UsagePrompt)
		}
	})
}

// vllm-project/vllm#3759, #15106: a first chunk of a role or of no text is no token.
func TestRow3759EmptyFirstChunkIsNoToken(t *testing.T) {
	const wait = 80 * time.Millisecond
	for name, first := range map[string]string{
		"role": `{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}`,
		"text": `{"choices":[{"index":0,"text":""}]}`,
	} {
		steps := chunks(first, benchtest.Token(" a"), benchtest.Last(" b"))
		steps[2].Wait = wait
		t.Run(name, func(t *testing.T) {
			onBoth(t, steps, nil, func(t *testing.T, c *client.Client, _ *benchtest.Server) {
				r := do(t.Context(), t, c)
				if len(r.Events) != 2 || r.Events[0].At-r.Sent < int64(wait) {
					t.Errorf("%s: events %v", r.Status, r.Events)
				}
			})
		})
	}
}

// vllm-project/vllm PR #51172: white space at the border of two reads belongs to the text.
func TestRow51172SpaceAtTheBorderOfReads(t *testing.T) {
	event := benchtest.Data(`{"choices":[{"index":0,"text":" a  b "}]}`)
	for _, cut := range []int{strings.Index(event, " a") + 1, strings.Index(event, "  b") + 1, strings.Index(event, "b ") + 1, len("data:"), len(event) - 1} {
		steps := chunks(benchtest.Token("x"), benchtest.Last("y"))
		parts := []benchtest.Step{{Write: benchtest.Chunk(event[:cut])}, {Write: benchtest.Chunk(event[cut:]), Wait: 15 * time.Millisecond}}
		steps = slices.Insert(steps, 2, parts...)
		var mu sync.Mutex
		var text string
		onBoth(t, steps, func(o *client.Options) {
			text = ""
			o.OnToken = func(_ int64, b []byte, _ int64, _ bool) {
				mu.Lock()
				defer mu.Unlock()
				text += string(b)
			}
		}, func(t *testing.T, c *client.Client, _ *benchtest.Server) {
			if r := do(t.Context(), t, c); r.Status != record.OK || text != "x a  b y" {
				t.Errorf("cut at %d: %s, text %q", cut, r.Status, text)
			}
		})
	}
}

// vllm-project/vllm#28038, llm-d/llm-d-benchmark PR #1787: a long wait for the first token is
// not a stream that stands still, and neither is a long run.
func TestRow28038TimeoutsAreSeparate(t *testing.T) {
	edit := func(o *client.Options) {
		o.Timeouts = client.Timeouts{Dial: time.Second, FirstByte: 10 * time.Second, Idle: time.Second}
	}
	slow := benchtest.Stream(30, 1500*time.Millisecond, 5*time.Millisecond)
	onBoth(t, slow, edit, func(t *testing.T, c *client.Client, _ *benchtest.Server) {
		if r := do(t.Context(), t, c); r.Status != record.OK || len(r.Events) != 30 {
			t.Errorf("a slow first token: %s %s, %d events", r.Status, r.Error, len(r.Events))
		}
	})
	still := benchtest.Then(chunks(benchtest.Token("x"))[:2], benchtest.Step{End: benchtest.Hang})
	onBoth(t, still, edit, func(t *testing.T, c *client.Client, _ *benchtest.Server) {
		if r := do(t.Context(), t, c); r.Status != record.Idle || len(r.Events) != 1 {
			t.Errorf("a stream that stands still: %s %s", r.Status, r.Error)
		}
	})
}

// aio-libs/aiohttp#4067, #1142: connections are kept and used again, all of them: Go's own
// default keeps two a host and would dial for nearly every request.
func TestRow4067ConnectionsAreKept(t *testing.T) {
	const streams = 24
	onBoth(t, benchtest.Stream(2, 5*time.Millisecond, 5*time.Millisecond), func(o *client.Options) { o.MaxConns = streams },
		func(t *testing.T, c *client.Client, s *benchtest.Server) {
			for range 5 {
				var wg sync.WaitGroup
				for range streams {
					wg.Go(func() {
						if r := do(context.WithoutCancel(t.Context()), t, c); r.Status != record.OK {
							t.Errorf("%s %s", r.Status, r.Error)
						}
					})
				}
				wg.Wait()
			}
			conns := map[int]bool{}
			for _, r := range s.Requests() {
				conns[r.Conn] = true
			}
			if len(s.Requests()) != 5*streams || len(conns) > streams {
				t.Errorf("%d requests on %d connections, at most %d are needed", len(s.Requests()), len(conns), streams)
			}
		})
}

// vllm-project/vllm#33412, PR #11384, #19530: without a key there is no Authorization header,
// and a key is never shown.
func TestRow33412NoKeyNoHeader(t *testing.T) {
	steps := benchtest.Status(401, `{"error":{"message":"Incorrect API key provided: sk-secret"}}`)
	for key, want := range map[string][]string{"": nil, "sk-secret": {"Bearer sk-secret"}} {
		onBoth(t, steps, func(o *client.Options) { o.APIKey = key }, func(t *testing.T, c *client.Client, s *benchtest.Server) {
			r := do(t.Context(), t, c)
			if got := s.Requests()[0].Header["Authorization"]; !slices.Equal(got, want) {
				t.Errorf("Authorization %q, want %q", got, want)
			}
			if key != "" && strings.Contains(r.Error, key) {
				t.Errorf("the key is in the error: %s", r.Error)
			}
		})
	}
}
