package check

import (
	"slices"

	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/resource"
)

// needs collects rights, each once.
type needs struct {
	world *World
	list  []need
}

// neededRights are the rights that apply, run and destroy need, by the block that needs them.
func neededRights(m *Model, w *World) []need {
	n := &needs{world: w}
	for _, r := range m.Resources {
		for _, o := range r.Objects {
			n.object(m, r, o)
		}
	}
	for _, s := range m.schedulers {
		n.chart(s)
	}
	n.watching(m)
	if b := m.Backend; b.Type == "kubernetes" {
		ns := b.Namespace
		if ns == "" {
			ns = w.Namespace
		}
		n.put(config.Resource{}, "the stack's state", Right{Resource: "secrets", Namespace: ns}, "get", "create", "update", "delete")
		n.put(config.Resource{}, "the state's lock", Right{Group: "coordination.k8s.io", Resource: "leases", Namespace: ns}, "get", "create", "update", "delete")
	}
	return n.list
}

func (n *needs) put(by config.Resource, purpose string, r Right, verbs ...string) {
	for _, verb := range verbs {
		r.Verb = verb
		if !slices.ContainsFunc(n.list, func(x need) bool { return x.Right == r }) {
			n.list = append(n.list, need{Right: r, by: by, purpose: purpose})
		}
	}
}

// kind adds what making and removing objects of a kind takes; a kind that is not served yet is
// left out.
func (n *needs) kind(by config.Resource, purpose string, k kindName, namespace string) {
	s := n.world.kinds[k]
	if !s.ok || s.is.Resource == "" {
		return
	}
	if !s.is.Namespaced {
		namespace = ""
	}
	n.put(by, purpose, Right{Group: k.group(), Resource: s.is.Resource, Namespace: namespace}, "get", "create", "patch", "delete")
}

func (n *needs) object(m *Model, r config.Resource, o resource.Object) {
	switch o.ID.Driver {
	case resource.DriverHelm:
		n.put(r, "the release's records", Right{Resource: "secrets", Namespace: o.ID.Namespace}, "get", "list", "create", "update", "delete")
	case resource.DriverECR:
		verbs := []string{"get", "create", "patch", "delete"}
		if replicated(r) {
			verbs = verbs[:1]
		}
		n.put(r, "the pull secret", Right{Resource: "secrets", Namespace: o.ID.Namespace}, verbs...)
	default:
		n.kind(r, o.ID.Kind+" "+o.ID.Name, kindName{o.ID.APIVersion, o.ID.Kind}, o.ID.Namespace)
	}
}

// chart adds what the objects of the scheduler's chart take: among them a ClusterRole, which
// only those may make and bind who have the rights that it grants, or the rights to escalate
// and bind.
func (n *needs) chart(s scheduler) {
	for _, k := range chartObjects(s) {
		n.kind(s.resource, "the chart's "+k.kind, k, s.namespace)
	}
	const rbac, purpose = "rbac.authorization.k8s.io", "its ClusterRole grants this, and nobody may grant what they do not have"
	instead := []Right{{Verb: "escalate", Group: rbac, Resource: "clusterroles"}, {Verb: "bind", Group: rbac, Resource: "clusterroles"}}
	from := len(n.list)
	for _, r := range []Right{
		{Group: "inference.networking.k8s.io", Resource: "inferencepools"}, {Group: "inference.networking.x-k8s.io", Resource: "inferencepools"},
		{Group: "inference.networking.x-k8s.io", Resource: "inferenceobjectives"}, {Resource: "pods"},
	} {
		n.put(s.resource, purpose, r, "get", "list", "watch")
	}
	n.put(s.resource, purpose, Right{Group: "authentication.k8s.io", Resource: "tokenreviews"}, "create")
	n.put(s.resource, purpose, Right{Group: "authorization.k8s.io", Resource: "subjectaccessreviews"}, "create")
	for i := range n.list[from:] {
		n.list[from+i].unless = instead
	}
	for _, r := range instead {
		n.list = append(n.list, need{Right: r, by: s.resource, purpose: purpose, optional: true})
	}
}

// watching adds what waiting, probing and measuring take, in each namespace with pods of ours.
func (n *needs) watching(m *Model) {
	var done []string
	for _, r := range m.Resources {
		for _, o := range r.Objects {
			_, spec := podSpec(o.ID.Kind, o.Spec)
			if ns := o.ID.Namespace; (spec != nil || o.ID.Driver == resource.DriverHelm || o.ID.Kind == "InferenceService" || o.ID.Kind == "Gateway") && !slices.Contains(done, ns) {
				done = append(done, ns)
			}
		}
	}
	for _, ns := range done {
		none := config.Resource{}
		n.put(none, "why pods are not ready", Right{Resource: "pods", Namespace: ns}, "get", "list")
		n.put(none, "why pods are not ready", Right{Resource: "events", Namespace: ns}, "list")
		n.put(none, "last lines of a failing container", Right{Resource: "pods", Subresource: "log", Namespace: ns}, "get")
		if len(m.services)+len(m.Scenarios) == 0 {
			continue // nothing that run could measure
		}
		n.put(none, "probing each rank", Right{Resource: "pods", Subresource: "portforward", Namespace: ns}, "create")
		n.put(none, "the engines' metrics", Right{Resource: "pods", Subresource: "proxy", Namespace: ns}, "get")
	}
}
