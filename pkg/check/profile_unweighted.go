package check

import "fmt"

func profileUnweighted() Check {
	return Check{
		Code: "MIF037", Title: "Scorer without a weight behind the picker", Severity: fault,
		Why: "The scheduler gives scorers their weight of 1 only as far as the picker; at one behind it, it panics and its pod goes into a crash loop.",
		Fix: "Write profiles in which scorers stand in front of the picker.",
		Run: func(c *Model) []Finding {
			var out []Finding
			eachUse(c, func(p picker, pr profile, i int) {
				u := pr.uses[i]
				if u.role&roleScorer != 0 && u.rawWeight == nil && p.lastBefore(pr, i, rolePicker) >= 0 {
					out = append(out, p.finding(u.path, fmt.Sprintf("The scorer %q stands behind the picker of profile %q and has no weight.", u.ref, pr.name)))
				}
			})
			for _, p := range c.pickers {
				if s := p.declaring(roleScorer); len(p.profiles) == 0 && len(s) > 0 && len(p.declaring(rolePicker)) > 0 {
					out = append(out, p.finding(s[0].path, "Without profiles, the scheduler makes one of all plugins in random order, so it starts at some times only."))
				}
			}
			return out
		},
	}
}
