package check

import (
	"fmt"

	"github.com/mifbench/mifbench/pkg/config"
)

func namespaceUnusable() Check {
	return Check{
		Code: "MIF114", About: "namespaces", Title: "Namespace that cannot be used", Severity: fault,
		Why: "Nothing can be created in a namespace that is being deleted or does not exist.",
		Fix: "Wait until it is gone, remove what holds it up, or choose another name; add a namespace block for one that does not exist.",
		Look: func(m *Model, w *World) (o Outcome) {
			for _, name := range m.usedNamespaces() {
				ns := w.object(namespaceID(name))
				user, path := m.namespaceUser(name)
				switch coming := m.mayCome(w); {
				case !ns.ok:
					o.skip("%s", ns.missing())
				case ns.is == nil && m.madeHere("Namespace", "", name):
					o.seen("%s is to be made", name)
				case ns.is == nil && coming != "":
					o.skip("namespace %s is not there: %s", name, coming)
				case ns.is == nil:
					o.find(finding(user, path, fmt.Sprintf("The namespace %q does not exist, and no block makes it.", name)))
				case textAt(ns.is, "status", "phase") == "Terminating" || dig(ns.is, "metadata", "deletionTimestamp") != nil:
					o.find(finding(user, path, fmt.Sprintf("The namespace %q is being deleted since %s%s", name, textAt(ns.is, "metadata", "deletionTimestamp"), holdUps(ns.is))))
				default:
					o.seen("%s", name)
				}
			}
			return o
		},
	}
}

// holdUps is what the namespace itself says about why it is still there.
func holdUps(ns map[string]any) string {
	var lines []string
	for _, c := range listAt(ns, "status", "conditions") {
		if textAt(c, "status") == "True" {
			lines = append(lines, "  "+textAt(c, "type")+": "+textAt(c, "message"))
		}
	}
	if len(lines) == 0 {
		return "."
	}
	return ":" + block(lines)
}

// namespaceUser is the block that makes a namespace, else the first that has objects in it.
func (m *Model) namespaceUser(name string) (r config.Resource, path string) {
	if r, ok := m.namespaces[name]; ok {
		return r, "name"
	}
	for _, r := range m.Resources {
		for _, o := range r.Objects {
			if o.ID.Namespace == name || o.ID.Kind == "Namespace" && o.ID.Name == name {
				return r, "namespace"
			}
		}
	}
	return config.Resource{}, ""
}
