package check

import (
	"fmt"
	"strings"

	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/resource/kinds"
)

func releaseOther() Check {
	return Check{
		Code: "MIF116", About: "charts of the releases", Title: "Release name taken by another chart", Severity: fault,
		Why: "An upgrade would delete everything that the other chart made and put this one in its place.",
		Fix: "Choose another name, or uninstall that release first if it is yours.",
		Look: func(m *Model, w *World) (o Outcome) {
			for _, r := range m.releases() {
				live := w.liveRelease(r, &o)
				if live == nil {
					continue
				}
				at := fmt.Sprintf("The release %s/%s is of the chart %s %s (%s).", r.Objects[0].ID.Namespace, r.Objects[0].ID.Name, live.Chart, live.Version, live.About)
				switch want := chartName(r); {
				case live.Status == "uninstalled":
					o.seen("%s is free", r.Objects[0].ID.Name)
				case want != "" && live.Chart != want:
					o.find(finding(r, "name", at+fmt.Sprintf(" This block installs the chart %s.", want)))
				case isScheduler(r) && live.Chart == "heimdall" && strings.Contains(strings.ToLower(live.About), "operator"):
					o.find(finding(r, "name", at+" Two products carry the name heimdall: this is the operator, and the block installs the scheduler."))
				default:
					o.seen("%s is %s %s", r.Objects[0].ID.Name, live.Chart, live.Version)
				}
			}
			return o
		},
	}
}

// liveRelease is a block's release as it is recorded, nil when there is none or it may not be read.
func (w *World) liveRelease(r config.Resource, o *Outcome) *Release {
	id := r.Objects[0].ID
	live := w.releases[place{id.Namespace, id.Name}]
	switch {
	case !live.ok:
		o.skip("%s", live.missing())
	case live.is == nil:
		o.seen("%s is free", id.Name)
	}
	return live.is
}

// chartName is the name of the chart of a block, "" where only the archive tells it: a path may
// be called otherwise than the chart in it.
func chartName(r config.Resource) string {
	chart, repository := "", ""
	switch o := r.Options.(type) {
	case *kinds.Heimdall:
		chart, repository = "heimdall", o.Repository
		if o.Chart != nil {
			chart = *o.Chart
		}
	case *kinds.HelmRelease:
		chart = o.Chart
		if o.Repository != nil {
			repository = *o.Repository
		}
	}
	for _, address := range []string{repository, chart} {
		if scheme, _, ok := strings.Cut(address, "://"); ok && (scheme == "http" || scheme == "https" || scheme == "oci") && !strings.HasSuffix(address, ".tgz") {
			name, _, _ := strings.Cut(chart[strings.LastIndex(chart, "/")+1:], ":")
			return name
		}
	}
	return ""
}

func isScheduler(r config.Resource) bool {
	_, ok := newScheduler(r)
	return ok
}
