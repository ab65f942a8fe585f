package check

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/resource/kinds"
)

// scheduler is one release of the heimdall chart.
type scheduler struct {
	resource config.Resource
	// options is nil where the release is a helm_release block.
	options   *kinds.Heimdall
	namespace string
	version   string
	// pool is "" where it is not known.
	pool string
	// values are the merged chart values, raw those that the author wrote as values.
	values, raw map[string]any
}

// newScheduler is the scheduler that a release block stands for; ok is false for other charts.
func newScheduler(r config.Resource) (s scheduler, ok bool) {
	s = scheduler{resource: r, values: mapAt(r.Objects[0].Spec, "values"), namespace: r.Objects[0].ID.Namespace}
	switch o := r.Options.(type) {
	case *kinds.Heimdall:
		s.options, s.version, s.raw = o, o.Version, rawValues(o.Values)
		if pool := r.Attrs["pool"]; pool != cty.NilVal && pool.IsKnown() && !pool.IsNull() {
			unmarked, _ := pool.Unmark()
			s.pool = unmarked.AsString()
		}
		return s, true
	case *kinds.HelmRelease:
		s.raw = rawValues(o.Values)
		if o.Version != nil {
			s.version = *o.Version
		}
		return s, o.Chart == "heimdall" || strings.HasSuffix(o.Chart, "/heimdall")
	}
	return s, false
}

func rawValues(v cty.Value) map[string]any {
	if v == cty.NilVal || v.IsNull() {
		return nil
	}
	unmarked, _ := v.UnmarkDeep()
	x, err := resource.JSON(unmarked)
	if err != nil {
		return nil // the kind has said so
	}
	m, _ := x.(map[string]any)
	return m
}

// finding is a fault of the release's block.
func (s scheduler) finding(path, detail string) Finding { return finding(s.resource, path, detail) }

// valuePath is where a chart value comes from: the author's values, else the block's attribute.
func (s scheduler) valuePath(attribute string, value ...string) string {
	if dig(s.raw, value...) != nil || s.options == nil {
		return "values." + strings.Join(value, ".")
	}
	return attribute
}

func finding(r config.Resource, path, detail string) Finding {
	at := r.Scope.Block
	if r.Scope.At != nil {
		at = r.Scope.At(path)
	}
	return Finding{At: at, Block: r.Scope.Block, Detail: detail}
}

// scenarioFinding is a fault of a scenario's block.
func scenarioFinding(s config.Scenario, path, detail string) Finding {
	at := s.Range
	if s.At != nil {
		at = s.At(path)
	}
	return Finding{At: at, Block: s.Range, Detail: detail}
}

const (
	fault = hcl.DiagError
	doubt = hcl.DiagWarning
)
