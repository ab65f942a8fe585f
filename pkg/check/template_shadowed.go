package check

import "fmt"

func templateShadowed() Check {
	return Check{
		Code: "MIF107", About: "templates of two places", Title: "Template of the same name in two places", Severity: doubt,
		Why: "Odin takes the one of the service's own namespace: the framework's of that name, and its upgrades, have no effect.",
		Fix: "Give your own template another name, or delete it.",
		Look: func(m *Model, w *World) (o Outcome) {
			for _, e := range m.services {
				own, shared := w.templates[e.namespace], w.templates[systemNamespace]
				if !own.ok || !shared.ok {
					o.skip("%s: %s", e.resource.Address, firstMissing(own.missing(), shared.missing(), own.ok))
					continue
				}
				found := 0
				for i, ref := range e.options.TemplateRefs {
					if own.is[ref] != nil || shared.is[ref] != nil {
						found++
					}
					if e.namespace != systemNamespace && own.is[ref] != nil && shared.is[ref] != nil {
						o.find(e.finding(join("template_refs", i), fmt.Sprintf("The template %q is in %s and in %s.", ref, e.namespace, systemNamespace)))
					}
				}
				if found > 0 && len(o.Findings) == 0 {
					o.seen("%s of %s", counted(int64(found), "template"), e.resource.Address)
				}
			}
			return o
		},
	}
}

func firstMissing(a, b string, aFine bool) string {
	if aFine {
		return b
	}
	return a
}
