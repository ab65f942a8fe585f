package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// essence is the part of a change that must not move between plan and apply. Readiness, texts
// with times in them and unchanged objects' notes may.
type essence struct {
	Address   string
	ID        string
	Action    Action
	Fields    []FieldDiff
	Children  []Child
	Conflicts []Conflict
	DependsOn []string
	Facts     map[string]any
}

// Digest is a hash (SHA-256, hex) of what the plan does. Two plans with the same
// digest do the same to the cluster.
func (p Plan) Digest() string {
	h := sha256.New()
	for _, c := range p.Changes {
		h.Write([]byte(c.digest()))
	}
	return hex.EncodeToString(h.Sum(nil))
}

func (c Change) digest() string {
	e := essence{
		Address: c.Address.String(), ID: c.ID.Key(), Action: c.Action,
		Fields: c.Fields, Children: c.Children, Conflicts: c.Conflicts, Facts: pinned(c.Facts),
	}
	if c.Action == Wait {
		e.Action = NoOp
	}
	for _, id := range c.DependsOn {
		e.DependsOn = append(e.DependsOn, id.Key())
	}
	slices.Sort(e.DependsOn)
	text, err := json.Marshal(e)
	if err != nil {
		panic(fmt.Sprintf("plan: a change of %s that is not JSON: %v", c.ID, err))
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// pinned leaves out facts that change by themselves.
func pinned(facts map[string]any) map[string]any {
	out := maps.Clone(facts)
	maps.DeleteFunc(out, func(k string, _ any) bool { return strings.Contains(strings.ToLower(k), "expir") })
	return out
}

// Differences names the objects on which two plans differ, one sentence each, at
// most limit of them; nothing when both do the same.
func Differences(saved, fresh Plan, limit int) []string {
	var out []string
	now := map[string]Change{}
	for _, c := range fresh.Changes {
		now[c.ID.Key()] = c
	}
	for _, c := range saved.Changes {
		f, ok := now[c.ID.Key()]
		delete(now, c.ID.Key())
		switch {
		case !ok:
			out = append(out, fmt.Sprintf("%s: planned to %s, is not part of the plan any more", c.ID, c.Action))
		case c.digest() != f.digest():
			out = append(out, fmt.Sprintf("%s: planned to %s, would now %s%s", c.ID, c.Action, f.Action, differing(c, f)))
		}
	}
	for _, c := range fresh.Changes {
		if _, left := now[c.ID.Key()]; left {
			out = append(out, fmt.Sprintf("%s: was not part of the plan, would now %s", c.ID, c.Action))
		}
	}
	if len(out) > limit {
		out = append(out[:limit], fmt.Sprintf("and %d more", len(out)-limit))
	}
	return out
}

// differing names the first field or fact that moved.
func differing(a, b Change) string {
	if a.Action != b.Action {
		return ""
	}
	for _, k := range slices.Sorted(maps.Keys(a.Facts)) {
		if fmt.Sprint(a.Facts[k]) != fmt.Sprint(b.Facts[k]) {
			return fmt.Sprintf(" (%s was %v, is %v)", k, a.Facts[k], b.Facts[k])
		}
	}
	fields := map[string]string{}
	for _, f := range a.Fields {
		fields[f.Path] = fmt.Sprint(f.Op, f.Before, f.After)
	}
	for _, f := range b.Fields {
		if fields[f.Path] != fmt.Sprint(f.Op, f.Before, f.After) {
			return " (field " + f.Path + " has moved)"
		}
	}
	return ""
}
