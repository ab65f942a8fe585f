package check

import "fmt"

func pluginDuplicate() Check {
	return Check{
		Code: "MIF002", Title: "Plugin declared twice", Severity: fault,
		Why: "The scheduler refuses two plugins of one name and its pod goes into a crash loop.",
		Fix: "Remove one, or give one of them a name of its own: name = \"…\".",
		Run: func(c *Model) []Finding {
			var out []Finding
			for _, p := range c.pickers {
				seen := map[string]bool{}
				for _, d := range p.plugins {
					if seen[d.ref] {
						out = append(out, p.finding(d.path, fmt.Sprintf("There are two plugins named %q; a plugin without a name is named after its type.", d.ref)))
					}
					seen[d.ref] = true
				}
			}
			return out
		},
	}
}
