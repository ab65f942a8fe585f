package check

import (
	"fmt"

	"github.com/mifbench/mifbench/pkg/config/diagnostic"
)

func profilePickers() Check {
	return Check{
		Code: "MIF010", Title: "More than one picker in a profile", Severity: fault,
		Why: "A profile has one picker; the scheduler refuses a second and its pod goes into a crash loop.",
		Fix: "Keep one of them.",
		Run: func(c *Model) []Finding {
			var out []Finding
			eachUse(c, func(p picker, pr profile, i int) {
				if i > 0 && pr.uses[i].role&rolePicker != 0 && p.lastBefore(pr, i, rolePicker) >= 0 {
					out = append(out, p.finding(pr.uses[i].path, fmt.Sprintf("Profile %q already has the picker %q.", pr.name, pr.uses[p.lastBefore(pr, i, rolePicker)].ref)))
				}
			})
			for _, p := range c.pickers {
				if pickers := p.declaring(rolePicker); len(p.profiles) == 0 && len(pickers) > 1 {
					out = append(out, p.finding(pickers[1].path, fmt.Sprintf("Without profiles, the scheduler makes one of all plugins; there are %d pickers: %s.", len(pickers), diagnostic.List(refsOf(pickers)))))
				}
			}
			return out
		},
	}
}

// eachUse visits the uses of all profiles.
func eachUse(c *Model, visit func(p picker, pr profile, i int)) {
	for _, p := range c.pickers {
		for _, pr := range p.profiles {
			for i := range pr.uses {
				visit(p, pr, i)
			}
		}
	}
}

// lastBefore is the index of the last use of a role before i, -1 when there is none.
func (p picker) lastBefore(pr profile, i int, r role) int {
	for j := i - 1; j >= 0; j-- {
		if pr.uses[j].role&r != 0 {
			return j
		}
	}
	return -1
}
