package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/mifbench/mifbench/pkg/bench/client"
	"github.com/mifbench/mifbench/pkg/bench/record"
)

// admission is how an attempt to admit a request ended.
type admission int

const (
	admitted admission = iota
	noSlot             // the cap was reached and the policy is to drop
	ended              // Stop, the schedule's end of time, or the context
)

// dispatch admits requests at their times until the schedule or admission ends. Of a
// request that was due and got no slot a record says so.
func (r *runner) dispatch(ctx context.Context, p *preparer) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		asked := r.clock.Now()
		q, ok := p.take()
		if !ok || q.err != nil {
			return q.err
		}
		if got := r.clock.Now(); got > max(asked, int64(q.at)) {
			r.sourceWait += time.Duration(got - max(asked, int64(q.at)))
		}
		if !r.wait(ctx, timer, q.at) {
			r.dropDue(q, p)
			return nil
		}
		slot, how := r.slot(ctx, timer)
		switch how {
		case admitted:
			r.admitted++
			r.streams.Add(1)
			go r.stream(ctx, q.req, q.at, slot)
		case noSlot:
			r.drop(q, fmt.Sprintf("due while %d requests were in flight, the cap", r.s.MaxConcurrency))
		case ended:
			r.dropDue(q, p)
			return nil
		}
	}
}

// wait sleeps until the offset; false when admission ended first.
func (r *runner) wait(ctx context.Context, timer *time.Timer, at time.Duration) bool {
	now := time.Duration(r.clock.Now())
	if d := r.s.Arrival.Duration; d > 0 && now >= d && r.s.Arrival.Closed() {
		return false // a closed schedule by time has no end of its own
	}
	left := at - now
	if left <= 0 {
		return ctx.Err() == nil && !r.stopped()
	}
	timer.Reset(left)
	select {
	case <-timer.C:
		return true
	case <-r.s.Stop:
	case <-ctx.Done():
	}
	return false
}

// slot waits for a free slot and returns since when it is free.
func (r *runner) slot(ctx context.Context, timer *time.Timer) (int64, admission) {
	if r.slots == nil {
		return 0, admitted
	}
	select {
	case at := <-r.slots:
		return at, admitted
	default:
	}
	if r.s.Overflow == Drop {
		return 0, noSlot
	}
	var over <-chan time.Time
	if d := r.s.Arrival.Duration; d > 0 {
		timer.Reset(max(0, d-time.Duration(r.clock.Now())))
		over = timer.C
	}
	select {
	case at := <-r.slots:
		return at, admitted
	case <-over:
	case <-r.s.Stop:
	case <-ctx.Done():
	}
	return 0, ended
}

// dropDue records q and those behind it that were due by now, in order. In a closed
// schedule all are due from the start: those not sent are the part not reached.
func (r *runner) dropDue(q ready, p *preparer) {
	if r.s.Arrival.Closed() {
		return
	}
	now := time.Duration(r.clock.Now())
	for ok := true; ok && q.err == nil && q.at <= now; q, ok = p.take() {
		r.drop(q, "admission ended before it had a slot")
	}
}

func (r *runner) drop(q ready, why string) {
	r.dropped++
	res := r.results.Get().(*client.Result)
	res.Reset(0)
	res.Rec.Index, res.Rec.Intended = q.index, int64(q.at)
	res.Rec.MaxTokens, res.Rec.PromptTokens = q.req.MaxTokens, q.req.PromptTokens
	res.Rec.Status, res.Rec.Error = record.Dropped, why
	r.recorder.put(res)
}
