package check

import "fmt"

func profileDuplicate() Check {
	return Check{
		Code: "MIF009", Title: "Unnamed or duplicate profile", Severity: fault,
		Why: "The scheduler refuses profiles without a name or with the same name and its pod goes into a crash loop.",
		Fix: "Give every profile a name of its own.",
		Run: func(c *Model) []Finding {
			var out []Finding
			for _, p := range c.pickers {
				seen := map[string]bool{}
				for _, pr := range p.profiles {
					switch {
					case pr.name == "":
						out = append(out, p.finding(pr.path, "This profile has no name."))
					case seen[pr.name]:
						out = append(out, p.finding(pr.path, fmt.Sprintf("There are two profiles named %q.", pr.name)))
					}
					seen[pr.name] = true
				}
			}
			return out
		},
	}
}
