package plan

import (
	"fmt"

	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/state"
)

// verdict is a decision in the making.
type verdict struct {
	Change
	problems []Problem
}

func (v *verdict) do(a Action, reason string) { v.Action, v.Reason = a, reason }

func (v *verdict) note(format string, args ...any) {
	v.Notes = append(v.Notes, fmt.Sprintf(format, args...))
}

func (v *verdict) refuse(code, summary, detail string) {
	v.problems = append(v.problems, Problem{Code: code, Summary: summary, Detail: detail})
}

// decideWanted decides about one object of the configuration.
func (b *builder) decideWanted(o *resource.Object) (Change, []Problem) {
	v := &verdict{Change: Change{Address: o.Address, ID: o.ID, Action: NoOp, Want: o}}
	if e, ok := b.prior[o.ID.Key()]; ok {
		v.Prior = &e
	}
	obs, ok := b.seen[o.ID.Key()]
	if !ok {
		v.refuse("unobserved", fmt.Sprintf("%s was not looked at", o.ID), "plan again; if it stays so, report it as a bug of mifbench")
		return v.Change, v.problems
	}
	v.see(obs)
	if was, ok := b.was[o.ID.Key()]; ok && was != o.Address {
		v.MovedFrom = &was
	}
	b.choose(v, obs)
	if b.Options.RefreshOnly {
		v.refreshOnly()
	}
	v.protect(o.Options)
	return v.Change, v.problems
}

// see copies what the observation says into the change.
func (v *verdict) see(obs Observation) {
	v.Seen, v.Offline, v.Facts = obs, obs.Offline, obs.Facts
	v.Notes = append(v.Notes, obs.Notes...)
	v.Warnings = append(v.Warnings, obs.Warnings...)
}

func (b *builder) choose(v *verdict, obs Observation) {
	switch {
	case obs.Borrowed:
		v.borrow(obs)
	case !obs.Exists:
		b.create(v, obs)
	case obs.Terminating:
		b.comeBack(v, obs)
	case !b.ours(v, obs):
		b.foreign(v, obs)
	default:
		b.change(v, obs)
	}
}

// borrow waits for an object that somebody else makes.
func (v *verdict) borrow(obs Observation) {
	switch {
	case !obs.Exists:
		v.do(Wait, "is made by somebody else; apply waits for it")
	case !obs.Ready.Ready:
		v.do(Wait, orElse(obs.Ready.Reason, "exists, not ready"))
	}
}

func (b *builder) create(v *verdict, obs Observation) {
	v.do(Create, "")
	if v.Prior != nil && v.Prior.Status != state.Planned {
		v.Reason, v.Gone = "was deleted outside of mifbench", true
	}
	v.Fields, _ = b.rules(v).diff(nil, obs.Predicted)
	v.Fields = fresh(v.Fields)
	v.Children, _ = b.children(v, obs)
	v.conflicts(obs)
}

// comeBack plans for an object that is being deleted. Nothing can be made in a namespace that goes.
func (b *builder) comeBack(v *verdict, obs Observation) {
	if v.ID.Kind == "Namespace" {
		v.refuse("terminating", fmt.Sprintf("%s is being deleted", v.ID),
			orElse(obs.Ready.Reason, "wait until it is gone and plan again; kubectl describe shows what holds it"))
		return
	}
	v.do(Create, "is being deleted; apply waits until it is gone and creates it again")
	v.Fields, _ = b.rules(v).diff(nil, obs.Predicted)
	v.Fields = fresh(v.Fields)
}

// fresh clears what has no meaning for a new object.
func fresh(fields []FieldDiff) []FieldDiff {
	for i := range fields {
		fields[i].ForcesReplacement = false
	}
	return fields
}

