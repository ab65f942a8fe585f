package check

import (
	"slices"
	"strings"

	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/resource/kinds"
)

// neededKind is a kind that a block needs.
type neededKind struct {
	kindName
	// by is the block, why says what it needs the kind for when that is not plain.
	by  config.Resource
	why string
}

// neededKinds are the kinds that the configuration needs, each once, with the first block that
// needs it.
func neededKinds(m *Model) []neededKind {
	var out []neededKind
	put := func(r config.Resource, why, apiVersion string, kind ...string) {
		for _, k := range kind {
			n := neededKind{kindName{apiVersion, k}, r, why}
			if !slices.ContainsFunc(out, func(x neededKind) bool { return x.kindName == n.kindName }) {
				out = append(out, n)
			}
		}
	}
	for _, r := range m.Resources {
		for _, o := range r.Objects {
			if o.ID.Driver == resource.DriverKube {
				put(r, "", o.ID.APIVersion, o.ID.Kind)
			}
		}
	}
	for _, s := range m.schedulers {
		for _, c := range chartObjects(s) {
			put(s.resource, "the chart heimdall makes one", c.apiVersion, c.kind)
		}
	}
	for _, e := range m.services {
		if len(e.options.TemplateRefs) > 0 {
			put(e.resource, "template_refs name them", odinVersion, "InferenceServiceTemplate")
		}
		if e.grouped() {
			put(e.resource, "Odin runs the instances of this service as one", "leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet")
		}
	}
	return out
}

// grouped tells whether the service's instances are groups of pods (LeaderWorkerSet).
func (e service) grouped() bool {
	return mapAt(e.spec, "workerTemplate") != nil || slices.ContainsFunc(e.options.TemplateRefs, func(ref string) bool {
		return strings.HasSuffix(ref, "-dp") || strings.HasSuffix(ref, "-pp")
	})
}

// chartObjects are the kinds of objects that the scheduler's chart makes with these values.
func chartObjects(s scheduler) []kindName {
	out := []kindName{
		{"v1", "ServiceAccount"}, {"v1", "ConfigMap"}, {"v1", "Service"}, {"apps/v1", "Deployment"},
		{"rbac.authorization.k8s.io/v1", "ClusterRole"}, {"rbac.authorization.k8s.io/v1", "ClusterRoleBinding"},
		{"gateway.networking.k8s.io/v1", "HTTPRoute"}, {"inference.networking.k8s.io/v1", "InferencePool"},
	}
	if textAt(s.values, "gateway", "gatewayClassName") == "istio" {
		out = append(out, kindName{"networking.istio.io/v1beta1", "DestinationRule"})
	}
	for field, kind := range map[string]string{"serviceMonitor": "ServiceMonitor", "poolPodMonitor": "PodMonitor"} {
		if on, written := dig(s.values, field, "enabled").(bool); on || !written {
			out = append(out, kindName{"monitoring.coreos.com/v1", kind})
		}
	}
	slices.SortStableFunc(out, func(a, b kindName) int { return strings.Compare(a.kind, b.kind) })
	return out
}

// brought tells whether the configuration itself has the CRD of a kind.
func brought(m *Model, k kindName) bool {
	for _, r := range m.Resources {
		if _, ok := r.Options.(*kinds.Manifest); !ok {
			continue
		}
		for _, o := range r.Objects {
			if o.ID.Kind == "CustomResourceDefinition" && textAt(o.Spec, "spec", "group") == k.group() && textAt(o.Spec, "spec", "names", "kind") == k.kind {
				return true
			}
		}
	}
	return false
}
