package check

import "fmt"

func scorerPrefix() Check {
	return Check{
		Code: "MIF016", Title: "Prefix scorer without a prefix cache", Severity: doubt,
		Why: "With --no-enable-prefix-caching no engine keeps a prefix, so the scorer gathers requests on one endpoint for nothing.",
		Fix: "Serve with --enable-prefix-caching, or remove the scorer.",
		Run: func(c *Model) []Finding {
			var out []Finding
			eachScorer(c, func(p picker, d declared, t plugin) {
				for _, e := range p.scheduler.engines(c) {
					if t.prefix && switchedOff(e.flags, "enable-prefix-caching") {
						out = append(out, p.finding(d.path, fmt.Sprintf("%q counts on prefix caches, but %s serves with --no-enable-prefix-caching.", d.kind, e.resource.Address)))
						return
					}
				}
			})
			return out
		},
	}
}
