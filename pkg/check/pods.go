package check

import (
	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/resource/kinds"
)

// pod is a pod spec that the author wrote, in whatever object.
type pod struct {
	resource  config.Resource
	namespace string
	spec      map[string]any
	// path of the spec in the block.
	path string
	// partial tells that templates of the cluster complete it.
	partial bool
}

func (p pod) finding(path, detail string) Finding {
	return finding(p.resource, p.path+"."+path, detail)
}

// pods are the pod specs of inference services and manifests.
func pods(c *Model) []pod {
	var out []pod
	for _, e := range c.services {
		if m, path := e.template(); mapAt(m, "spec") != nil {
			out = append(out, pod{e.resource, e.namespace, mapAt(m, "spec"), path + ".spec", len(e.options.TemplateRefs) > 0})
		}
	}
	for _, r := range c.Resources {
		if _, ok := r.Options.(*kinds.Manifest); !ok {
			continue
		}
		for _, o := range r.Objects {
			path, spec := podSpec(o.ID.Kind, o.Spec)
			if spec != nil {
				out = append(out, pod{r, o.ID.Namespace, spec, "object." + path, false})
			}
		}
	}
	return out
}

// podSpec is the pod spec of an object and its path, nil for kinds that make no pods.
func podSpec(kind string, object map[string]any) (string, map[string]any) {
	switch kind {
	case "Pod":
		return "spec", mapAt(object, "spec")
	case "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job":
		return "spec.template.spec", mapAt(object, "spec", "template", "spec")
	case "CronJob":
		return "spec.jobTemplate.spec.template.spec", mapAt(object, "spec", "jobTemplate", "spec", "template", "spec")
	}
	return "", nil
}
