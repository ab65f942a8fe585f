package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mifbench/mifbench/pkg/bench/benchtest"
)

func testStart() time.Time { return time.Now() }

// collect is an eventHandler and an httpHandler that keeps what it gets.
type collect struct {
	events []string
	status int
	text   []byte
}

func (c *collect) event(name, data []byte) error {
	c.events = append(c.events, string(name)+"|"+string(data))
	return nil
}

func (c *collect) head(status int, _ string, _ int64) { c.status = status }

func (c *collect) body(b []byte, _ arrival) error {
	c.text = append(c.text, b...)
	return nil
}

// simpleSSE is the specification read aloud: whole text, line by line.
func simpleSSE(b []byte) []string {
	s := strings.TrimPrefix(string(b), "\ufeff")
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	var out, data []string
	name := ""
	lines := strings.Split(s, "\n")
	for _, l := range lines[:len(lines)-1] {
		field, value, _ := strings.Cut(l, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case l == "":
			if data != nil {
				out = append(out, name+"|"+strings.Join(data, "\n"))
			}
			data, name = nil, ""
		case field == "data":
			data = append(data, value)
		case field == "event":
			name = value
		}
	}
	return out
}

func FuzzSSE(f *testing.F) {
	for _, s := range []string{"data: a\n\n", "data:a\r\ndata: b\r\r", ": c\n\nevent: e\ndata\n\n", "\xef\xbb\xbfdata: x\n\n", "data: a\n\ndata: b"} {
		f.Add([]byte(s), uint64(1))
	}
	f.Fuzz(func(t *testing.T, b []byte, seed uint64) {
		// The BOM and CR handling of the simple reading need the text to end in whole lines.
		var s sse
		var got collect
		for _, p := range pieces(rand.New(rand.NewPCG(seed, 1)), b) {
			if err := s.feed(append([]byte(nil), p...), &got); err != nil {
				t.Fatal(err)
			}
		}
		if want := simpleSSE(b); !cmp.Equal(want, got.events) {
			t.Errorf("events (-want +got):\n%s", cmp.Diff(want, got.events))
		}
	})
}

