package check

import "fmt"

func namespaceForeign() Check {
	return Check{
		Code: "MIF115", About: "owner of the namespaces", Title: "Namespace that is not this stack's", Severity: doubt, Planned: true,
		Why: "Somebody else may work in it; apply refuses to take it over unless it is told to, and destroy would not delete it.",
		Fix: "Choose another name, or set adopt = true in the block.",
		Look: func(m *Model, w *World) (o Outcome) {
			for _, name := range sortedKeys(m.namespaces) {
				r, ns := m.namespaces[name], w.object(namespaceID(name))
				owner := textAt(ns.is, "metadata", "annotations", "mifbench.dev/stack")
				switch {
				case !ns.ok:
					o.skip("%s", ns.missing())
				case ns.is == nil:
					o.seen("%s is to be made", name)
				case owner == m.Stack || owner == "" && r.Objects[0].Options.Adopt:
					o.seen("%s", name)
				case owner != "":
					o.find(finding(r, "name", fmt.Sprintf("The namespace %q belongs to the stack %q.", name, owner)))
				default:
					o.find(finding(r, "name", fmt.Sprintf("The namespace %q exists and carries no stack's mark.", name)))
				}
			}
			return o
		},
	}
}
