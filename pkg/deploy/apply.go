package deploy

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mifbench/mifbench/internal/dag"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/state"
)

// Run is one apply of a plan.
type Run struct {
	// Plan must come from plan.Build in this process: it carries the desired objects.
	Plan plan.Plan
	// State is what the plan was made from; its lock is held by the caller.
	State state.State
	// Cluster identifies the cluster; what is known of it is recorded with the first save.
	Cluster state.ClusterID
	Drivers map[string]Driver
	Store   Saver
	// Parallel bounds the objects worked on at a time; 0 means DefaultParallel.
	Parallel int
	// Stop is closed at the first interrupt: nothing new is started, API calls in flight are
	// finished, waits are cut short (the objects stay recorded as applied), the state is saved.
	// The second interrupt is the cancellation of Apply's context.
	Stop <-chan struct{}
	// Kept are objects that the configuration leaves in the cluster (keep_on_destroy): a destroy
	// that finds them by their annotation does not report them as left behind.
	Kept []resource.ID
	// Emit receives the events, one at a time; nil for none.
	Emit func(Event)
	// Heartbeat is the interval of Progress events without news; 0 means 10 s.
	Heartbeat time.Duration
}

// Failure is one object that did not get as far as planned.
type Failure struct {
	Step
	Err error
}

// Skip is one object that was not attempted, and why.
type Skip struct {
	Step
	Because string
}

// Outcome is what Apply did. It is complete whether or not there was an error.
type Outcome struct {
	// State is the state as it is now, saved unless the error answers errors.Is with ErrUnsaved.
	State   state.State
	Done    []Step
	Failed  []Failure
	Skipped []Skip
	// Waiting are objects that were applied and whose wait the interrupt cut short.
	Waiting     []Step
	Interrupted bool
	// Remaining is what destroy left behind (see Destroy).
	Remaining []Remaining
	// Verified tells that destroy could look at everything in the end; without it an empty
	// Remaining proves nothing.
	Verified bool
	Warnings []Warning
}

// Apply does what the plan says, in dependency order. It records the planned
// objects before the first change, each object before it is waited for, and saves
// after every object. A failure stops only what depends on it. The error joins
// one *ObjectError a failed object, and ErrInterrupted and ErrUnsaved where they
// apply. A plan with problems is refused before anything happens.
func Apply(ctx context.Context, run Run) (Outcome, error) {
	if err := run.check(); err != nil {
		return Outcome{State: run.State}, err
	}
	r := newRunner(run)
	soft, stop := context.WithCancelCause(ctx)
	r.soft, r.stop = soft.Done(), stop
	defer r.listen()()
	if err := r.begin(ctx); err != nil {
		return Outcome{State: run.State}, fmt.Errorf("%w: the plan could not be recorded first: %w", ErrUntouched, err)
	}
	results := r.walk(ctx, soft)
	return r.finish(ctx, context.Cause(soft), results)
}

// check refuses what must not be started.
func (run Run) check() error {
	if n := len(run.Plan.Problems); n > 0 {
		return fmt.Errorf("the plan has %d problem(s) and cannot be applied: %s", n, run.Plan.Problems[0].Summary)
	}
	if same, comparable := run.State.Cluster().Same(run.Cluster); comparable && !same {
		return fmt.Errorf("the state is of cluster %s, this is cluster %s: check cluster.context", run.State.Cluster(), run.Cluster)
	}
	return nil
}

// runner is one Apply in progress.
type runner struct {
	Run
	keeper *keeper
	// soft ends with the first interrupt or a state that cannot be saved.
	soft    <-chan struct{}
	stop    context.CancelCauseFunc
	changes map[resource.ID]plan.Change

	mu  sync.Mutex // of what follows; events go out under it
	out Outcome
}

func newRunner(run Run) *runner {
	r := &runner{Run: run, changes: map[resource.ID]plan.Change{}}
	if r.Emit == nil {
		r.Emit = func(Event) {}
	}
	if r.Heartbeat <= 0 {
		r.Heartbeat = 10 * time.Second
	}
	r.keeper = newKeeper(run.State, run.Store, func(serial uint64) { r.emit(Saved{serial}) })
	for _, c := range run.Plan.Changes {
		r.changes[c.ID] = c
	}
	return r
}

// listen turns Stop into the end of soft; the result stops listening.
func (r *runner) listen() (done func()) {
	var wait sync.WaitGroup
	wait.Go(func() {
		select {
		case <-r.Stop:
			r.halt(ErrInterrupted)
		case <-r.soft:
		}
	})
	return func() { r.stop(nil); wait.Wait() }
}

// halt starts no new work from now on.
func (r *runner) halt(why error) {
	select {
	case <-r.soft:
		return
	default:
	}
	r.stop(why)
	r.emit(Stopping{Reason: why.Error()})
}

func (r *runner) emit(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Emit(e)
}

func (r *runner) walk(ctx, soft context.Context) map[resource.ID]error {
	g := dag.New[resource.ID]()
	for _, c := range r.Plan.Changes {
		g.Add(c.ID)
	}
	for _, c := range r.Plan.Changes {
		for _, need := range c.DependsOn {
			g.Edge(c.ID, need)
		}
	}
	results, err := g.Walk(soft, parallel(r.Parallel), func(_ context.Context, id resource.ID) error {
		return r.visit(ctx, r.changes[id])
	})
	if err != nil {
		panic(fmt.Sprintf("deploy: the plan has a cycle: %v", err))
	}
	return results
}

// finish sorts the results and saves once more if something is unsaved.
func (r *runner) finish(ctx context.Context, ended error, results map[resource.ID]error) (Outcome, error) {
	var errs []error
	for _, c := range r.Plan.Changes {
		errs = append(errs, r.settle(c, results[c.ID]))
	}
	if errors.Is(ended, ErrInterrupted) || ctx.Err() != nil {
		r.out.Interrupted = true
		errs = append(errs, ErrInterrupted)
	}
	s, err := r.keeper.close(ctx)
	r.out.State = s
	return r.out, errors.Join(append(errs, err)...)
}

// settle files one result and returns the error that the caller should see for it.
func (r *runner) settle(c plan.Change, err error) error {
	step := stepOf(c)
	var skipped *dag.SkippedError[resource.ID]
	var failed *ObjectError
	switch {
	case err == nil:
		if c.Action != plan.NoOp {
			r.out.Done = append(r.out.Done, step)
		}
		return nil
	case errors.As(err, &skipped):
		r.skip(c, because(skipped))
		return nil
	case errors.Is(err, errCut):
		r.out.Waiting = append(r.out.Waiting, step)
		return nil
	case errors.As(err, &failed):
		r.out.Failed = append(r.out.Failed, Failure{step, failed.Err})
		return err
	default: // the walk ended before the object's turn
		r.skip(c, err.Error())
		return nil
	}
}

func because(s *dag.SkippedError[resource.ID]) string {
	if errors.Is(s, errCut) {
		return ErrInterrupted.Error()
	}
	return s.Failed.String() + " failed"
}

func (r *runner) skip(c plan.Change, because string) {
	if !c.Pending() {
		return
	}
	r.out.Skipped = append(r.out.Skipped, Skip{stepOf(c), because})
	r.emit(Skipped{stepOf(c), because})
}

func stepOf(c plan.Change) Step { return Step{Address: c.Address, ID: c.ID, Action: c.Action} }
