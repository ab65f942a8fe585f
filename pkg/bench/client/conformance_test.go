package client

import (
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mifbench/mifbench/pkg/bench/record"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// reading is what a stream's golden file holds.
type reading struct {
	Status          record.Status
	Error           string `json:",omitempty"`
	Tokens          []string
	Counts          []int32
	Finish          string `json:",omitempty"`
	ReasoningEvents int32  `json:",omitempty"`
	UsagePrompt     int32
	UsageCompletion int32
	CachedTokens    int32
}

// read feeds a stream in pieces and returns what the client makes of it.
func read(pieces ...[]byte) (reading, record.Record) {
	var res Result
	res.Reset(8)
	var count atomic.Int64
	var out reading
	k := call{client: &Client{}, res: &res, dog: new(watchdog)}
	k.dog.clock = NewClock(testStart())
	k.dog.stop()
	k.req = &Request{Stream: true}
	k.stream.reset(&res, func(_ int64, text []byte, _ int64, _ bool) { out.Tokens = append(out.Tokens, string(text)) }, &count)
	k.head(200, "text/event-stream", 1)
	var err error
	for i, p := range pieces {
		if err = k.body(append([]byte(nil), p...), arrival{at: int64(i + 1), group: uint64(i + 1), kernel: true}); err != nil {
			k.broke(err, nil, streaming)
			break
		}
	}
	if err == nil {
		k.finish(true)
	}
	r := res.Record(nil)
	for _, e := range r.Events {
		out.Counts = append(out.Counts, e.Tokens)
	}
	out.Status, out.Error, out.Finish, out.ReasoningEvents = r.Status, r.Error, r.FinishReason, r.ReasoningEvents
	out.UsagePrompt, out.UsageCompletion, out.CachedTokens = r.UsagePrompt, r.UsageCompletion, r.CachedTokens
	return out, r
}

// Recorded-style streams of several servers give the same reading whole, cut in two at
// every byte, byte by byte, and in random pieces.
func TestConformance(t *testing.T) {
	files, err := filepath.Glob("testdata/streams/*.sse")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d streams, %v", len(files), err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".sse")
		t.Run(name, func(t *testing.T) {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			got, _ := read(b)
			compareGolden(t, strings.TrimSuffix(f, ".sse")+".json", got)
			same := func(what string, pieces ...[]byte) {
				if other, _ := read(pieces...); !cmp.Equal(got, other) {
					t.Fatalf("%s (-whole +split):\n%s", what, cmp.Diff(got, other))
				}
			}
			for i := range b {
				same("cut at "+string(b[i:min(len(b), i+10)]), b[:i], b[i:])
			}
			single := make([][]byte, len(b))
			for i := range b {
				single[i] = b[i : i+1]
			}
			same("byte by byte", single...)
			r := rand.New(rand.NewPCG(1, 1))
			for range 100 {
				same("random pieces", pieces(r, b)...)
			}
		})
	}
}

func pieces(r *rand.Rand, b []byte) [][]byte {
	var out [][]byte
	for len(b) > 0 {
		n := 1 + r.IntN(min(len(b), 200))
		out, b = append(out, b[:n]), b[n:]
	}
	return out
}

func compareGolden(t *testing.T, path string, got reading) {
	t.Helper()
	if *update {
		b, err := json.MarshalIndent(got, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append(b, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var want reading
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("reading (-want +got):\n%s", d)
	}
}

// Events of one read are marked, the first included; those of reads of their own are not.
func TestCoalescedReadsAreMarked(t *testing.T) {
	e := []byte("data: {\"choices\":[{\"text\":\"x\"}]}\n\n")
	two := append(append([]byte(nil), e...), e...)
	_, r := read(e, two, e, []byte("data: [DONE]\n\n"))
	var got []bool
	for _, ev := range r.Events {
		got = append(got, ev.Coalesced)
	}
	if d := cmp.Diff([]bool{false, true, true, false}, got); d != "" {
		t.Errorf("coalesced (-want +got):\n%s", d)
	}
}

func TestEventLogRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var l eventLog
	l.reset(10)
	var want []record.Event
	at := int64(5e12)
	for i := range 3000 {
		at += r.Int64N(1 << (1 + r.IntN(38)))
		e := record.Event{At: at, Tokens: int32(r.IntN(3) * r.IntN(100000)), Coalesced: i%5 == 0}
		l.add(e.At, e.Tokens, e.Coalesced)
		if i%7 == 0 {
			e.Coalesced = true
			l.markLast()
		}
		want = append(want, e)
	}
	if d := cmp.Diff(want, l.appendTo(nil)); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
}
