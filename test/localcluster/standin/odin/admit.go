package odin

import (
	"context"
	"encoding/json"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mifbench/mifbench/test/localcluster/standin/reconcile"
)

type webhook struct{ c *reconcile.Cluster }

// mutate sets dataLocal to data where the author left it out.
func (w *webhook) mutate(_ context.Context, r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(r.Object.Raw); err != nil {
		return deny(err)
	}
	p, _ := specOf(u)["parallelism"].(map[string]any)
	if p == nil || p["data"] == nil || p["dataLocal"] != nil {
		return allow()
	}
	patch, err := json.Marshal([]any{map[string]any{"op": "add", "path": "/spec/parallelism/dataLocal", "value": p["data"]}})
	if err != nil {
		return deny(err)
	}
	out, typ := allow(), admissionv1.PatchTypeJSONPatch
	out.Patch, out.PatchType = patch, &typ
	return out
}

// validate refuses services that cannot be rendered, and the deletion of templates in use.
func (w *webhook) validate(ctx context.Context, r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	var err error
	if r.Operation == admissionv1.Delete {
		err = w.unused(ctx, r.Namespace, r.Name)
	} else {
		err = w.renderable(ctx, r.Object.Raw)
	}
	if err != nil {
		return deny(err)
	}
	return allow()
}

func (w *webhook) renderable(ctx context.Context, raw []byte) error {
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(raw); err != nil {
		return err
	}
	if u.GetDeletionTimestamp() != nil {
		return nil // removing a finalizer must always be possible
	}
	// Asked of the API server, not of a cache: a template may have been written a moment ago.
	templates, err := lookUp(u, func(namespace, name string) (*unstructured.Unstructured, error) {
		t, err := w.c.Resource(reconcile.InferenceServiceTemplates(), namespace).Get(ctx, name, metav1.GetOptions{})
		if errors.IsNotFound(err) {
			return nil, nil
		}
		return t, err
	})
	if err != nil {
		return err
	}
	r, err := renderService(u, templates)
	if err != nil {
		return err
	}
	return check(&r.spec)
}

// unused refuses to lose a template that a service refers to, unless the service would find it elsewhere.
func (w *webhook) unused(ctx context.Context, namespace, name string) error {
	scope := namespace
	if namespace == SystemNamespace {
		scope = "" // every namespace falls back to this one
	}
	list, err := w.c.Resource(reconcile.InferenceServices(), scope).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range list.Items {
		s := &list.Items[i]
		refs, _ := specOf(s)["templateRefs"].([]any)
		for _, r := range refs {
			if m, _ := r.(map[string]any); m["name"] == name && s.GetDeletionTimestamp() == nil {
				return fmt.Errorf("InferenceServiceTemplate %s/%s is in use by InferenceService %s/%s", namespace, name, s.GetNamespace(), s.GetName())
			}
		}
	}
	return nil
}
