package check

import "fmt"

func profileOrder() Check {
	return Check{
		Code: "MIF013", Title: "Profile out of order", Severity: doubt,
		Why: "A profile filters, then scores, then picks; a reader expects that order, and a profile without a picker gets one that its file does not show.",
		Fix: "Write filters first, then scorers, then one picker.",
		Run: func(c *Model) []Finding {
			var out []Finding
			eachUse(c, func(p picker, pr profile, i int) {
				u, r := pr.uses[i], pr.uses[i].role
				switch {
				case r&roleScorer != 0 && u.rawWeight != nil && p.lastBefore(pr, i, rolePicker) >= 0:
					out = append(out, p.finding(u.path, fmt.Sprintf("The scorer %q stands behind the picker of profile %q.", u.ref, pr.name)))
				case r == roleFilter && p.lastBefore(pr, i, roleScorer|rolePicker) >= 0 && pr.uses[p.lastBefore(pr, i, roleScorer|rolePicker)].role&roleFilter == 0:
					out = append(out, p.finding(u.path, fmt.Sprintf("The filter %q stands behind a scorer or the picker of profile %q.", u.ref, pr.name)))
				}
			})
			for _, p := range c.pickers {
				for _, pr := range p.profiles {
					if p.lastBefore(pr, len(pr.uses), rolePicker) < 0 && !p.strange() && !p.dangling(pr) {
						out = append(out, p.finding(pr.path, fmt.Sprintf("Profile %q has no picker; the scheduler will take one that is declared, or max-score-picker.", pr.name)))
					}
				}
			}
			return out
		},
	}
}