// change plans for an object that exists and is ours.
func (b *builder) change(v *verdict, obs Observation) {
	touched := b.compare(v, obs)
	switch {
	case obs.Recover != "":
		v.do(Recover, obs.Recover)
	case v.Prior == nil && obs.Owner == b.Stack:
		v.TakenBack = true
		v.do(Adopt, "carries this stack's owner annotation and is missing in the state; taken back")
	case v.Prior == nil:
		v.do(Adopt, "exists and becomes part of this stack (adopt = true)")
	case forcesReplacement(v.Fields):
		v.do(Replace, "a field that cannot be changed in place changes")
	case coversAny(b.Options.Replace, v.Address):
		v.do(Replace, "replacement was asked for")
	case touched:
		v.do(Update, "")
	case obs.Renew != "":
		v.do(Renew, obs.Renew)
	case !obs.Ready.Ready:
		v.do(Wait, orElse(obs.Ready.Reason, "applied, not ready"))
	case v.Prior.Status == state.Planned:
		v.do(Wait, "was applied by a run that ended before it could record that; recorded now")
	}
	if v.Action == Replace && (v.ID.Kind == "Namespace" || v.ID.Kind == "CustomResourceDefinition") {
		v.refuse("replace", fmt.Sprintf("%s cannot be replaced", v.ID),
			"deleting it deletes everything in it; destroy the stack (or --target this block) and apply again")
	}
	if v.Action.Writes() {
		v.Interrupts = obs.Interrupts
		v.conflicts(obs)
	}
}

// compare fills in the fields, the children and the drift; it tells whether anything differs.
func (b *builder) compare(v *verdict, obs Observation) bool {
	v.Fields, v.Unchanged = b.rules(v).diff(obs.Live, obs.Predicted)
	if obs.Predicted == nil {
		v.Fields = nil
	}
	b.secret(v)
	var childDrift bool
	v.Children, childDrift = b.children(v, obs)
	v.Drift = b.drift(v)
	if childDrift {
		v.note("objects of the release were changed outside of mifbench")
	}
	return len(v.Fields) > 0 || len(v.Children) > 0
}

// conflicts lists fields that another manager owns; without force_conflicts they stop the plan,
// unless somebody edited by hand what the stack had applied.
func (v *verdict) conflicts(obs Observation) {
	for _, c := range obs.Conflicts {
		if v.Prior != nil && c.ByHand() {
			v.note("takes %s back from %s", c.Field, c.Manager)
			continue
		}
		if !ignoredField(c.Field, v.Want.Options.IgnoreChanges, obs.Predicted, obs.Live) {
			v.Conflicts = append(v.Conflicts, c)
		}
	}
	if len(v.Conflicts) == 0 {
		return
	}
	if v.Want.Options.ForceConflicts {
		for _, c := range v.Conflicts {
			v.note("takes %s from %s (force_conflicts = true)", c.Field, c.Manager)
		}
		return
	}
	v.refuse("conflict", fmt.Sprintf("%s: %d field(s) belong to another manager", v.ID, len(v.Conflicts)),
		conflictText(v.Conflicts)+"leave the fields out of the file, list them in lifecycle.ignore_changes, or set force_conflicts = true")
}

func conflictText(list []Conflict) string {
	out := ""
	for _, c := range list {
		out += c.Field + " → " + c.Manager + "\n"
	}
	return out
}

// refreshOnly keeps what was seen and drops what would have been done.
func (v *verdict) refreshOnly() {
	if v.Prior != nil && v.Gone {
		v.do(Forget, "was deleted outside of mifbench")
	} else {
		v.do(NoOp, "")
	}
	v.Fields, v.Children, v.Conflicts, v.problems, v.Interrupts = nil, nil, nil, nil, ""
}

func (v *verdict) protect(o resource.Options) {
	if o.PreventDestroy && (v.Action == Delete || v.Action == Replace) {
		v.refuse("prevent-destroy", fmt.Sprintf("%s (%s) may not be destroyed", v.Address, v.ID),
			"its block says prevent_destroy = true: remove that, or leave it out with --exclude="+v.Address.String())
	}
}

func forcesReplacement(fields []FieldDiff) bool {
	for _, f := range fields {
		if f.ForcesReplacement {
			return true
		}
	}
	return false
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
