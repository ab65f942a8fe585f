package check

import "fmt"

func classMissing() Check {
	return Check{
		Code: "MIF104", About: "GatewayClass", Title: "GatewayClass missing or not accepted", Severity: fault,
		Why: "Without a controller that accepts the class nobody makes the gateway's pods, and it never gets an address.",
		Fix: "Install the gateway controller (for istio: the chart istiod, 1.29.1), or name a class that there is.",
		Look: func(m *Model, w *World) (o Outcome) {
			if len(m.gateways) > 0 && w.unserved("gateway.networking.k8s.io/v1", "Gateway") {
				o.skip("the cluster does not serve Gateways (MIF102)")
				return o
			}
			for _, g := range m.gateways {
				class := w.object(classID(g.class))
				accepted, why := condition(class.is, "Accepted")
				switch coming := m.mayCome(w); {
				case !class.ok:
					o.skip("%s", class.missing())
				case class.is == nil && m.madeHere("GatewayClass", "", g.class):
					o.seen("%s comes with this configuration", g.class)
				case class.is == nil && coming != "":
					o.skip("GatewayClass %s is not there: %s", g.class, coming)
				case class.is == nil:
					o.find(finding(g.resource, "class", fmt.Sprintf("The cluster has no GatewayClass %q.", g.class)))
				case !accepted:
					o.find(finding(g.resource, "class", fmt.Sprintf("The GatewayClass %q is not accepted by its controller %s (%s).", g.class, textAt(class.is, "spec", "controllerName"), why)))
				default:
					o.seen("%s is accepted by %s", g.class, textAt(class.is, "spec", "controllerName"))
				}
			}
			return o
		},
	}
}

// condition tells whether a condition of an object's status is True, and what it says otherwise.
func condition(o map[string]any, kind string) (ok bool, why string) {
	for _, c := range listAt(o, "status", "conditions") {
		if textAt(c, "type") == kind {
			return textAt(c, "status") == "True", textAt(c, "reason") + ": " + textAt(c, "message")
		}
	}
	return false, "it has no condition " + kind
}
