package deploy

import (
	"context"
	"reflect"

	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/state"
)

// begin records what is about to be made, and what the plan found out about the rest, in one
// save before the first change of the world. It saves nothing when nothing is new.
func (r *runner) begin(ctx context.Context) error {
	next := r.State.Clone()
	next.SetCluster(r.Cluster)
	for _, c := range r.Plan.Changes {
		if e, ok := planned(c, next.Salt, r.Plan.RefreshOnly); ok {
			next.Put(e)
		}
	}
	if reflect.DeepEqual(next, r.State.Clone()) {
		return nil
	}
	return r.keeper.update(ctx, func(s *state.State) { *s = next })
}

// planned is the entry of a change before anything is done; ok is false when there is nothing
// to record.
func planned(c plan.Change, salt string, refreshOnly bool) (state.Entry, bool) {
	if c.Want == nil {
		return state.Entry{}, false
	}
	if c.Prior == nil {
		e := describe(state.Entry{Status: state.Planned, Updated: now()}, c)
		e.Created = c.Action == plan.Create
		if c.TakenBack {
			// The state was lost; the owner mark tells whether we made or adopted the object.
			e.Created = !c.Seen.Adopted
		}
		return e, true
	}
	if refreshOnly {
		return refreshed(*c.Prior, c)
	}
	e := describe(*c.Prior, c)
	switch {
	case c.Action == plan.NoOp && c.Seen.Exists && c.Seen.Ready.Ready:
		e.UID, e.Status = orOld(c.Seen.UID, e.UID), state.Ready
		// Live is what the file wants now, whatever was applied last: from here on, differences are drift.
		e.Fields = state.Digests(salt, c.Want.Spec)
	case c.Action == plan.Wait && c.Seen.Exists:
		// It may have been ready once; it is not now, and a wait that fails must not leave the word standing.
		e.UID, e.Status, e.Fields = orOld(c.Seen.UID, e.UID), state.Applied, state.Digests(salt, c.Want.Spec)
	case c.Action == plan.Create && c.Gone:
		e.UID, e.Status, e.Created = "", state.Planned, true
	}
	if reflect.DeepEqual(e, *c.Prior) && c.MovedFrom == nil {
		return e, false
	}
	e.Updated = now()
	return e, true
}

// refreshed is the entry as the world has it, for --refresh-only: the file is not looked at.
func refreshed(e state.Entry, c plan.Change) (state.Entry, bool) {
	if c.Action.Removes() || !c.Seen.Exists {
		return e, false
	}
	was := e
	e.UID, e.Status = orOld(c.Seen.UID, e.UID), state.Applied
	if c.Seen.Ready.Ready {
		e.Status = state.Ready
	}
	if reflect.DeepEqual(e, was) {
		return e, false
	}
	e.Updated = now()
	return e, true
}

// describe copies what the block says into an entry.
func describe(e state.Entry, c plan.Change) state.Entry {
	if c.Want == nil {
		return e
	}
	e.Address, e.ID, e.Options = c.Want.Address, c.Want.ID, c.Want.Options
	e.DependsOn, e.Borrowed = c.Want.DependsOn, c.Seen.Borrowed
	return e
}

// applied is the entry of an object that the API accepted.
func applied(s *state.State, c plan.Change, res Result) state.Entry {
	e, _ := s.Find(c.ID)
	e = describe(e, c)
	e.Status, e.Updated = state.Applied, now()
	e.UID = orOld(res.UID, e.UID)
	e.Created = e.Created || res.Created
	e.Facts = res.Facts
	e.Fingerprint = orOld(res.Fingerprint, state.Fingerprint(s.Salt, c.Want.Spec))
	e.Fields = state.Digests(s.Salt, c.Want.Spec)
	return e
}

func orOld(is, was string) string {
	if is == "" {
		return was
	}
	return is
}
