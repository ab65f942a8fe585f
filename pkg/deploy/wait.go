package deploy

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mifbench/mifbench/pkg/plan"
)

// wait runs the driver's Wait, passes its reports on as Progress events, and repeats the last
// one at each heartbeat. The first interrupt ends it with errCut.
func (r *runner) wait(ctx context.Context, c plan.Change, req Request, start time.Time) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var last reason
	report := func(p plan.Readiness) {
		last.set(p)
		r.emit(Progress{stepOf(c), p, time.Since(start)})
	}
	var beat sync.WaitGroup
	beat.Go(func() { r.beat(ctx, cancel, c, &last, start) })
	err := driver(r.Drivers, c.ID).Wait(ctx, req, report)
	cut := errors.Is(context.Cause(ctx), errCut)
	cancel(nil)
	beat.Wait()
	if err != nil && cut {
		return errCut
	}
	return err
}

// apply runs the driver's Apply, which may have to wait, too: for a chart's hooks, say. An
// interrupt lets it come to its end.
func (r *runner) apply(ctx context.Context, c plan.Change, req Request, start time.Time) (Result, error) {
	done := make(chan struct{})
	var last reason
	last.set(plan.Readiness{Reason: "being applied"})
	req.Report = func(p plan.Readiness) {
		last.set(p)
		r.emit(Progress{stepOf(c), p, time.Since(start)})
	}
	var beat sync.WaitGroup
	beat.Go(func() {
		t := time.NewTicker(r.Heartbeat)
		defer t.Stop()
		for {
			select {
			case <-done:
				return
			case <-t.C:
				r.emit(Progress{stepOf(c), last.get(), time.Since(start)})
			}
		}
	})
	res, err := driver(r.Drivers, c.ID).Apply(ctx, req)
	close(done)
	beat.Wait()
	return res, err
}

func (r *runner) beat(ctx context.Context, cancel context.CancelCauseFunc, c plan.Change, last *reason, start time.Time) {
	t := time.NewTicker(r.Heartbeat)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.soft:
			cancel(errCut)
			return
		case <-t.C:
			r.emit(Progress{stepOf(c), last.get(), time.Since(start)})
		}
	}
}

// reason is the newest report of a wait.
type reason struct {
	mu sync.Mutex
	is plan.Readiness
}

func (r *reason) set(p plan.Readiness) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.is = p
}

func (r *reason) get() plan.Readiness {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.is
}
