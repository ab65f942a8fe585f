package check

import (
	"fmt"
	"slices"
)

func scorerBlind() Check {
	return Check{
		Code: "MIF015", Title: "Scorer without metrics", Severity: doubt,
		Why: "--disable-log-stats keeps the engines from publishing the metrics that this scorer reads, so it gives every endpoint the same score.",
		Fix: "Use active-request-scorer, which counts for itself, or serve without --disable-log-stats.",
		Run: func(c *Model) []Finding {
			var out []Finding
			eachScorer(c, func(p picker, d declared, t plugin) {
				for _, e := range p.scheduler.engines(c) {
					if t.metrics && slices.Contains(e.flags, "--disable-log-stats") {
						out = append(out, p.finding(d.path, fmt.Sprintf("%q reads the engines' metrics, but %s serves with --disable-log-stats.", d.kind, e.resource.Address)))
						return
					}
				}
			})
			return append(out, defaultScorers(c)...)
		},
	}
}

// eachScorer visits the declared scorers that some profile uses.
func eachScorer(c *Model, visit func(p picker, d declared, t plugin)) {
	for _, p := range c.pickers {
		for _, d := range p.plugins {
			if t := d.typ; t.role&roleScorer != 0 && (p.used(d.ref) || len(p.profiles) == 0) {
				visit(p, d, t)
			}
		}
	}
}

// defaultScorers: without a configuration of its own the chart brings queue-scorer and
// kv-cache-utilization-scorer.
func defaultScorers(c *Model) []Finding {
	var out []Finding
	for _, s := range c.schedulers {
		if mapAt(s.values, "config") != nil {
			continue
		}
		for _, e := range s.engines(c) {
			if slices.Contains(e.flags, "--disable-log-stats") {
				out = append(out, s.finding("", fmt.Sprintf("The chart's own configuration scores by queue-scorer and kv-cache-utilization-scorer, but %s serves with --disable-log-stats.", e.resource.Address)))
				break
			}
		}
	}
	return out
}
