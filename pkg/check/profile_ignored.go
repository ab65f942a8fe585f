package check

import "fmt"

func profileIgnored() Check {
	return Check{
		Code: "MIF011", Title: "Plugin without effect in a profile", Severity: doubt,
		Why: "Handlers and response plugins work by being declared; in a profile the scheduler passes over them.",
		Fix: "Remove the use block; keep the plugin block.",
		Run: func(c *Model) []Finding {
			var out []Finding
			eachUse(c, func(p picker, pr profile, i int) {
				if r := pr.uses[i].role; r == roleHandler || r == roleResponse {
					out = append(out, p.finding(pr.uses[i].path, fmt.Sprintf("%q is no filter, scorer or picker, so profile %q has no use for it.", pr.uses[i].ref, pr.name)))
				}
			})
			return out
		},
	}
}
