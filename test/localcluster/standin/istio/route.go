package istio

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mifbench/mifbench/test/localcluster/standin/reconcile"
)

const gatewayGroup = "gateway.networking.k8s.io"

// parent is the verdict on one parentRef of a route.
type parent struct {
	ref       reference
	gateway   *gateway // nil: none of ours has the name
	listeners []string // names of the listeners it is attached to
	refused   problem  // why it is attached to none
}

// backend is the verdict on one rule's backend.
type backend struct {
	pool    *pool
	problem problem
}

// judgeRoutes decides for every route where it is attached and whether its backends exist. Routes that speak of nothing
// of ours are left out: another controller answers for them.
func judgeRoutes(w *world) []*route {
	var out []*route
	for _, r := range w.routes {
		for _, ref := range r.spec.ParentRefs {
			if p, ours := judgeParent(w, r, ref); ours {
				r.parents = append(r.parents, p)
			}
		}
		for _, rule := range r.spec.Rules {
			r.rules = append(r.rules, judgeBackend(w, r.live.GetNamespace(), rule.BackendRefs))
		}
		if len(r.parents) > 0 {
			out = append(out, r)
		}
	}
	return out
}

func judgeParent(w *world, r *route, ref reference) (p parent, ours bool) {
	if ref.Group != nil && *ref.Group != gatewayGroup || ref.Kind != "" && ref.Kind != "Gateway" {
		return parent{}, false
	}
	namespace := ref.Namespace
	if namespace == "" {
		namespace = r.live.GetNamespace()
	}
	p = parent{ref: ref, gateway: w.gateway(namespace, ref.Name)}
	if p.gateway == nil {
		p.refused = problem{"NoMatchingParent", fmt.Sprintf("Gateway %s/%s of class %s not found", namespace, ref.Name, ClassName)}
		return p, true
	}
	p.refused = problem{"NoMatchingParent", "no listener of the Gateway has the sectionName and port of the parentRef"}
	for _, l := range p.gateway.spec.Listeners {
		if ref.SectionName != "" && ref.SectionName != l.Name || ref.Port != nil && *ref.Port != l.Port {
			continue
		}
		if !allows(w, p.gateway, l, r.live.GetNamespace()) {
			p.refused = problem{"NotAllowedByListeners", fmt.Sprintf("listener %s does not allow routes from namespace %s", l.Name, r.live.GetNamespace())}
			continue
		}
		p.listeners = append(p.listeners, l.Name)
	}
	if len(p.listeners) > 0 {
		p.refused = problem{}
	}
	return p, true
}

// allows applies a listener's allowedRoutes.namespaces; the default is the Gateway's own namespace.
func allows(w *world, g *gateway, l listener, namespace string) bool {
	from := "Same"
	if l.AllowedRoutes != nil && l.AllowedRoutes.Namespaces != nil && l.AllowedRoutes.Namespaces.From != "" {
		from = l.AllowedRoutes.Namespaces.From
	}
	switch from {
	case "All":
		return true
	case "Selector":
		return selects(l.AllowedRoutes.Namespaces.Selector, w.nsLabels[namespace])
	default:
		return namespace == g.live.GetNamespace()
	}
}

// judgeBackend takes the first reference with a weight; heimdall's route has exactly one.
func judgeBackend(w *world, namespace string, refs []reference) backend {
	for _, ref := range refs {
		if ref.Weight != nil && *ref.Weight == 0 {
			continue
		}
		if ref.Namespace != "" && ref.Namespace != namespace {
			return backend{problem: problem{"RefNotPermitted", fmt.Sprintf("backend in namespace %s needs a ReferenceGrant", ref.Namespace)}}
		}
		if ref.group() == "inference.networking.k8s.io" && ref.Kind == "InferencePool" {
			if p := w.pool(namespace, ref.Name); p != nil {
				return backend{pool: p}
			}
			return backend{problem: problem{"BackendNotFound", fmt.Sprintf("InferencePool %s/%s not found", namespace, ref.Name)}}
		}
		return backend{problem: problem{"InvalidKind", fmt.Sprintf("backend kind %q of group %q is not served by the stand-in", ref.Kind, ref.group())}}
	}
	return backend{problem: problem{"BackendNotFound", "the rule has no backend"}}
}

// status returns the route's status as the Gateway API defines it: one entry per parent.
func (r *route) status() map[string]any {
	resolved := problem{}
	for _, b := range r.rules {
		if b.problem.reason != "" {
			resolved = b.problem
			break
		}
	}
	gen := r.live.GetGeneration()
	parents := []any{}
	for _, p := range r.parents {
		old := oldParent(nested(r.live.Object, "status", "parents"), p.ref)
		parents = append(parents, map[string]any{
			"parentRef": p.ref, "controllerName": Controller,
			"conditions": reconcile.Conditions(old,
				verdict("Accepted", p.refused, gen, "Accepted", "Route was valid"),
				verdict("ResolvedRefs", resolved, gen, "ResolvedRefs", "All references resolved")),
		})
	}
	return map[string]any{"parents": parents}
}

// verdict is a true condition unless there is a problem.
func verdict(typ string, p problem, generation int64, reason, message string) metav1.Condition {
	if p.reason != "" {
		return condition(typ, false, generation, p.reason, p.message)
	}
	return condition(typ, true, generation, reason, message)
}

// oldParent finds the conditions that were reported for a parentRef before.
func oldParent(parents any, ref reference) any {
	list, _ := parents.([]any)
	for _, p := range list {
		m, _ := p.(map[string]any)
		section, _ := nested(m, "parentRef", "sectionName").(string)
		if nested(m, "parentRef", "name") == ref.Name && section == ref.SectionName {
			return m["conditions"]
		}
	}
	return nil
}
