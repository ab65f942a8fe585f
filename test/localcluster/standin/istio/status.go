package istio

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mifbench/mifbench/test/localcluster/standin/reconcile"
)

// gatewayStatus is the status of a Gateway at this moment; address is its loopback address, "" when it has none.
func gatewayStatus(g *gateway, routes []*route, address string) map[string]any {
	gen := g.live.GetGeneration()
	accepted, programmed := judgeGateway(g, address)
	conds := reconcile.Conditions(nested(g.live.Object, "status", "conditions"),
		verdict("Accepted", accepted, gen, "Accepted", "Resource accepted"),
		verdict("Programmed", programmed, gen, "Programmed", fmt.Sprintf("Resource programmed, assigned to service(s) %s", serving(g))),
		verdict("ResolvedRefs", problem{}, gen, "ResolvedRefs", "All references resolved"))
	return map[string]any{
		"conditions": conds, "addresses": addresses(g, address), "listeners": listenerStatuses(g, routes, programmed),
	}
}

func judgeGateway(g *gateway, address string) (accepted, programmed problem) {
	if g.problem.reason == "InvalidParameters" {
		accepted = g.problem
		g.problem.reason = "Invalid"
	}
	for _, l := range g.spec.Listeners {
		if !supported(l) {
			accepted = problem{"ListenersNotValid", fmt.Sprintf("listener %s: protocol %s is not served by the stand-in", l.Name, l.Protocol)}
		}
	}
	switch {
	case g.problem.reason != "":
		programmed = g.problem
	case accepted.reason != "":
		programmed = problem{"Invalid", accepted.message}
	case address == "":
		programmed = problem{"AddressNotAssigned", "no loopback address could be opened; see the control plane's log"}
	}
	// Whether the proxy is ready plays no part: istiod looks at the Service only.
	return accepted, programmed
}

func readyProxies(g *gateway) int {
	n := 0
	for _, p := range g.proxies {
		if reconcile.PodReady(p) {
			n++
		}
	}
	return n
}

func supported(l listener) bool { return l.Protocol == "HTTP" }

func host(g *gateway) string {
	return fmt.Sprintf("%s.%s.svc.cluster.local", objectName(g), g.live.GetNamespace())
}

// addresses lists the in-cluster name, as Istio does for a ClusterIP Service, and the address that works from here.
func addresses(g *gateway, address string) []any {
	out := []any{}
	if g.exposure == corev1.ServiceTypeClusterIP {
		out = append(out, map[string]any{"type": "Hostname", "value": host(g)})
	}
	if address != "" {
		out = append(out, map[string]any{"type": "IPAddress", "value": address})
	}
	return out
}

// serving lists the host and port of each listener, as Istio reports them.
func serving(g *gateway) string {
	var all []string
	for _, l := range g.spec.Listeners {
		if at := net.JoinHostPort(host(g), strconv.Itoa(l.Port)); supported(l) && !slices.Contains(all, at) {
			all = append(all, at)
		}
	}
	if n := len(all); n > 2 {
		return strings.Join(all[:n-1], ", ") + ", and " + all[n-1]
	}
	return strings.Join(all, " and ")
}

func listenerStatuses(g *gateway, routes []*route, programmed problem) []any {
	old, _ := nested(g.live.Object, "status", "listeners").([]any)
	gen := g.live.GetGeneration()
	out := []any{}
	for _, l := range g.spec.Listeners {
		kinds, bad := []any{map[string]any{"group": gatewayGroup, "kind": "HTTPRoute"}, map[string]any{"group": gatewayGroup, "kind": "GRPCRoute"}}, problem{}
		if !supported(l) {
			kinds, bad = []any{}, problem{"UnsupportedProtocol", "protocol " + l.Protocol + " is not served by the stand-in"}
		}
		ready := programmed
		if bad.reason != "" {
			ready = problem{"Invalid", bad.message}
		}
		var before any
		for _, o := range old {
			if m, ok := o.(map[string]any); ok && m["name"] == l.Name {
				before = m["conditions"]
			}
		}
		out = append(out, map[string]any{
			"name": l.Name, "supportedKinds": kinds, "attachedRoutes": attached(g, l.Name, routes),
			"conditions": reconcile.Conditions(before,
				verdict("Accepted", bad, gen, "Accepted", "No errors found"),
				metav1.Condition{Type: "Conflicted", Status: metav1.ConditionFalse, ObservedGeneration: gen, Reason: "NoConflicts", Message: "No errors found"},
				verdict("Programmed", ready, gen, "Programmed", "No errors found"),
				verdict("ResolvedRefs", problem{}, gen, "ResolvedRefs", "No errors found")),
		})
	}
	return out
}

// attached counts the routes on a listener.
func attached(g *gateway, name string, routes []*route) int {
	n := 0
	for _, r := range routes {
		for _, p := range r.parents {
			if p.gateway != g {
				continue
			}
			for _, l := range p.listeners {
				if l == name {
					n++
				}
			}
		}
	}
	return n
}

// poolStatus reports a pool to each Gateway through which routes lead to it.
func poolStatus(p *pool, routes []*route) map[string]any {
	gen := p.live.GetGeneration()
	parents, seen := []any{}, map[*gateway]bool{}
	for _, r := range routes {
		leads := false
		for _, b := range r.rules {
			leads = leads || b.pool == p
		}
		for _, par := range r.parents {
			if !leads || par.gateway == nil || len(par.listeners) == 0 || seen[par.gateway] {
				continue
			}
			seen[par.gateway] = true
			group := "networking.istio.io" // istiod names the group of its own Gateways here
			ref := reference{Group: &group, Kind: "Gateway", Namespace: par.gateway.live.GetNamespace(), Name: par.gateway.live.GetName()}
			old := oldParent(nested(p.live.Object, "status", "parents"), ref)
			parents = append(parents, map[string]any{
				"parentRef": ref, // istiod gives no controllerName here
				"conditions": reconcile.Conditions(old,
					condition("Accepted", true, gen, "Accepted", "Referenced by an HTTPRoute accepted by the parentRef Gateway"),
					verdict("ResolvedRefs", p.picker, gen, "ResolvedRefs", "Referenced ExtensionRef resolved successfully")),
			})
		}
	}
	return map[string]any{"parents": parents}
}
