package check

import (
	"fmt"

	"github.com/mifbench/mifbench/pkg/config/diagnostic"
)

func profileExpected() Check {
	return Check{
		Code: "MIF008", Title: "Profile that the handler expects is missing", Severity: fault,
		Why: "The handler asks for its profiles by name; without them no request is scheduled.",
		Fix: "Name the profiles \"prefill\" and \"decode\", or tell the handler their names with the parameters prefillProfile and decodeProfile.",
		Run: func(c *Model) []Finding {
			var out []Finding
			for _, p := range c.pickers {
				for _, h := range p.handlers() {
					if h.kind != "pd-profile-handler" {
						continue
					}
					for _, want := range []struct{ param, name string }{{"prefillProfile", "prefill"}, {"decodeProfile", "decode"}} {
						if given := textAt(h.params, want.param); given != "" {
							want.name = given
						}
						if !p.hasProfile(want.name) {
							out = append(out, p.finding(h.path, fmt.Sprintf("%s expects a profile named %q; there are: %s.", h.kind, want.name, orNone(p.profileNames()))))
						}
					}
				}
			}
			return out
		},
	}
}

func (p picker) hasProfile(name string) bool {
	for _, pr := range p.profiles {
		if pr.name == name {
			return true
		}
	}
	return false
}

func (p picker) profileNames() []string {
	var out []string
	for _, pr := range p.profiles {
		out = append(out, pr.name)
	}
	return out
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return diagnostic.List(names)
}
