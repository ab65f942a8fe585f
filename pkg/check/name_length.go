package check

import "fmt"

// maxWorkloadName leaves room in a label value (63) for the dash and the hash of ten that the
// StatefulSet behind a LeaderWorkerSet appends to its name (controller-revision-hash).
const maxWorkloadName = 52

func nameLength() Check {
	return Check{
		Code: "MIF034", Title: "Name too long for its pods", Severity: fault,
		Why: "The names of pods and of their revision label are made from it and must not exceed 63 characters, or no pod is created.",
		Fix: fmt.Sprintf("Use a name of at most %d characters.", maxWorkloadName),
		Run: func(c *Model) []Finding {
			var out []Finding
			for _, e := range c.services {
				if len(e.name) > maxWorkloadName {
					out = append(out, e.finding("name", fmt.Sprintf("%q has %d characters.", e.name, len(e.name))))
				}
			}
			return out
		},
	}
}
