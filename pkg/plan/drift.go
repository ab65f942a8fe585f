package plan

import (
	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/state"
)

// rules are the comparison rules for the object of a verdict.
func (b *builder) rules(v *verdict) rules {
	r := rules{typed: v.ID.Driver == resource.DriverHelm, immutable: v.Seen.Immutable}
	if v.Want == nil {
		return r
	}
	r.sensitive = v.Want.Sensitive
	if v.Seen.Exists {
		r.ignore = v.Want.Options.IgnoreChanges
	}
	return r
}

// drift are the differing fields whose desired value did not change since the last apply: the
// world moved, not the file. Without a recorded apply nothing is called drift.
func (b *builder) drift(v *verdict) []FieldDiff {
	if v.Prior == nil || v.Want == nil || v.Prior.Fingerprint == "" && len(v.Prior.Fields) == 0 {
		return nil
	}
	if b.sameFile(v) {
		return invert(v.Fields)
	}
	var out []FieldDiff
	for _, f := range v.Fields {
		at, hash, ok := state.DigestAt(b.Prior.Salt, v.Want.Spec, v.Prior.Fields, f.Path)
		if ok && v.Prior.Fields[at] == hash {
			out = append(out, f)
		}
	}
	return invert(out)
}

// sameFile tells whether the author's object is the one that was applied last.
func (b *builder) sameFile(v *verdict) bool {
	if len(v.Prior.Fields) > 0 {
		now := state.Digests(b.Prior.Salt, v.Want.Spec)
		if len(now) != len(v.Prior.Fields) {
			return false
		}
		for p, h := range now {
			if v.Prior.Fields[p] != h {
				return false
			}
		}
		return true
	}
	return v.Prior.Fingerprint == state.Fingerprint(b.Prior.Salt, v.Want.Spec)
}

// invert shows drift as it happened: from what was applied to what is there now.
func invert(fields []FieldDiff) []FieldDiff {
	out := make([]FieldDiff, 0, len(fields))
	for _, f := range fields {
		f.Before, f.After, f.ForcesReplacement = f.After, f.Before, false
		switch f.Op {
		case Added:
			f.Op = Removed
		case Removed:
			f.Op = Added
		case Changed:
		}
		out = append(out, f)
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// secret adds the secrets whose desired value changed and whose observation cannot show it
// (a driver that masks both sides alike).
func (b *builder) secret(v *verdict) {
	if v.Prior == nil || v.Want == nil || len(v.Prior.Fields) == 0 {
		return
	}
	for _, f := range v.Fields {
		if f.Sensitive {
			return
		}
	}
	for _, p := range v.Want.Sensitive {
		at, hash, ok := state.DigestAt(b.Prior.Salt, v.Want.Spec, v.Prior.Fields, p)
		if ok && v.Prior.Fields[at] != hash && !Ignored(p, v.Want.Options.IgnoreChanges) {
			v.Fields = append(v.Fields, FieldDiff{Path: p, Op: Changed, Before: Hidden, After: Hidden, Sensitive: true})
		}
	}
}

// children compares the objects behind a release; only those that differ are listed. drift is
// true when the author changed nothing and they differ all the same.
func (b *builder) children(v *verdict, obs Observation) (list []Child, drift bool) {
	for _, c := range obs.Children {
		if child, differs := compareChild(c, v.Want); differs {
			list = append(list, child)
		}
	}
	same := v.Prior != nil && v.Want != nil && v.Prior.Fingerprint != "" && b.sameFile(v)
	return list, len(list) > 0 && same && obs.Exists
}

func compareChild(c Observation, want *resource.Object) (Child, bool) {
	r := rules{immutable: c.Immutable}
	if want != nil && c.Exists {
		r.ignore = want.Options.IgnoreChanges
	}
	out := Child{ID: c.ID, Action: Update}
	switch {
	case !c.Exists && c.Predicted != nil:
		out.Action = Create
	case c.Exists && c.Predicted == nil:
		out.Action = Delete
		return out, true
	}
	out.Fields, out.Unchanged = r.diff(c.Live, c.Predicted)
	if out.Action == Create {
		out.Fields = fresh(out.Fields)
	} else if forcesReplacement(out.Fields) {
		out.Action = Replace
	}
	return out, len(out.Fields) > 0
}
