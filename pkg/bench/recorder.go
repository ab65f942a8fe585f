package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mifbench/mifbench/pkg/bench/client"
	"github.com/mifbench/mifbench/pkg/bench/record"
)

// queueLen is how many finished requests may wait for the sink before they hold up
// their slots. Their events are compact, so this is bounded memory.
const queueLen = 512

// errSink marks the end of a run whose records could not be kept.
var errSink = errors.New("records cannot be kept")

// recorder hands results to the sink, one at a time.
type recorder struct {
	sink    Sink
	queue   chan *client.Result
	pool    *sync.Pool
	wait    atomic.Int64 // ns that finished requests waited for the queue
	until   atomic.Int64 // when we hung up, 0 if we did not
	count   map[record.Status]int64
	proof   counts
	err     error
	written int64
}

// counts are what the proof needs of the records.
type counts struct {
	events, coalesced, tokens int64
	kernelEvents              int64
	maxLag                    time.Duration
}

func newRecorder(sink Sink, pool *sync.Pool) *recorder {
	return &recorder{sink: sink, queue: make(chan *client.Result, queueLen), pool: pool, count: map[record.Status]int64{}}
}

// put queues a result; it waits when the sink is slow.
func (r *recorder) put(res *client.Result) {
	select {
	case r.queue <- res:
		return
	default:
	}
	begin := time.Now()
	cancelled := res.Rec.Status == record.Cancelled // all at once, when there is no load to disturb
	r.queue <- res
	if !cancelled {
		r.wait.Add(int64(time.Since(begin)))
	}
}

func (r *recorder) close() { close(r.queue) }

// loop writes until the queue is closed. After an error it only counts, and the run is
// cancelled: load whose outcome is lost is of no use.
func (r *recorder) loop(cancel context.CancelCauseFunc) {
	var buf []record.Event
	for res := range r.queue {
		rec := res.Record(buf)
		buf = rec.Events
		r.note(res, rec)
		if r.err == nil {
			if err := r.sink.Write(rec); err != nil {
				r.err = fmt.Errorf("%w: record of request %d: %w", errSink, rec.Index, err)
				cancel(r.err)
			} else {
				r.written++
			}
		}
		r.pool.Put(res)
	}
}

func (r *recorder) note(res *client.Result, rec record.Record) {
	r.count[rec.Status]++
	n := int64(len(rec.Events))
	r.proof.events += n
	r.proof.coalesced += coalesced(res.Coalesced, rec.Events, r.until.Load())
	r.proof.tokens += res.Tokens
	if rec.KernelClock {
		r.proof.kernelEvents += n
	}
	r.proof.maxLag = max(r.proof.maxLag, time.Duration(rec.MaxLag))
}

// coalesced counts the coalesced events until an instant; all is their number where there is none.
func coalesced(all int64, events []record.Event, until int64) int64 {
	if until == 0 || all == 0 {
		return all
	}
	n := int64(0)
	for _, e := range events {
		if e.Coalesced && e.At <= until {
			n++
		}
	}
	return n
}
