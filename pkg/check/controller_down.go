package check

import (
	"fmt"

	"github.com/mifbench/mifbench/pkg/config"
)

func controllerDown() Check {
	return Check{
		Code: "MIF119", About: "controllers", Title: "Controller that is not available", Severity: doubt, Measures: true,
		Why: "Its objects are accepted, or refused by its webhook, and nothing becomes of them: apply would wait until its timeout.",
		Fix: "Look at its pods (kubectl -n <namespace> get pods) before you apply.",
		Look: func(m *Model, w *World) (o Outcome) {
			for _, name := range controllers(m) {
				list, gap := w.controller(m, controllerName(name))
				if gap != "" {
					o.skip("%s", gap)
					continue
				}
				for _, d := range list {
					at := textAt(d, "metadata", "namespace") + "/" + textAt(d, "metadata", "name")
					if n, ok := count(dig(d, "spec", "replicas")); ok && n == 0 {
						o.find(controllerUser(m, controllerName(name), fmt.Sprintf("The Deployment %s of %s is scaled to 0.", at, name)))
						continue
					}
					if ok, why := condition(d, "Available"); !ok {
						o.find(controllerUser(m, controllerName(name), fmt.Sprintf("The Deployment %s of %s is not Available (%s).", at, name, why)))
						continue
					}
					o.seen("%s", at)
				}
			}
			return o
		},
	}
}

// controllerUser is a finding at the first block that needs the controller.
func controllerUser(m *Model, name controllerName, detail string) Finding {
	var r config.Resource
	path := ""
	switch name {
	case istiod:
		for _, g := range m.gateways {
			if g.class == "istio" {
				r, path = g.resource, "class"
				break
			}
		}
	case replicator:
		r, path = m.credentials[0], "mode"
	case odin, certManager, workerGroups:
		r = m.services[0].resource
	}
	return finding(r, path, detail)
}
