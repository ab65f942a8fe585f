package helm

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
)

// heal merges the objects whose drift Helm does not repair: all when no upgrade was needed,
// else those whose kinds Helm merges without looking at live.
func (d *Driver) heal(ctx context.Context, q deploy.Query, objects []child, now plan.Observation, all bool) error {
	id := q.Want.ID
	drifted := map[string]bool{}
	for _, c := range now.Children { // what does not exist Helm has made
		drifted[c.ID.Key()] = c.Predicted != nil && (all || c.Exists) && !same(c.Live, c.Predicted)
	}
	var todo []child
	for _, c := range objects {
		gvk := schema.FromAPIVersionAndKind(c.id.APIVersion, c.id.Kind)
		if drifted[c.id.Key()] && (all || !scheme.Scheme.Recognizes(gvk)) {
			todo = append(todo, c)
		}
	}
	errs := make([]error, len(todo))
	each(len(todo), func(i int) {
		want := resource.Object{ID: todo[i].id, Spec: withMarks(todo[i].spec, id), Options: ignoring(q)}
		errs[i] = d.objects.Merge(ctx, want, todo[i].spec)
	})
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%s: %w", id, err)
	}
	return nil
}

// withMarks adds the label and annotations by which Helm knows an object as its own.
func withMarks(obj map[string]any, id resource.ID) map[string]any {
	out := copyTree(obj)
	meta, ok := out["metadata"].(map[string]any)
	if !ok {
		return out
	}
	for field, add := range map[string]map[string]string{
		"labels":      {"app.kubernetes.io/managed-by": "Helm"},
		"annotations": {"meta.helm.sh/release-name": id.Name, "meta.helm.sh/release-namespace": id.Namespace},
	} {
		m, ok := meta[field].(map[string]any)
		if !ok {
			m = map[string]any{}
			meta[field] = m
		}
		for k, v := range add {
			m[k] = v
		}
	}
	return out
}
