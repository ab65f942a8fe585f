package odin

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mifbench/mifbench/test/localcluster/standin/reconcile"
)

// resolve merges and checks a service; the reason goes with the error.
func (ctl *controller) resolve(isvc *unstructured.Unstructured) (r *rendered, reason string, err error) {
	find := func(namespace, name string) (*unstructured.Unstructured, error) {
		return reconcile.Get(ctl.templates, namespace, name), nil
	}
	templates, err := lookUp(isvc, find)
	if err != nil {
		return nil, "TemplateNotFound", err
	}
	if r, err = renderService(isvc, templates); err != nil {
		return nil, "RenderFailed", err
	}
	if err := check(&r.spec); err != nil {
		return nil, "InvalidSpec", err
	}
	return r, "", nil
}

// lookUp finds the templates that a service refers to: in its own namespace, then in the system's.
func lookUp(isvc *unstructured.Unstructured, find func(namespace, name string) (*unstructured.Unstructured, error)) ([]map[string]any, error) {
	own := specOf(isvc)
	refs, _ := own["templateRefs"].([]any)
	var out []map[string]any
	for i, r := range refs {
		m, _ := r.(map[string]any)
		name, _ := m["name"].(string)
		var found *unstructured.Unstructured
		for _, ns := range []string{isvc.GetNamespace(), SystemNamespace} {
			var err error
			if found, err = find(ns, name); err != nil {
				return nil, err
			}
			if found != nil {
				break
			}
		}
		if found == nil {
			return nil, fmt.Errorf("spec.templateRefs[%d]: InferenceServiceTemplate %q not found in namespace %q or %q", i, name, isvc.GetNamespace(), SystemNamespace)
		}
		out = append(out, specOf(found))
	}
	return out, nil
}

func renderService(isvc *unstructured.Unstructured, templates []map[string]any) (*rendered, error) {
	return render(identity{Name: isvc.GetName(), Namespace: isvc.GetNamespace(), Labels: isvc.GetLabels()}, specOf(isvc), templates...)
}

func specOf(u *unstructured.Unstructured) map[string]any {
	spec, _ := u.Object["spec"].(map[string]any)
	return spec
}

// poolLabels returns the labels that make pods members of the service's pool; none without a pool.
func (ctl *controller) poolLabels(isvc *unstructured.Unstructured, r *rendered) (map[string]string, error) {
	if len(r.spec.InferencePoolRefs) == 0 {
		return nil, nil
	}
	name := r.spec.InferencePoolRefs[0].Name
	pool := reconcile.Get(ctl.pools, isvc.GetNamespace(), name)
	if pool == nil {
		return nil, fmt.Errorf("InferencePool %s/%s not found", isvc.GetNamespace(), name)
	}
	labels, _, err := unstructured.NestedStringMap(pool.Object, "spec", "selector", "matchLabels")
	if err != nil {
		return nil, fmt.Errorf("InferencePool %s/%s: %w", isvc.GetNamespace(), name, err)
	}
	return labels, nil
}
