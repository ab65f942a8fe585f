package deploy

import (
	"context"
	"errors"
	"fmt"

	"github.com/mifbench/mifbench/internal/dag"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/state"
)

// Remaining is an object of the stack that is still there after destroy.
type Remaining struct {
	Address resource.Address
	ID      resource.ID
	// Why is what holds it: its readiness reason (finalizers, conditions), or "".
	Why string
}

// Destroy applies a plan made with plan.Options.Destroy and then looks at the
// cluster, not at the state: Outcome.Remaining lists what the plan meant to
// delete and what still carries the stack's owner annotation without being kept.
// The error answers errors.Is with ErrRemains when that list is not empty.
func Destroy(ctx context.Context, run Run) (Outcome, error) {
	out, err := Apply(ctx, run)
	if errors.Is(err, ErrInterrupted) || errors.Is(err, ErrUntouched) || len(run.Plan.Problems) > 0 {
		return out, err
	}
	remaining, gaps, verr := verify(ctx, run, out.State)
	out.Remaining, out.Verified = remaining, verr == nil
	for _, g := range gaps {
		out.Warnings = append(out.Warnings, Warning{Text: g})
	}
	if run.Emit != nil && verr == nil {
		run.Emit(Verified{remaining})
	}
	if len(remaining) > 0 {
		verr = errors.Join(verr, fmt.Errorf("%w: %d, first %s", ErrRemains, len(remaining), remaining[0].ID))
	}
	return out, errors.Join(err, verr)
}

// verify looks again at everything that the plan deletes and asks the drivers for leftovers.
func verify(ctx context.Context, run Run, now state.State) (remaining []Remaining, gaps []string, err error) {
	g := dag.New[resource.ID]()
	gone := map[resource.ID]plan.Change{}
	spared := map[string]bool{}
	for _, c := range run.Plan.Changes {
		if c.Action == plan.Delete {
			gone[c.ID] = c
			g.Add(c.ID)
		} else {
			spared[c.ID.Key()] = true
		}
	}
	for _, id := range run.Kept {
		spared[id.Key()] = true
	}
	for _, e := range now.Entries { // left out by -target or -exclude
		if _, planned := gone[e.ID]; !planned {
			spared[e.ID.Key()] = true
		}
	}
	found := make(chan Remaining, g.Len())
	results, err := g.Walk(ctx, parallel(run.Parallel), func(ctx context.Context, id resource.ID) error {
		return stillThere(ctx, run, gone[id], found)
	})
	if err != nil {
		panic(fmt.Sprintf("deploy: a graph without edges has a cycle: %v", err))
	}
	close(found)
	var out []Remaining
	for f := range found {
		out = append(out, f)
		spared[f.ID.Key()] = true
	}
	var errs []error
	for _, c := range run.Plan.Changes {
		errs = append(errs, results[c.ID])
	}
	left, gaps, err := leftovers(ctx, run, spared)
	return append(out, left...), gaps, errors.Join(append(errs, err)...)
}

func stillThere(ctx context.Context, run Run, c plan.Change, found chan<- Remaining) error {
	obs, err := driver(run.Drivers, c.ID).Observe(ctx, Query{Prior: c.Prior, Stack: run.Plan.Stack, Salt: run.State.Salt})
	if err != nil {
		return &ObjectError{Address: c.Address, ID: c.ID, Doing: "verify the removal of", Err: err}
	}
	// An object of the same name that somebody else made meanwhile is not of this stack.
	if obs.Exists && (obs.Owner == run.Plan.Stack || obs.UID == c.Seen.UID) {
		found <- Remaining{c.Address, c.ID, obs.Ready.Reason}
	}
	return nil
}

// leftovers asks every driver that can list for objects that carry the stack's mark; gaps are
// what could not be listed.
func leftovers(ctx context.Context, run Run, spared map[string]bool) (out []Remaining, gaps []string, err error) {
	if run.Plan.Partial {
		return nil, nil, nil
	}
	list, err := listed(ctx, run.Drivers, run.Plan.Stack)
	for _, f := range list {
		switch {
		case f.Warning != "":
			gaps = append(gaps, f.Warning)
		case !f.Created && f.ID.Kind == "Namespace": // adopted: it was there before the stack and stays
		case !spared[f.ID.Key()]:
			spared[f.ID.Key()] = true
			out = append(out, Remaining{f.Address, f.ID, "carries the stack's owner annotation"})
		}
	}
	return out, gaps, err
}
