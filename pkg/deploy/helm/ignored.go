package helm

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/state"
)

// ignoring are the options of a release that hold for its objects.
func ignoring(q deploy.Query) resource.Options {
	if q.Want == nil {
		return resource.Options{}
	}
	return resource.Options{IgnoreChanges: q.Want.Options.IgnoreChanges}
}

// unheld warns of fields that ignore_changes names and that an upgrade sets all the same: Helm puts what
// the chart renders over live objects, for the kinds that client-go knows. Custom resources it merges with
// its own record only, so that theirs stay.
func unheld(objects []child, seen []plan.Observation, patterns []string) []string {
	if len(patterns) == 0 {
		return nil
	}
	live := map[string]map[string]any{}
	for _, c := range seen {
		live[c.ID.Key()] = c.Live
	}
	var out []string
	for _, c := range objects {
		now := live[c.id.Key()]
		if now == nil || !scheme.Scheme.Recognizes(schema.FromAPIVersionAndKind(c.id.APIVersion, c.id.Kind)) {
			continue
		}
		for _, p := range differing("", c.spec, now) {
			want, inChart := state.Lookup(c.spec, p)
			has, isLive := state.Lookup(now, p)
			if !inChart || !isLive || !plan.Ignored(p, patterns) || fmt.Sprint(want) == fmt.Sprint(has) {
				continue
			}
			out = append(out, fmt.Sprintf("%s: ignore_changes cannot keep %s through an upgrade, for which Helm writes what the chart renders (%v -> %v): leave the field out by the chart's values", c.id, p, has, want))
		}
	}
	return out
}
