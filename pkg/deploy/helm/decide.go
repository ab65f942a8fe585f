package helm

import (
	"maps"
	"strings"

	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
)

// What apply will do.
const (
	doInstall = "install"
	doUpgrade = "upgrade"
	doHeal    = "heal"
	doOwn     = "own" // write our labels on its record, nothing else
	doNothing = "none"
)

// decide says what it takes: an upgrade when chart, values, status or any rendered object differ
// from the record; healing when only live objects do.
func decide(obs *plan.Observation, r rendering, k known) string {
	switch {
	case k.base == nil || !obs.Exists:
		return doInstall
	case !same(unowned(obs.Live), unowned(obs.Predicted)), strings.TrimSpace(k.base.Manifest) != strings.TrimSpace(r.manifest):
		return doUpgrade
	}
	for _, c := range obs.Children {
		if !same(c.Live, c.Predicted) {
			return doHeal
		}
	}
	if !same(obs.Live, obs.Predicted) {
		return doOwn
	}
	return doNothing
}

// unowned is a side of a release without the mark of its owner.
func unowned(side map[string]any) map[string]any {
	out := maps.Clone(side)
	delete(out, "stack")
	return out
}

func interruptions(list []plan.Observation) string {
	var out []string
	for _, c := range list {
		if c.Interrupts != "" {
			out = append(out, c.ID.String()+": "+c.Interrupts)
		}
	}
	return strings.Join(out, "; ")
}

// summarize is the readiness of a release: that of its first object that is not ready.
func summarize(list []plan.Observation) plan.Readiness {
	for _, c := range list {
		if c.ID.Kind == "Job" || c.Predicted == nil {
			continue
		}
		if !c.Exists {
			return plan.Readiness{Reason: c.ID.String() + ": does not exist"}
		}
		if !c.Ready.Ready {
			out := c.Ready
			out.Reason = c.ID.String() + ": " + out.Reason
			return out
		}
	}
	return plan.Readiness{Ready: true}
}

// encodeChildren keeps the identities of a release's objects in facts, for a destroy that finds
// the record gone. Objects with the keep policy are not ours to miss.
func encodeChildren(list []child) []any {
	out := make([]any, 0, len(list))
	for _, c := range list {
		if !c.keep {
			out = append(out, strings.Join([]string{c.id.APIVersion, c.id.Kind, c.id.Namespace, c.id.Name}, "|"))
		}
	}
	return out
}

func decodeChildren(v any) []resource.ID {
	list, _ := v.([]any)
	var out []resource.ID
	for _, x := range list {
		s, _ := x.(string)
		if p := strings.Split(s, "|"); len(p) == 4 {
			out = append(out, resource.ID{Driver: resource.DriverKube, APIVersion: p[0], Kind: p[1], Namespace: p[2], Name: p[3]})
		}
	}
	return out
}
