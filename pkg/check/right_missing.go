package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/resource"
)

func rightMissing() Check {
	return Check{
		Code: "MIF118", About: "rights", Title: "Rights that are missing", Severity: fault, Writes: true,
		Why: "The API server would refuse in the middle of apply, run or destroy, with half of the stack made.",
		Fix: "Ask for these rights (a Role in the namespace, a ClusterRole for what lives in none), or use another context.",
		Look: func(m *Model, w *World) (o Outcome) {
			if !w.rights.ok {
				o.skip("%s", w.rights.missing())
				return o
			}
			var lacking []need
			for _, v := range w.rights.is {
				if !v.allowed && !v.optional && !v.replaceable(w.rights.is) {
					lacking = append(lacking, v.need)
				}
			}
			if len(lacking) > 0 {
				o.find(Finding{At: m.Cluster.Range, Block: m.Cluster.Range, Detail: fmt.Sprintf(
					"The user of context %q may not:\n%s\n", w.Context, strings.Join(rightLines(lacking), "\n"))})
			} else if len(w.rights.is) > 0 {
				o.seen("%d rights", len(w.rights.is))
			}
			return o
		},
	}
}

// need is a right that a block needs, or the stack as a whole when by is empty.
type need struct {
	Right
	by config.Resource
	// purpose says what for.
	purpose string
	// unless are other rights that together make this one unnecessary.
	unless []Right
	// optional marks such another right: its lack alone is no fault.
	optional bool
}

// verdict is a need and whether the user has the right.
type verdict struct {
	need
	allowed bool
}

// replaceable tells whether the user has the other rights that make this one unnecessary.
func (v verdict) replaceable(all []verdict) bool {
	for _, r := range v.unless {
		if !slices.ContainsFunc(all, func(x verdict) bool { return x.allowed && x.Right == r }) {
			return false
		}
	}
	return len(v.unless) > 0
}

// rightLines groups needs that differ in the verb only.
func rightLines(list []need) []string {
	type object struct{ what, where, why string }
	verbs := map[object][]string{}
	var order []object
	for _, n := range list {
		k := object{n.resourceName(), "in namespace " + n.Namespace, n.purpose}
		if n.Namespace == "" {
			k.where = "in the whole cluster"
		}
		if n.by.Address != (resource.Address{}) {
			k.why = n.by.Address.String() + ": " + n.purpose
		}
		if verbs[k] == nil {
			order = append(order, k)
		}
		verbs[k] = append(verbs[k], n.Verb)
	}
	var lines []string
	for _, k := range order {
		lines = append(lines, fmt.Sprintf("  %s %s %s (%s)", strings.Join(verbs[k], ", "), k.what, k.where, k.why))
	}
	return lines
}

func (r Right) resourceName() string {
	name := r.Resource
	if r.Subresource != "" {
		name += "/" + r.Subresource
	}
	if r.Group != "" {
		name += "." + r.Group
	}
	return name
}
