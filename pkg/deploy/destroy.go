package deploy

import (
	"context"
	"errors"
	"fmt"

	"github.com/mifbench/mifbench/pkg/resource"
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
		if run.Emit != nil {
			run.Emit(Warning{Text: g})
		}
	}
	if run.Emit != nil && verr == nil {
		run.Emit(Verified{remaining})
	}
	if len(remaining) > 0 {
		verr = errors.Join(verr, fmt.Errorf("%w: %d, first %s", ErrRemains, len(remaining), remaining[0].ID))
	}
	return out, errors.Join(err, verr)
}
