package check

import (
	"fmt"

	"github.com/mifbench/mifbench/pkg/config"
)

func contextLength() Check {
	return Check{
		Code: "MIF032", Title: "Requests longer than the model's context", Severity: fault,
		Why: "The engine answers every such request with status 400.",
		Fix: "Shorten input_tokens or output_tokens, or serve with a larger --max-model-len.",
		Run: func(c *Model) []Finding {
			var out []Finding
			for _, sc := range c.Scenarios {
				for _, s := range targets(c, sc) {
					if f := tooLong(sc, s.engines(c)); f != nil {
						out = append(out, *f)
					}
				}
			}
			return out
		},
	}
}

func tooLong(sc config.Scenario, engines []service) *Finding {
	total := sc.InputTokens + sc.OutputTokens
	for _, e := range engines {
		if limit, ok := flagValue(e.flags, "--max-model-len"); ok && total > limit {
			f := scenarioFinding(sc, "input_tokens", fmt.Sprintf("%d input and %d output tokens are %d, but %s serves with --max-model-len %d.", sc.InputTokens, sc.OutputTokens, total, e.resource.Address, limit))
			return &f
		}
	}
	return nil
}
