package check

import (
	"fmt"

	"github.com/mifbench/mifbench/pkg/config/diagnostic"
)

func profileHandler() Check {
	return Check{
		Code: "MIF007", Title: "Not exactly one profile handler", Severity: fault,
		Why: "The scheduler starts only with exactly one handler that suits the number of profiles.",
		Fix: "Declare pd-profile-handler for prefill and decode, single-profile-handler for one profile.",
		Run: func(c *Model) []Finding {
			var out []Finding
			for _, p := range c.pickers {
				handlers := p.handlers()
				switch {
				case len(handlers) == 0 && len(p.profiles) > 1 && !p.strange():
					out = append(out, p.finding(p.place(), fmt.Sprintf("%d profiles, but no profile handler is declared.", len(p.profiles))))
				case len(handlers) > 1:
					out = append(out, p.finding(handlers[1].path, fmt.Sprintf("%d profile handlers are declared: %s.", len(handlers), diagnostic.List(refsOf(handlers)))))
				case len(handlers) == 1 && handlers[0].kind == "single-profile-handler" && len(p.profiles) > 1:
					out = append(out, p.finding(handlers[0].path, fmt.Sprintf("single-profile-handler runs one profile, but there are %d.", len(p.profiles))))
				}
			}
			return out
		},
	}
}

func refsOf(list []declared) []string {
	var out []string
	for _, d := range list {
		out = append(out, d.ref)
	}
	return out
}

// strange tells whether a plugin's type is unknown; it may be the handler.
func (p picker) strange() bool {
	for _, d := range p.plugins {
		if !d.known {
			return true
		}
	}
	return false
}

// place is where the configuration as a whole begins.
func (p picker) place() string {
	if len(p.profiles) > 0 {
		return p.profiles[0].path
	}
	return p.path
}
