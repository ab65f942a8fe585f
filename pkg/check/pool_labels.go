package check

import (
	"strings"
)

func poolLabels() Check {
	return Check{
		Code: "MIF021", Title: "matchLabels of the pool do not work", Severity: fault,
		Why: "The chart before v0.8.0 writes inferencePool.matchLabels beside the selector instead of into it, so the pool is refused or selects nothing.",
		Fix: "Remove the value and let Odin label the pods, or use chart v0.8.0 or later.",
		Run: func(c *Model) []Finding {
			var out []Finding
			for _, s := range c.schedulers {
				if len(mapAt(s.values, "inferencePool", "matchLabels")) > 0 && strings.HasPrefix(strings.TrimPrefix(s.version, "v"), "0.7.") {
					out = append(out, s.finding("values.inferencePool.matchLabels", "inferencePool.matchLabels is set for chart "+s.version+"."))
				}
			}
			return out
		},
	}
}
