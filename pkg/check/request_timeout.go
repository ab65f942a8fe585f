package check

import (
	"fmt"
	"time"

	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/resource"
)

func requestTimeout() Check {
	return Check{
		Code: "MIF017", Title: "Requests outlive the scorer's count", Severity: doubt,
		Why: "active-request-scorer forgets requests older than requestTimeout (2m by default), so busy endpoints look idle and get still more.",
		Fix: "Set requestTimeout above the time that the slowest request takes.",
		Run: func(c *Model) []Finding {
			slowest := slowestScenarios(c)
			var out []Finding
			eachScorer(c, func(p picker, d declared, _ plugin) {
				sc, met := slowest[p.scheduler.resource.Address]
				limit, known := scorerLimit(d)
				if d.kind != "active-request-scorer" || !met || !known {
					return
				}
				if need := expected(sc); need > limit {
					out = append(out, p.finding(d.path+".parameters.requestTimeout", fmt.Sprintf("The limit is %s, but requests of %s are expected to take about %s.", limit, sc.Address, need.Round(time.Second))))
				}
			})
			return out
		},
	}
}

// scorerLimit is the scorer's requestTimeout; what is no duration is another check's business.
func scorerLimit(d declared) (limit time.Duration, known bool) {
	given, ok := d.params["requestTimeout"]
	if !ok {
		return 2 * time.Minute, true
	}
	text, _ := given.(string)
	limit, err := time.ParseDuration(text)
	return limit, err == nil
}

// slowestScenarios are the scenarios with the longest requests by the scheduler that they meet.
func slowestScenarios(c *Model) map[resource.Address]config.Scenario {
	out := map[resource.Address]config.Scenario{}
	for _, sc := range c.Scenarios {
		for _, s := range targets(c, sc) {
			if have, ok := out[s.resource.Address]; !ok || expected(sc) > expected(have) {
				out[s.resource.Address] = sc
			}
		}
	}
	return out
}
