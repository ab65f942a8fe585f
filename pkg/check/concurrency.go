package check

import (
	"fmt"

	"github.com/mifbench/mifbench/pkg/resource/kinds"
)

func concurrency() Check {
	return Check{
		Code: "MIF033", Title: "More requests in flight than the engines run", Severity: doubt,
		Why: "The rest waits in the engines' queues, so time to first token measures the queue and throughput gains nothing.",
		Fix: "Lower max_concurrency, or run more replicas or ranks.",
		Run: func(c *Model) []Finding {
			var out []Finding
			for _, sc := range c.Scenarios {
				for _, s := range targets(c, sc) {
					limit := capacity(s.engines(c))
					if limit > 0 && sc.Load.MaxConcurrency > limit {
						out = append(out, scenarioFinding(sc, "load.max_concurrency", fmt.Sprintf("%d requests may be in flight, but the decode engines run %d (replicas × ranks × --max-num-seqs).", sc.Load.MaxConcurrency, limit)))
					}
				}
			}
			return out
		},
	}
}

// capacity is the number of sequences that decode at a time, 0 when it is not known.
func capacity(engines []service) int64 {
	total := int64(0)
	for _, e := range engines {
		if e.role() == kinds.RolePrefill {
			continue
		}
		seqs, ok := flagValue(e.flags, "--max-num-seqs")
		if !ok || e.options.Replicas == nil {
			return 0
		}
		total += *e.options.Replicas * max(1, e.ranks) * seqs
	}
	return total
}
