package deploy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/mifbench/mifbench/internal/dag"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/state"
)

// verifier is the look at the cluster after a destroy: each kind that the stack can have made is
// listed once. Only what a list does not tell is asked object by object.
type verifier struct {
	Run
	// gone are the objects that the plan deletes, by ID.Key.
	gone map[string]plan.Change
	// parts maps the objects behind the deleted releases to their UIDs, by ID.Key.
	parts map[string]string
	// spared are objects that may carry the stack's annotation, by ID.Key.
	spared map[string]bool
}

// verify looks for everything that the plan deletes and for what else carries the stack's mark; gaps
// are what could not be looked at.
func verify(ctx context.Context, run Run, now state.State) (remaining []Remaining, gaps []string, err error) {
	v := newVerifier(run, now)
	list, err := listed(ctx, run.Drivers, run.Plan.Stack, v.scope(now))
	ask, blind := map[resource.ID]plan.Change{}, map[string]bool{}
	for _, f := range list {
		c, planned := v.gone[f.ID.Key()]
		switch {
		case f.Warning != "":
			if !slices.Contains(gaps, f.Warning) {
				gaps = append(gaps, f.Warning)
			}
			blind[KindOf(f.ID)] = true
		case planned && (f.Owner == run.Plan.Stack || f.UID == c.Seen.UID):
			ask[c.ID] = c // why it is still there only the driver tells
		case planned:
			// Somebody else made another of the same name meanwhile.
		default:
			remaining = append(remaining, v.leftover(f)...)
		}
	}
	for _, c := range v.gone {
		if !v.told(c, blind) {
			ask[c.ID] = c
		}
	}
	found, failed := v.ask(ctx, ask)
	if run.Plan.Partial {
		gaps = nil
	}
	return append(found, remaining...), gaps, errors.Join(err, failed)
}

func newVerifier(run Run, now state.State) *verifier {
	v := &verifier{Run: run, gone: map[string]plan.Change{}, parts: map[string]string{}, spared: map[string]bool{}}
	for _, c := range run.Plan.Changes {
		if c.Action != plan.Delete {
			v.spared[c.ID.Key()] = true
			continue
		}
		v.gone[c.ID.Key()] = c
		for _, part := range c.Seen.Children {
			v.parts[part.ID.Key()] = part.UID
		}
	}
	for _, id := range run.Kept {
		v.spared[id.Key()] = true
	}
	for _, e := range now.Entries { // left out by -target or -exclude
		v.spared[e.ID.Key()] = true
	}
	return v
}

// scope is where objects of the stack can be: of the kinds that it knows, in the whole cluster, and in
// the namespaces that stay. Of a stack that nothing is known of, everything is looked at; of a
// part of a stack, what the plan deletes.
func (v *verifier) scope(now state.State) Scope {
	kinds, namespaces := map[string]bool{}, map[string]bool{}
	for _, id := range v.known(now) {
		kinds[KindOf(id)] = true
		namespaces[id.Namespace] = !v.Plan.Partial && id.Namespace != ""
	}
	s := Scope{Named: map[string]bool{}}
	if len(kinds) == 0 && !v.Plan.Partial {
		return s
	}
	for key, c := range v.gone {
		s.Named[key] = true
		if c.ID.Kind == "Namespace" { // what was in it has gone with it, or keeps it, and it is found
			namespaces[c.ID.Name] = false
		}
	}
	for key := range v.parts {
		s.Named[key] = true
	}
	maps.DeleteFunc(namespaces, func(_ string, look bool) bool { return !look })
	s.Kinds, s.Namespaces = slices.Sorted(maps.Keys(kinds)), slices.Sorted(maps.Keys(namespaces))
	return s
}

// known are the objects whose kinds tell what the stack is made of.
func (v *verifier) known(now state.State) []resource.ID {
	var out []resource.ID
	for _, c := range v.Plan.Changes {
		if v.Plan.Partial && c.Action != plan.Delete {
			continue
		}
		out = append(out, c.ID)
		for _, part := range c.Seen.Children {
			out = append(out, part.ID)
		}
	}
	if v.Plan.Partial {
		return out
	}
	for _, e := range append(slices.Clone(v.State.Entries), now.Entries...) {
		out = append(out, e.ID)
	}
	return out
}

// told tells whether the lists have answered for a deleted object: its kind was listed, and it would
// have been recognised. (A group that did not answer at all is blind as a whole.)
func (v *verifier) told(c plan.Change, blind map[string]bool) bool {
	_, lists := v.Drivers[c.ID.Driver].(Lister)
	return lists && c.Seen.UID != "" && !blind[KindOf(c.ID)] && !blind[c.ID.Group()+"/"]
}

// leftover is what List found beyond the plan, if it should not be there.
func (v *verifier) leftover(f Found) []Remaining {
	key := f.ID.Key()
	uid, part := v.parts[key]
	switch {
	case v.Plan.Partial, v.spared[key]:
	case part && uid != "" && f.UID == uid:
		v.spared[key] = true
		return []Remaining{{f.Address, f.ID, "was made by a release that is uninstalled"}}
	case f.Owner != v.Plan.Stack, !f.Created && f.ID.Kind == "Namespace": // adopted: it was there before the stack and stays
	default:
		v.spared[key] = true
		return []Remaining{{f.Address, f.ID, "carries the stack's owner annotation"}}
	}
	return nil
}

// ask looks at objects one by one, in the order of the plan.
func (v *verifier) ask(ctx context.Context, which map[resource.ID]plan.Change) ([]Remaining, error) {
	g := dag.New[resource.ID]()
	for id := range which {
		g.Add(id)
	}
	found := make(chan Remaining, len(which))
	results, err := g.Walk(ctx, parallel(v.Parallel), func(ctx context.Context, id resource.ID) error {
		return stillThere(ctx, v.Run, which[id], found)
	})
	if err != nil {
		panic(fmt.Sprintf("deploy: a graph without edges has a cycle: %v", err))
	}
	close(found)
	byID := map[resource.ID]Remaining{}
	for f := range found {
		byID[f.ID] = f
	}
	var out []Remaining
	var errs []error
	for _, c := range v.Plan.Changes {
		errs = append(errs, results[c.ID])
		if f, ok := byID[c.ID]; ok {
			out = append(out, f)
		}
	}
	return out, errors.Join(errs...)
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
