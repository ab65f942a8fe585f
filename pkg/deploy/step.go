package deploy

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/state"
)

// errCut marks a wait that the interrupt ended: neither done nor failed.
var errCut = errors.New("wait cut short by the interrupt")

// visit does one change. Its error is errCut or an *ObjectError.
func (r *runner) visit(ctx context.Context, c plan.Change) error {
	if c.Action == plan.NoOp {
		return nil
	}
	start := time.Now()
	r.emit(Started{stepOf(c)})
	doing, err := r.do(ctx, c, start)
	switch {
	case err == nil:
		r.emit(Done{stepOf(c), time.Since(start)})
		return nil
	case errors.Is(err, errCut):
		return err
	}
	r.emit(Failed{stepOf(c), err, time.Since(start)})
	if errors.Is(err, ErrUnsaved) {
		r.halt(err)
	}
	return &ObjectError{Address: c.Address, ID: c.ID, Doing: doing, Err: err}
}

// do returns what was being tried when the error came.
func (r *runner) do(ctx context.Context, c plan.Change, start time.Time) (doing string, err error) {
	switch c.Action {
	case plan.Create, plan.Update, plan.Replace, plan.Adopt, plan.Recover, plan.Renew:
		if err := r.put(ctx, c, start); err != nil {
			return string(c.Action), err
		}
		return "wait for", r.ready(ctx, c, start)
	case plan.Wait:
		return "wait for", r.ready(ctx, c, start)
	case plan.Delete:
		return "delete", r.remove(ctx, c, start)
	case plan.Forget, plan.Keep:
		return "record", r.keeper.update(ctx, func(s *state.State) { s.Drop(c.ID) })
	case plan.NoOp:
	}
	return "", nil
}

// put applies the object and records it before anybody waits for it.
func (r *runner) put(ctx context.Context, c plan.Change, start time.Time) error {
	req := r.request(c)
	if c.Seen.Terminating {
		seen, err := r.afterGone(ctx, c, start)
		if err != nil {
			return err
		}
		req.Seen = seen
	}
	ctx, cancel := limited(ctx, c)
	defer cancel()
	res, err := r.apply(ctx, c, req, start)
	for _, w := range res.Warnings {
		r.warn(c, w)
	}
	if err != nil {
		return err
	}
	return r.keeper.update(ctx, func(s *state.State) { s.Put(applied(s, c, res)) })
}

// afterGone waits until an object that is being deleted is gone, and looks again.
func (r *runner) afterGone(ctx context.Context, c plan.Change, start time.Time) (plan.Observation, error) {
	req := r.request(c)
	req.Gone = true
	if err := r.wait(ctx, c, req, start); err != nil {
		return plan.Observation{}, err
	}
	return driver(r.Drivers, c.ID).Observe(ctx, req.Query)
}

// ready waits for readiness and records it.
func (r *runner) ready(ctx context.Context, c plan.Change, start time.Time) error {
	wctx, cancel := limited(ctx, c)
	defer cancel()
	req := r.request(c)
	if e, ok := r.keeper.entry(c.ID); ok {
		req.Prior = &e // with the facts of this apply
	}
	if err := r.wait(wctx, c, req, start); err != nil {
		return err
	}
	return r.keeper.update(ctx, func(s *state.State) {
		e, _ := s.Find(c.ID)
		e = describe(e, c)
		e.Status, e.Updated = state.Ready, now()
		s.Put(e)
	})
}

// remove records the intent, deletes, waits until the object is gone and forgets it.
func (r *runner) remove(ctx context.Context, c plan.Change, start time.Time) error {
	err := r.keeper.update(ctx, func(s *state.State) {
		if e, ok := s.Find(c.ID); ok {
			e.Status, e.Updated = state.Deleting, now()
			s.Put(e)
		}
	})
	if err != nil {
		return err
	}
	dctx, cancel := limited(ctx, c)
	defer cancel()
	req := r.request(c)
	if err := driver(r.Drivers, c.ID).Delete(dctx, req); err != nil {
		return err
	}
	req.Gone = true
	if err := r.wait(dctx, c, req, start); err != nil {
		return err
	}
	return r.keeper.update(ctx, func(s *state.State) { s.Drop(c.ID) })
}

// request is the change as it was planned: the driver makes of it what it showed.
func (r *runner) request(c plan.Change) Request {
	q := Query{Want: c.Want, Prior: c.Prior, Stack: r.Plan.Stack, Salt: r.State.Salt}
	return Request{Query: q, Seen: c.Seen, Replace: c.Action == plan.Replace}
}

// limited is ctx with the author's timeout for the action; without one the driver has its own.
func limited(ctx context.Context, c plan.Change) (context.Context, context.CancelFunc) {
	d := timeout(c)
	if d <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, d, fmt.Errorf("timeout of %s from the block's timeouts is over", d))
}

func timeout(c plan.Change) time.Duration {
	switch {
	case c.Want == nil && c.Prior != nil:
		return c.Prior.Options.DeleteTimeout
	case c.Want == nil:
		return 0
	case c.Action == plan.Create || c.Action == plan.Replace || c.Action == plan.Wait:
		return c.Want.Options.CreateTimeout
	}
	return c.Want.Options.UpdateTimeout
}

func (r *runner) warn(c plan.Change, text string) {
	w := Warning{stepOf(c), text}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.out.Warnings = append(r.out.Warnings, w)
	r.Emit(w)
}

func now() time.Time { return time.Now().UTC().Truncate(time.Second) }
