package check

import (
	"fmt"
	"strings"
)

func chartValues() Check {
	return Check{
		Code: "MIF018", Title: "Unknown chart value", Severity: fault,
		Why: "The chart has no schema: Helm passes over keys that it does not know, and the setting has no effect.",
		Fix: "Correct the key, or remove it.",
		Run: func(c *Model) []Finding {
			var out []Finding
			for _, s := range c.schedulers {
				known := heimdallValues(s.version)
				if known == nil {
					continue
				}
				unknownFields(known, s.raw, "values", func(path, name string, names []string) {
					parent := strings.TrimSuffix(strings.TrimSuffix(path, name), ".")
					out = append(out, s.finding(path, fmt.Sprintf("The chart heimdall %s has no key %q in %s.%s", s.version, name, parent, nearest(name, names))))
				})
			}
			return out
		},
	}
}
