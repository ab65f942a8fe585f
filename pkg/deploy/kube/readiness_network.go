package kube

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mifbench/mifbench/pkg/plan"
)

func namespaceReady(obj map[string]any) plan.Readiness {
	phase, _, _ := unstructured.NestedString(obj, "status", "phase")
	if phase != "" && phase != "Active" {
		return notYet("phase %s", phase)
	}
	return ready("")
}

// claimReady is the rule of claims; Wait knows besides which of them wait for a consumer.
func claimReady(obj map[string]any) plan.Readiness {
	phase, _, _ := unstructured.NestedString(obj, "status", "phase")
	switch phase {
	case "Bound":
		return ready("")
	case "Lost":
		return doomed("the claim has lost its volume")
	}
	return notYet("phase %s", phase)
}

func serviceReady(obj map[string]any) plan.Readiness {
	if kind, _, _ := unstructured.NestedString(obj, "spec", "type"); kind != "LoadBalancer" {
		return ready("")
	}
	if list, _, _ := unstructured.NestedSlice(obj, "status", "loadBalancer", "ingress"); len(list) == 0 {
		return notYet("no load balancer address yet")
	}
	return ready("")
}

func crdReady(obj map[string]any) plan.Readiness {
	if c, ok := find(obj, "NamesAccepted"); ok && c.status == "False" {
		return doomed("%s", c)
	}
	for _, kind := range []string{"NamesAccepted", "Established"} {
		c, ok := find(obj, kind)
		if !ok {
			return notYet("no condition %s yet", kind)
		}
		if c.status != "True" {
			return notYet("%s", c)
		}
	}
	return ready("")
}

// gatewayReady wants Accepted and Programmed at the current generation. Conditions that the
// CRD itself sets at creation ("Waiting for controller") are Unknown and so not enough.
func gatewayReady(obj map[string]any) plan.Readiness {
	for _, kind := range []string{"Accepted", "Programmed"} {
		c, ok := find(obj, kind)
		if !ok {
			return notYet("no condition %s yet: is a controller of its GatewayClass running?", kind)
		}
		if r := conditionReady(obj, c); !r.Ready {
			return r
		}
	}
	return ready("")
}

// parentsReady is the rule of routes and inference pools: every parent that a controller
// answered for has Accepted and ResolvedRefs; a route's every parentRef is answered for.
func parentsReady(obj map[string]any) plan.Readiness {
	refs, _, _ := unstructured.NestedSlice(obj, "spec", "parentRefs")
	parents, _, _ := unstructured.NestedSlice(obj, "status", "parents")
	answered := map[string]bool{}
	for _, p := range parents {
		m, _ := p.(map[string]any)
		name := parentName(m["parentRef"])
		list, _ := m["conditions"].([]any)
		if r, ok := parentReady(obj, name, readConditions(list)); !ok {
			return r
		}
		answered[name] = true
	}
	if len(answered) == 0 {
		return notYet("no gateway has answered for it yet")
	}
	for _, ref := range refs {
		if name := parentName(ref); !answered[name] {
			return notYet("gateway %s has not answered for it yet", name)
		}
	}
	return ready("")
}

func parentReady(obj map[string]any, name string, list []condition) (plan.Readiness, bool) {
	for _, kind := range []string{"Accepted", "ResolvedRefs"} {
		found := false
		for _, c := range list {
			if c.kind != kind {
				continue
			}
			found = true
			if r := conditionReady(obj, c); !r.Ready {
				r.Reason = "gateway " + name + ": " + r.Reason
				return r, false
			}
		}
		if !found {
			return notYet("gateway %s: no condition %s yet", name, kind), false
		}
	}
	return plan.Readiness{}, true
}

// parentName leaves the namespace out: a route may omit its own, a controller may fill it in.
func parentName(ref any) string {
	m, _ := ref.(map[string]any)
	name, _ := m["name"].(string)
	section, _ := m["sectionName"].(string)
	return strings.TrimSuffix(name+"/"+section, "/")
}
