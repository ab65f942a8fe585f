package check

import (
	"fmt"
	"time"

	"github.com/mifbench/mifbench/pkg/config"
)

func requestTimeout() Check {
	return Check{
		Code: "MIF017", Title: "Requests outlive the scorer's count", Severity: doubt,
		Why: "active-request-scorer forgets requests older than requestTimeout (2m by default), so busy endpoints look idle and get still more.",
		Fix: "Set requestTimeout above the time that the slowest request takes.",
		Run: func(c *Model) []Finding {
			var out []Finding
			eachScorer(c, func(p picker, d declared, _ plugin) {
				if d.kind != "active-request-scorer" {
					return
				}
				limit := 2 * time.Minute
				if given, ok := d.params["requestTimeout"]; ok {
					text, _ := given.(string)
					given, err := time.ParseDuration(text)
					if err != nil {
						return // MIF005 says so
					}
					limit = given
				}
				for _, sc := range c.Scenarios {
					if need := expected(sc); need > limit && meets(c, sc, p.scheduler) {
						out = append(out, p.finding(d.path+".parameters.requestTimeout", fmt.Sprintf("The limit is %s, but requests of %s are expected to take about %s.", limit, sc.Address, need.Round(time.Second))))
						return
					}
				}
			})
			return out
		},
	}
}

// meets tells whether a scenario's requests go through a scheduler.
func meets(c *Model, sc config.Scenario, s scheduler) bool {
	for _, t := range targets(c, sc) {
		if t.resource.Address == s.resource.Address {
			return true
		}
	}
	return false
}
