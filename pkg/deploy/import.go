package deploy

import (
	"context"
	"fmt"

	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/state"
)

// Import records an existing object as the stack's, as the command `import ADDR ID`
// asks: nothing is changed in the cluster, the next plan compares and shows what
// apply would change, the owner annotation included. The object counts as adopted,
// not created. An absent object, one of another stack (errors.Is ErrNotOurs) and
// one that the state has already are refused.
func Import(ctx context.Context, drivers map[string]Driver, want resource.Object, prior state.State) (state.State, error) {
	if e, ok := prior.Find(want.ID); ok {
		return prior, fmt.Errorf("import %s: the state has it already, at %s", want.ID, e.Address)
	}
	obs, err := driver(drivers, want.ID).Observe(ctx, Query{Prior: &state.Entry{ID: want.ID}, Stack: prior.Stack, Salt: prior.Salt})
	if err != nil {
		return prior, &ObjectError{Address: want.Address, ID: want.ID, Doing: "import", Err: err}
	}
	if err := importable(want, prior.Stack, obs); err != nil {
		return prior, err
	}
	next := prior.Clone()
	next.Put(state.Entry{
		Address: want.Address, ID: want.ID, UID: obs.UID, Status: state.Applied, Options: want.Options,
		DependsOn: want.DependsOn, Facts: obs.Facts, Updated: now(),
	})
	return next, nil
}

func importable(want resource.Object, stack string, obs plan.Observation) error {
	switch {
	case !obs.Exists:
		return fmt.Errorf("import %s: it does not exist; apply creates it", want.ID)
	case obs.Owner != "" && obs.Owner != stack:
		return fmt.Errorf("import %s: %w: it belongs to stack %q; set adopt = true in the block %s to take it over",
			want.ID, ErrNotOurs, obs.Owner, want.Address)
	case obs.Terminating:
		return fmt.Errorf("import %s: it is being deleted; wait until it is gone", want.ID)
	}
	return nil
}
