package deploy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/state"
)

// Recover rebuilds the entries of a lost state from the owner annotations in the
// cluster. Entries that prior has already are kept as they are; new ones have
// status Applied, so that the next plan compares and the next apply waits for
// them. The warnings name what could not be looked at.
func Recover(ctx context.Context, drivers map[string]Driver, prior state.State) (state.State, []string, error) {
	list, err := listed(ctx, drivers, prior.Stack, Scope{})
	if err != nil {
		return prior, nil, fmt.Errorf("recover the state of stack %q: %w", prior.Stack, err)
	}
	next := prior.Clone()
	var warnings []string
	for _, f := range list {
		if f.Warning != "" {
			if !slices.Contains(warnings, f.Warning) {
				warnings = append(warnings, f.Warning)
			}
			continue
		}
		if _, known := next.Find(f.ID); known {
			continue
		}
		next.Put(recovered(f))
	}
	return next, warnings, nil
}

func recovered(f Found) state.Entry {
	a := f.Address
	if a == (resource.Address{}) {
		a = resource.Address{Kind: "manifest", Name: f.ID.Name}
	}
	return state.Entry{
		Address: a, ID: f.ID, UID: f.UID, Status: state.Applied, Created: f.Created,
		DependsOn: f.DependsOn, Facts: f.Facts, Updated: now(),
	}
}

// listed asks every driver that is a Lister, in the order of their names; the objects come
// sorted by identity.
func listed(ctx context.Context, drivers map[string]Driver, stack string, in Scope) ([]Found, error) {
	var out []Found
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(drivers)) {
		l, ok := drivers[name].(Lister)
		if !ok {
			continue
		}
		list, err := l.List(ctx, stack, in)
		if err != nil {
			errs = append(errs, fmt.Errorf("list the objects of driver %s: %w", name, err))
		}
		out = append(out, list...)
	}
	slices.SortStableFunc(out, func(a, b Found) int { return cmp.Compare(a.ID.Key(), b.ID.Key()) })
	return out, errors.Join(errs...)
}