// FuzzChunk compares the walker with encoding/json on whatever that accepts.
func FuzzChunk(f *testing.F) {
	f.Add([]byte(benchtest.Token("a")))
	f.Add([]byte(benchtest.Usage(3, 4)))
	f.Add([]byte(`{"choices":[{"delta":{"content":"x","tool_calls":[{}]},"finish_reason":"stop"}],"error":null}`))
	f.Add([]byte(`{"error":{"message":"m\"\\"},"a":[1,{"b":[]},-1.5e+3,true,null]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var c chunk
		ok := c.parse(b)
		if !json.Valid(b) || bytes.TrimLeft(b, " \t\r\n")[0] != '{' || deep(b) {
			return
		}
		if !ok {
			t.Fatalf("valid JSON refused: %q", b)
		}
		var ref map[string]json.RawMessage
		if json.Unmarshal(b, &ref) != nil || bytes.Contains(b, []byte{'\\'}) || repeated(b) {
			return // keys with escapes and repeated keys are read differently, on purpose
		}
		var choices []map[string]json.RawMessage
		if json.Unmarshal(ref["choices"], &choices) != nil {
			return
		}
		want := false
		for _, ch := range choices {
			var text string
			if json.Unmarshal(ch["text"], &text) == nil && text != "" {
				want = true
			}
		}
		if want && !c.answer {
			t.Errorf("text not seen in %q", b)
		}
	})
}

// FuzzTemplate: a chunk that matches the shape of another says what the parser reads.
func FuzzTemplate(f *testing.F) {
	f.Add([]byte(benchtest.Token("a")), []byte(benchtest.Token("bc")))
	f.Add([]byte(`{"choices":[{"text":"a"},{"text":"b"}]}`), []byte(`{"choices":[{"text":"x"},{"text":"b"}]}`))
	f.Add([]byte(`{"choices":[{"delta":{"reasoning":"a","content":""}}]}`), []byte(`{"choices":[{"delta":{"reasoning":"b","content":""}}]}`))
	f.Add([]byte(`{"choices":[{"text":"a"}]}`), []byte(`{"choices":[{"text":"a\"}]}`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		var shape template
		var first, got, want chunk
		if !first.parse(a) {
			return
		}
		shape.learn(a, &first)
		if !shape.match(b, &got) {
			return
		}
		if !want.parse(b) || !cmp.Equal(got, want, cmp.AllowUnexported(chunk{})) {
			t.Errorf("%q after %q:\n%s", b, a, cmp.Diff(want, got, cmp.AllowUnexported(chunk{})))
		}
	})
}

// deep tells whether b nests more than the walker allows.
func deep(b []byte) bool {
	return bytes.Count(b, []byte{'['})+bytes.Count(b, []byte{'{'}) > maxDepth
}

// repeated tells whether a key that matters may occur twice.
func repeated(b []byte) bool {
	low := bytes.ToLower(b)
	return bytes.Count(low, []byte(`"choices"`)) > 1 || bytes.Count(low, []byte(`"text"`)) > 1
}

func FuzzHTTP1(f *testing.F) {
	for _, s := range []string{
		benchtest.Head + benchtest.Chunk("hello") + benchtest.Tail,
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 429 X\r\nContent-Length: 3\r\n\r\nabc",
		"HTTP/1.0 200 OK\n\nuntil the end", "HTTP/1.1 204 X\r\n\r\n", benchtest.Head + "5;ext=1\r\nhello\r\n0\r\nTrailer: x\r\n\r\n",
	} {
		f.Add([]byte(s), uint64(1))
	}
	f.Fuzz(func(t *testing.T, b []byte, seed uint64) {
		run := func(ps [][]byte) (string, bool) {
			var p http1
			var c collect
			done, err := false, error(nil)
			for _, piece := range ps {
				if done, err = p.feed(append([]byte(nil), piece...), arrival{}, &c); done || err != nil {
					break
				}
			}
			return fmt.Sprint(c.status, string(c.text), done), err != nil
		}
		whole, bad := run([][]byte{b})
		split, splitBad := run(pieces(rand.New(rand.NewPCG(seed, 2)), b))
		if bad != splitBad || !bad && whole != split {
			t.Errorf("whole %q (error %v), split %q (error %v)", whole, bad, split, splitBad)
		}
	})
}

func TestHTTP1Framing(t *testing.T) {
	cases := []struct {
		name, in     string
		status       int
		body         string
		done, reuse  bool
		errorWanted  bool
		untilTheEnds bool
	}{
		{name: "chunks with extension and trailer", in: benchtest.Head + "5;x=1\r\nhello\r\n1\r\n!\r\n0\r\nA: b\r\n\r\n", status: 200, body: "hello!", done: true, reuse: true},
		{name: "by length", in: "HTTP/1.1 500 E\r\ncontent-length: 2\r\n\r\nno", status: 500, body: "no", done: true, reuse: true},
		{name: "no body", in: "HTTP/1.1 200 E\r\nContent-Length: 0\r\n\r\n", status: 200, done: true, reuse: true},
		{name: "until the connection closes", in: "HTTP/1.1 200 E\r\n\r\nabc", status: 200, body: "abc", untilTheEnds: true},
		{name: "informational first", in: "HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 204 E\r\n\r\n", status: 204, done: true, reuse: true},
		{name: "connection: close", in: "HTTP/1.1 200 E\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx", status: 200, body: "x", done: true},
		{name: "HTTP/1.0 closes unless it says otherwise", in: "HTTP/1.0 200 E\r\nContent-Length: 1\r\n\r\nx", status: 200, body: "x", done: true},
		{name: "HTTP/1.0 keep-alive", in: "HTTP/1.0 200 E\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\nx", status: 200, body: "x", done: true, reuse: true},
		{name: "bytes beyond the end", in: "HTTP/1.1 200 E\r\nContent-Length: 1\r\n\r\nxyz", status: 200, body: "x", done: true},
		{name: "not HTTP", in: "SSH-2.0-x\r\n", errorWanted: true},
		{name: "bad chunk size", in: benchtest.Head + "zz\r\n", status: 200, errorWanted: true},
		{name: "chunk longer than it says", in: benchtest.Head + "1\r\nxyz\r\n", status: 200, body: "x", errorWanted: true},
		{name: "two lengths", in: "HTTP/1.1 200 E\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", errorWanted: true},
		{name: "compressed", in: "HTTP/1.1 200 E\r\nContent-Encoding: gzip\r\n\r\n", errorWanted: true},
		{name: "switching protocols", in: "HTTP/1.1 101 E\r\n\r\n", errorWanted: true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var p http1
			var got collect
			done, err := p.feed([]byte(c.in), arrival{}, &got)
			if (err != nil) != c.errorWanted || done != c.done || got.status != c.status || string(got.text) != c.body || err == nil && (p.reuse != c.reuse || p.toClose != c.untilTheEnds) {
				t.Errorf("status %d body %q done %v reuse %v error %v", got.status, got.text, done, p.reuse, err)
			}
		})
	}
}

// One token event, from the read to the log, allocates nothing.
func BenchmarkTokenEvent(b *testing.B) {
	var res Result
	var count atomic.Int64
	var p http1
	k := call{res: &res, dog: new(watchdog), client: &Client{}}
	k.dog.clock = NewClock(time.Now())
	k.req = &Request{Stream: true}
	res.Reset(int32(min(b.N, 1<<26)))
	k.stream.reset(&res, nil, &count)
	if _, err := p.feed([]byte(benchtest.Head), arrival{}, &k); err != nil {
		b.Fatal(err)
	}
	msg := []byte(benchtest.Chunk(benchtest.Data(benchtest.Token(" 1764000000000000000"))))
	b.SetBytes(int64(len(msg)))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if i%4096 == 0 {
			res.log.reset(4096) // as a new request does
		}
		if _, err := p.feed(msg, arrival{at: int64(i) * 20e6, group: uint64(i), kernel: true}, &k); err != nil {
			b.Fatal(err)
		}
	}
}

func TestTokenEventAllocatesNothing(t *testing.T) {
	if n := testing.Benchmark(BenchmarkTokenEvent).AllocsPerOp(); n != 0 {
		t.Errorf("%d allocations per token event", n)
	}
}
