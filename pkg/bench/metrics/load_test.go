package metrics

import (
	"container/heap"
	"math/rand/v2"

	"github.com/mifbench/mifbench/pkg/bench/record"
)

// load is a synthetic run with known answers: a cap filled by a rate, constant TTFT and ITL
// with a little noise, each output of the same length.
type load struct {
	n, cap   int
	rate     float64
	ttft     int64 // ns
	itl      int64 // ns
	noise    int64 // ± ns on each gap
	isl, osl int
	seed     uint64
}

type slots []int64

func (s slots) Len() int           { return len(s) }
func (s slots) Less(i, j int) bool { return s[i] < s[j] }
func (s slots) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }
func (s *slots) Push(x any)        { *s = append(*s, x.(int64)) }
func (s *slots) Pop() any {
	old := *s
	x := old[len(old)-1]
	*s = old[:len(old)-1]
	return x
}

// run makes the records: request i is intended at i/rate and sent when a slot is free.
func (l load) run() []record.Record {
	rng := rand.New(rand.NewPCG(l.seed, 1))
	var busy slots
	var out []record.Record
	for i := range l.n {
		intended := int64(float64(i) / l.rate * 1e9)
		at := intended
		if len(busy) >= l.cap {
			at = max(at, heap.Pop(&busy).(int64))
		}
		r := l.request(int64(i), intended, at, rng)
		heap.Push(&busy, r.Done)
		out = append(out, r)
	}
	return out
}

func (l load) request(i, intended, at int64, rng *rand.Rand) record.Record {
	r := record.Record{
		Index: i, Intended: intended, Sent: at, Connected: at + 1, FirstByte: at + l.ttft, Status: record.OK, HTTPStatus: 200,
		PromptTokens: int32(l.isl), UsagePrompt: int32(l.isl), UsageCompletion: int32(l.osl), CachedTokens: -1, MaxTokens: int32(l.osl), KernelClock: true,
	}
	t := at + l.ttft
	for range l.osl {
		r.Events = append(r.Events, record.Event{At: t, Tokens: 1})
		t += l.itl
		if l.noise > 0 {
			t += rng.Int64N(2*l.noise) - l.noise
		}
	}
	r.Done = r.Events[l.osl-1].At
	return r
}

const (
	milli = int64(1_000_000)
	sec   = int64(1_000_000_000)
)

// stream is one successful request with chunks at the given ms, sent at ms at.
func stream(at int64, chunks ...int64) record.Record {
	r := record.Record{
		Intended: at * milli, Sent: at * milli, Status: record.OK, HTTPStatus: 200,
		PromptTokens: 100, UsagePrompt: -1, UsageCompletion: -1, CachedTokens: -1,
	}
	for _, c := range chunks {
		r.Events = append(r.Events, record.Event{At: c * milli, Tokens: 1})
	}
	if n := len(chunks); n > 0 {
		r.Done = chunks[n-1]*milli + 1000
	}
	return r
}
