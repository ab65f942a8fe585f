package check

import "fmt"

func claimMissing() Check {
	return Check{
		Code: "MIF120", About: "claims", Title: "Claim with the models missing", Severity: doubt,
		Why: "The utility templates *-hf-hub-offline mount the PersistentVolumeClaim models; without it the pods stay Pending.",
		Fix: "Create the claim in the service's namespace and fill it, or leave the template out.",
		Look: func(m *Model, w *World) (o Outcome) {
			for _, e := range m.services {
				for _, name := range e.claims() {
					claim := w.object(claimID(e.namespace, name))
					switch phase := textAt(claim.is, "status", "phase"); {
					case !claim.ok:
						o.skip("%s", claim.missing())
					case m.madeHere("PersistentVolumeClaim", e.namespace, name):
						o.seen("%s comes with this configuration", name)
					case claim.is == nil:
						o.find(e.finding("template_refs", fmt.Sprintf("The namespace %s has no PersistentVolumeClaim %q.", e.namespace, name)))
					case phase == "Lost":
						o.find(e.finding("template_refs", fmt.Sprintf("The PersistentVolumeClaim %s/%s has lost its volume.", e.namespace, name)))
					default:
						o.seen("%s/%s is %s", e.namespace, name, phase)
					}
				}
			}
			return o
		},
	}
}
