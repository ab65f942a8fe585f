package plan

import (
	"slices"

	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/state"
)

// Input is everything that a plan is made of.
type Input struct {
	Stack string
	// Desired is what the configuration wants (ignored for Destroy but for its lifecycle options).
	Desired []resource.Object
	Prior   state.State
	// Observations holds one observation for each desired object and each entry of Prior.
	Observations map[resource.ID]Observation
	// Moved are the configuration's moved blocks: former address to present address.
	Moved   map[resource.Address]resource.Address
	Options Options
}

// Options are the planning flags.
type Options struct {
	// Targets limits the plan to these addresses and what they need (for destroy: what needs them).
	// An address without a key stands for all its instances.
	Targets []resource.Address
	// Exclude leaves these addresses out, and what depends on them (for destroy: what they need).
	Exclude []resource.Address
	// Replace asks for a replacement of objects that would otherwise stay.
	Replace []resource.Address
	// Destroy plans the removal of everything in the state.
	Destroy bool
	// RefreshOnly shows drift and plans nothing but bringing the state up to date.
	RefreshOnly bool
}

// builder holds the indexes of one Build.
type builder struct {
	Input
	prior map[string]state.Entry // by ID.Key, at the present address
	was   map[string]resource.Address
	seen  map[string]Observation
	plan  Plan
}

// Build makes the plan. It is a pure function; what prevents the plan from being
// applied is listed in Plan.Problems.
func Build(in Input) Plan {
	b := &builder{
		Input: in, prior: map[string]state.Entry{},
		was: map[string]resource.Address{}, seen: map[string]Observation{},
	}
	b.plan = Plan{Stack: in.Stack, Destroy: in.Options.Destroy, RefreshOnly: in.Options.RefreshOnly}
	for _, e := range in.Prior.Entries {
		b.prior[e.ID.Key()] = b.moved(e)
		b.was[e.ID.Key()] = e.Address
	}
	for id, o := range in.Observations {
		b.seen[id.Key()] = o
	}
	desired := Link(in.Desired)
	wanted := map[string]bool{}
	if !in.Options.Destroy {
		for i := range desired {
			wanted[desired[i].ID.Key()] = true
			c, problems := b.decideWanted(&desired[i])
			b.add(c, problems)
		}
	}
	options := map[string]resource.Options{}
	for _, o := range desired {
		options[o.ID.Key()] = o.Options
	}
	for _, e := range removalOrder(in.Prior.Entries) {
		if wanted[e.ID.Key()] {
			continue
		}
		e = b.prior[e.ID.Key()]
		if o, ok := options[e.ID.Key()]; ok {
			e.Options = o
		}
		c, problems := b.decideRemoval(e)
		b.add(c, problems)
	}
	b.edges()
	b.plan.narrow(in.Options)
	return b.plan
}

func (b *builder) add(c Change, problems []Problem) {
	b.plan.Changes = append(b.plan.Changes, c)
	for _, p := range problems {
		p.Address, p.ID = c.Address, c.ID
		b.plan.Problems = append(b.plan.Problems, p)
	}
}

// moved gives an entry its present address.
func (b *builder) moved(e state.Entry) state.Entry {
	if to, ok := b.Moved[e.Address]; ok {
		e.Address = to
	}
	return e
}

// removalOrder puts what depends on others first: the reverse of the order of creation.
func removalOrder(entries []state.Entry) []state.Entry {
	objects := make([]resource.Object, len(entries))
	at := map[string]state.Entry{}
	for i, e := range entries {
		objects[i] = resource.Object{ID: e.ID, DependsOn: e.DependsOn}
		at[e.ID.Key()] = e
	}
	var out []state.Entry
	for _, o := range slices.Backward(linkRecorded(objects)) {
		e := at[o.ID.Key()]
		e.DependsOn = o.DependsOn
		out = append(out, e)
	}
	return out
}

// edges fills Change.DependsOn: makers after what they need, removals after the removal or
// update of everything that needed them.
func (b *builder) edges() {
	index := map[string]int{}
	for i, c := range b.plan.Changes {
		index[c.ID.Key()] = i
	}
	for i := range b.plan.Changes {
		c := &b.plan.Changes[i]
		if c.Want != nil {
			c.DependsOn = slices.Clone(c.Want.DependsOn)
		}
	}
	for _, e := range removalOrder(b.Prior.Entries) {
		user := b.plan.Changes[index[e.ID.Key()]]
		for _, need := range e.DependsOn {
			j, ok := index[need.Key()]
			if !ok || !b.plan.Changes[j].Action.Removes() {
				continue
			}
			c := &b.plan.Changes[j]
			if !slices.Contains(c.DependsOn, user.ID) {
				c.DependsOn = append(c.DependsOn, user.ID)
			}
		}
	}
}
