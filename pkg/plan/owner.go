package plan

import (
	"fmt"

	"github.com/mifbench/mifbench/pkg/state"
)

// ours tells whether an existing object may be changed by this stack.
func (b *builder) ours(v *verdict, obs Observation) bool {
	if obs.Owner != "" && obs.Owner != b.Stack {
		return v.Want != nil && v.Want.Options.Adopt
	}
	if obs.Owner == b.Stack {
		return true
	}
	if v.Want != nil && v.Want.Options.Adopt {
		return true
	}
	return recorded(v.Prior, obs)
}

// recorded tells whether the state vouches for an object without an owner annotation.
func recorded(e *state.Entry, obs Observation) bool {
	switch {
	case e == nil:
		return false
	case e.Status == state.Planned:
		// Planned, then found without our mark: somebody else was faster.
		return false
	default:
		return e.UID == "" || obs.UID == "" || e.UID == obs.UID
	}
}

// foreign refuses an object that is not ours, and says whose it is.
func (b *builder) foreign(v *verdict, obs Observation) {
	who := "it carries no owner annotation"
	switch {
	case obs.Owner != "":
		who = fmt.Sprintf("it belongs to stack %q", obs.Owner)
	case v.Prior != nil && v.Prior.Status != state.Planned:
		who = "the object that this stack made was deleted and somebody made another of the same name"
	}
	v.refuse("foreign", fmt.Sprintf("%s exists and is not of stack %q", v.ID, b.Stack),
		fmt.Sprintf("%s; remove it, choose another name, take it with `mifbench import %s`, or set adopt = true in its block", who, v.Address))
}

// decideRemoval decides about an entry of the state that is not wanted any more.
func (b *builder) decideRemoval(e state.Entry) (Change, []Problem) {
	v := &verdict{Change: Change{Address: e.Address, ID: e.ID, Prior: &e}}
	obs, ok := b.seen[e.ID.Key()]
	if !ok {
		v.refuse("unobserved", fmt.Sprintf("%s was not looked at", e.ID), "plan again; if it stays so, report it as a bug of mifbench")
		return v.Change, v.problems
	}
	v.see(obs)
	b.remove(v, obs, e)
	if b.Options.RefreshOnly && v.Action != Forget {
		v.do(NoOp, "")
	}
	v.protect(e.Options)
	return v.Change, v.problems
}

func (b *builder) remove(v *verdict, obs Observation, e state.Entry) {
	switch {
	case !obs.Exists:
		v.do(Forget, "is already gone")
	case e.Borrowed || obs.Borrowed:
		v.do(Keep, "is made by somebody else")
	case obs.Owner != "" && obs.Owner != b.Stack:
		v.do(Forget, fmt.Sprintf("belongs to stack %q now; left alone", obs.Owner))
	case obs.Owner == "" && !recorded(&e, obs):
		v.do(Forget, "is not the object that this stack made; left alone")
	case e.Options.KeepOnDestroy:
		v.do(Keep, "keep_on_destroy = true: stays in the cluster, leaves the state")
	case e.ID.Kind == "Namespace" && !e.Created:
		v.do(Keep, "was not created by this stack: stays in the cluster, leaves the state")
	default:
		b.delete(v, obs, e)
	}
}

func (b *builder) delete(v *verdict, obs Observation, e state.Entry) {
	v.do(Delete, "")
	if !b.Options.Destroy {
		v.Reason = "is not in the configuration any more"
	}
	if obs.Terminating {
		v.Reason = "is being deleted already; waited for"
	}
	v.Fields, _ = rules{}.diff(obs.Live, nil)
	v.Interrupts = obs.Interrupts
	if !e.Created {
		v.note("was adopted, not created, by this stack; it is deleted all the same (keep_on_destroy = true keeps it)")
	}
	for _, c := range obs.Children {
		if c.Exists {
			v.Children = append(v.Children, Child{ID: c.ID, Action: Delete})
		}
	}
}
