package check

import "fmt"

func pluginUnknownType() Check {
	return Check{
		Code: "MIF003", Title: "Unknown plugin type", Severity: fault,
		Why: "The scheduler refuses types that it does not know and its pod goes into a crash loop.",
		Fix: "Use one of its types; where your build of the scheduler has more, switch this check off.",
		Run: func(c *Model) []Finding {
			var names []string
			for _, t := range pluginTypes() {
				names = append(names, t.name)
			}
			var out []Finding
			for _, p := range c.pickers {
				for _, d := range p.plugins {
					if !d.known {
						out = append(out, p.finding(d.path, fmt.Sprintf("There is no plugin type %q.%s", d.kind, nearest(d.kind, names))))
					}
				}
			}
			return out
		},
	}
}
