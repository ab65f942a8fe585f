package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mifbench/mifbench/pkg/bench/arrival"
	"github.com/mifbench/mifbench/pkg/bench/client"
	"github.com/mifbench/mifbench/pkg/bench/client/lag"
	"github.com/mifbench/mifbench/pkg/bench/record"
)

// doer sends one request; *client.Client, or a script in tests.
type doer interface {
	Do(ctx context.Context, r *client.Request, res *client.Result)
	// Tokens is how many token events have come so far, of all requests.
	Tokens() int64
	ReceiveLag() lag.Summary
}

// lateAfter is how long after its intended time a send counts as late.
const lateAfter = 10 * time.Millisecond

// errDrainOver cancels what is in flight when the drain's time is over.
var errDrainOver = errors.New("the time to drain was over")

// errAdmissionEnded cancels what is in flight when the scenario says so.
var errAdmissionEnded = errors.New("admission ended")

// Run sends the scenario's requests and returns when every one has been recorded. The
// outcome is valid, and says what was sent, also when an error is returned. progress
// may be nil; it is called at most 4 times a second.
func Run(ctx context.Context, s Scenario, sink Sink, progress func(Event)) (Outcome, error) {
	s = s.withDefaults()
	if err := s.validate(); err != nil {
		return Outcome{}, fmt.Errorf("scenario %q: %w", s.Name, err)
	}
	t, err := client.NewTemplate(s.Client.API, s.Params)
	if err != nil {
		return Outcome{}, fmt.Errorf("scenario %q: %w", s.Name, err)
	}
	var out Outcome
	if !s.SkipPreflight {
		out.Preflight = Preflight(ReadFacts(), needOf(s))
		if err := blocking(out.Preflight); err != nil {
			return out, err
		}
	}
	if !s.SkipProbe {
		if out.Probes, err = probe(ctx, s, t); err != nil {
			return out, err
		}
	}
	err = runWith(ctx, s, t, sink, progress, &out)
	return out, err
}

// runWith prepares, starts the clock and runs with a real client.
func runWith(ctx context.Context, s Scenario, t *client.Template, sink Sink, progress func(Event), out *Outcome) error {
	seq, err := arrival.Schedule(s.Arrival)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p := prepare(ctx, s, t, dues(seq, s.Shard))
	defer p.wg.Wait()
	defer cancel(nil)
	if err := p.filled(ctx, s.Stop); err != nil {
		return err
	}
	start := time.Now()
	if !s.StartAt.IsZero() {
		start = start.Add(time.Until(s.StartAt))
	}
	s.Client.Clock = client.NewClock(start)
	c, err := client.New(s.Client)
	if err != nil {
		return fmt.Errorf("scenario %q: %w", s.Name, err)
	}
	defer c.Close()
	out.Targets = c.Targets()
	if s.Started != nil {
		s.Started(s.Client.Clock)
	}
	r := newRunner(s, c, s.Client.Clock, sink, progress)
	return r.run(ctx, cancel, p, out)
}

// filled waits until requests are prepared.
func (p *preparer) filled(ctx context.Context, stop <-chan struct{}) error {
	select {
	case <-p.full:
		return nil
	case <-stop:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("preparing requests: %w", context.Cause(ctx))
	}
}

// runner is the state of one run.
type runner struct {
	s        Scenario
	doer     doer
	clock    *client.Clock
	progress func(Event)
	cancel   context.CancelCauseFunc
	slots    chan int64 // free slots, each with the time it became free; nil: no cap
	recorder *recorder
	results  sync.Pool
	streams  sync.WaitGroup
	sendLag  lag.Histogram

	sent, inFlight, maxInFlight atomic.Int64
	done, failed                atomic.Int64
	late, waited                atomic.Int64
	lastSent                    atomic.Int64
	hungUp                      atomic.Pointer[lag.Summary] // receive lag until we hung up, if we did
	sourceWait                  time.Duration
	dropped                     int64
	admitted                    int64
}

func newRunner(s Scenario, d doer, clock *client.Clock, sink Sink, progress func(Event)) *runner {
	r := &runner{s: s, doer: d, clock: clock, progress: progress}
	r.results.New = func() any { return new(client.Result) }
	r.recorder = newRecorder(sink, &r.results)
	if s.MaxConcurrency > 0 {
		r.slots = make(chan int64, s.MaxConcurrency)
		for range s.MaxConcurrency {
			r.slots <- 0
		}
	}
	return r
}

