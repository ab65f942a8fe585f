package check

import "fmt"

func pluginUndeclared() Check {
	return Check{
		Code: "MIF001", Title: "Undeclared plugin", Severity: fault,
		Why: "The scheduler refuses such a configuration and its pod goes into a crash loop, while Helm reports success.",
		Fix: "Declare it with a plugin block, or correct the name.",
		Run: func(c *Model) []Finding {
			var out []Finding
			for _, p := range c.pickers {
				for _, pr := range p.profiles {
					for _, u := range pr.uses {
						if _, ok := p.declaredAs(u.ref); !ok {
							out = append(out, p.finding(u.path, fmt.Sprintf("Profile %q uses the plugin %q, which is not declared.%s", pr.name, u.ref, nearest(u.ref, p.refs()))))
						}
					}
				}
			}
			return out
		},
	}
}
