package check

import "fmt"

func profileWeight() Check {
	return Check{
		Code: "MIF014", Title: "Weight without sense", Severity: doubt,
		Why: "Only scorers are weighed, and a weight of 0 or less makes a scorer count for nothing or prefer the worst endpoint.",
		Fix: "Give weights above 0 to scorers only.",
		Run: func(c *Model) []Finding {
			var out []Finding
			eachUse(c, func(p picker, pr profile, i int) {
				u := pr.uses[i]
				r := u.role
				switch {
				case u.weight == nil || r == 0:
				case r&roleScorer == 0:
					out = append(out, p.finding(u.path+".weight", fmt.Sprintf("%q is not a scorer, so its weight of %v has no effect.", u.ref, *u.weight)))
				case *u.weight <= 0:
					out = append(out, p.finding(u.path+".weight", fmt.Sprintf("The scorer %q has the weight %v.", u.ref, *u.weight)))
				}
			})
			return out
		},
	}
}