// run dispatches, drains and reports. cancel ends ctx, which all requests run under.
func (r *runner) run(ctx context.Context, cancel context.CancelCauseFunc, p *preparer, out *Outcome) error {
	r.cancel = cancel
	meter := startMeter()
	side, stopSide := context.WithCancel(context.WithoutCancel(ctx))
	var helpers sync.WaitGroup
	helpers.Go(func() { r.clock.Track(side) })
	helpers.Go(func() { r.report(side) })
	var writer sync.WaitGroup
	writer.Go(func() { r.recorder.loop(cancel) })

	err := r.dispatch(ctx, p)
	derr := r.drain(ctx, err != nil || r.stopped() || r.s.Arrival.Duration > 0)
	elapsed := r.clock.Now()
	r.recorder.close()
	writer.Wait()
	stopSide()
	helpers.Wait()
	r.outcome(out, meter.stop(elapsed), elapsed)
	out.Interrupted = derr != nil || r.stopped()
	r.emit(r.event(PhaseDone))
	return errors.Join(r.recorder.err, err, derr)
}

func (r *runner) stopped() bool {
	select {
	case <-r.s.Stop:
		return true
	default:
		return false
	}
}

// drain waits for the requests in flight; early tells that admission ended by time,
// Stop or an error rather than because all were sent. Stop may come here as well.
func (r *runner) drain(ctx context.Context, early bool) error {
	done := make(chan struct{})
	go func() {
		r.streams.Wait()
		close(done)
	}()
	if !early {
		select {
		case <-done:
		case <-r.s.Stop:
			early = true
		}
	}
	if early && r.s.Drain.Cancel {
		r.hangUp(errAdmissionEnded)
	}
	if early && r.s.Drain.Timeout > 0 {
		t := time.AfterFunc(r.s.Drain.Timeout, func() { r.hangUp(errDrainOver) })
		defer t.Stop()
	}
	<-done
	cause := context.Cause(ctx)
	if cause == nil || errors.Is(cause, errDrainOver) || errors.Is(cause, errAdmissionEnded) || errors.Is(cause, errSink) {
		return nil
	}
	return fmt.Errorf("run cancelled: %w", cause)
}

// hangUp cancels what is in flight. Hanging up on thousands of streams takes longer than
// their tokens need to come: what is read late from here on proves nothing.
func (r *runner) hangUp(cause error) {
	seen := r.doer.ReceiveLag()
	if r.hungUp.CompareAndSwap(nil, &seen) {
		r.recorder.until.Store(r.clock.Now())
	}
	r.cancel(cause)
}

// receiveLag is that of all that was read before we hung up.
func (r *runner) receiveLag() lag.Summary {
	if seen := r.hungUp.Load(); seen != nil {
		return *seen
	}
	return r.doer.ReceiveLag()
}

// stream runs one request to its record.
func (r *runner) stream(ctx context.Context, q *client.Request, at time.Duration, slot int64) {
	defer r.streams.Done()
	n := r.inFlight.Add(1)
	for old := r.maxInFlight.Load(); n > old && !r.maxInFlight.CompareAndSwap(old, n); old = r.maxInFlight.Load() {
	}
	res := r.results.Get().(*client.Result)
	r.sent.Add(1)
	r.doer.Do(ctx, q, res)
	res.Rec.Intended = int64(at)
	r.judgeSend(res.Rec.Sent, int64(at), slot)
	if res.Rec.Status == record.OK {
		r.done.Add(1)
	} else {
		r.failed.Add(1)
	}
	r.inFlight.Add(-1)
	r.recorder.put(res)
	if r.slots != nil {
		r.slots <- r.clock.Now()
	}
}

// judgeSend counts how late a send was, and how much of that was our own doing: the
// time after it was due and had a slot.
func (r *runner) judgeSend(sent, intended, slot int64) {
	r.sendLag.Add(time.Duration(sent - max(intended, slot)))
	if sent-intended > int64(lateAfter) {
		r.late.Add(1)
	}
	if slot > intended {
		r.waited.Add(1)
	}
	for old := r.lastSent.Load(); sent > old && !r.lastSent.CompareAndSwap(old, sent); old = r.lastSent.Load() {
	}
}
