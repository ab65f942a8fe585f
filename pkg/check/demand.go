package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/resource/kinds"
)

// demand is a number of equal pods that the configuration wants.
type demand struct {
	at func(detail string) Finding
	// name is the block's address.
	name  string
	count int64
	// size is what one pod needs of each extended resource.
	size map[string]int64
	placement
	// mine tells which live pods are those of the block.
	mine func(livePod) bool
	// surge is the rollout's maxSurge as written, nil for none.
	surge any
}

// demands are what the configuration's services and manifests want of the nodes. What cannot be
// told is named, with the reason.
func demands(m *Model, w *World) (list []demand, unknown []string) {
	for _, e := range m.services {
		a := w.assemble(e)
		switch {
		case a.unread != "":
			unknown = append(unknown, fmt.Sprintf("%s: %s", e.resource.Address, a.unread))
		case len(a.missing) > 0:
			unknown = append(unknown, fmt.Sprintf("%s: its templates, which say what the pods need, are not there", e.resource.Address))
		case a.pod == nil:
			unknown = append(unknown, fmt.Sprintf("%s: neither its templates nor the block have a pod template", e.resource.Address))
		default:
			list = append(list, serviceDemand(w, e, a))
		}
	}
	return append(list, manifestDemands(m)...), unknown
}

func serviceDemand(w *World, e service, a assembled) demand {
	id := e.resource.Objects[0].ID
	return demand{
		at:   func(detail string) Finding { return e.finding("template_refs", detail) },
		name: e.resource.Address.String(), count: e.instances(w) * a.group, size: podRequests(a.pod), placement: newPlacement(a.pod), surge: a.surge,
		mine: func(p livePod) bool { return p.of(id.Namespace, id.Name) },
	}
}

// instances is the number of replicas: as written, else as an autoscaler left it, else one.
func (e service) instances(w *World) int64 {
	if e.options.Replicas != nil {
		return *e.options.Replicas
	}
	for _, s := range w.services.is {
		if textAt(s, "metadata", "namespace") == e.namespace && textAt(s, "metadata", "name") == e.name {
			if n, ok := count(dig(s, "spec", "replicas")); ok {
				return n
			}
		}
	}
	return 1
}

// manifestDemands are the pods of manifest blocks.
func manifestDemands(m *Model) []demand {
	var out []demand
	for _, r := range m.Resources {
		if _, ok := r.Options.(*kinds.Manifest); !ok {
			continue
		}
		for _, o := range r.Objects {
			path, spec := podSpec(o.ID.Kind, o.Spec)
			if n := podCount(o.ID.Kind, o.Spec); spec != nil && n > 0 {
				out = append(out, manifestDemand(r, o.ID.Namespace, o.ID.Name, o.ID.Kind, path, o.Spec, spec, n))
			}
		}
	}
	return out
}

func manifestDemand(r config.Resource, namespace, name, kind, path string, object, spec map[string]any, n int64) demand {
	labels := mapAt(object, "spec", "template", "metadata", "labels")
	return demand{
		at:   func(detail string) Finding { return finding(r, "object."+path+".nodeSelector", detail) },
		name: r.Address.String(), count: n, size: podRequests(spec), placement: newPlacement(spec),
		mine: func(p livePod) bool {
			if kind == "Pod" {
				return p.place == place{namespace, name}
			}
			return p.namespace == namespace && len(labels) > 0 && subset(labels, p.labels)
		},
	}
}

func subset(a, of map[string]any) bool {
	for k, v := range a {
		if of[k] != v {
			return false
		}
	}
	return true
}

// podCount is the number of pods of a workload; 0 where only its controller knows.
func podCount(kind string, object map[string]any) int64 {
	field := map[string]string{"Deployment": "replicas", "StatefulSet": "replicas", "ReplicaSet": "replicas", "Job": "parallelism"}[kind]
	if kind == "Pod" {
		return 1
	}
	if field == "" {
		return 0
	}
	if n, ok := count(dig(object, "spec", field)); ok {
		return n
	}
	return 1
}

// greedy tells whether the pods need extended resources at all.
func (d demand) greedy() bool {
	for _, n := range d.size {
		if n > 0 {
			return true
		}
	}
	return false
}

// resourceList is "8 amd.com/gpu and 1 mellanox/hca".
func resourceList(size map[string]int64) string {
	var parts []string
	for _, name := range sortedKeys(size) {
		if size[name] != 0 {
			parts = append(parts, fmt.Sprintf("%d %s", size[name], name))
		}
	}
	if n := len(parts); n > 1 {
		return strings.Join(parts[:n-1], ", ") + " and " + parts[n-1]
	}
	return strings.Join(parts, "")
}

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
