package kube

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/mifbench/mifbench/pkg/resource"
)

func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// applyAs is a server-side apply by another manager, forced.
func (d *Driver) applyAs(ctx context.Context, id resource.ID, body []byte, manager string) error {
	r, _, err := d.resource(ctx, id)
	if err != nil {
		return err
	}
	force := true
	_, err = r.Patch(ctx, id.Name, types.ApplyPatchType, body, metav1.PatchOptions{FieldManager: manager, Force: &force})
	return err
}

// edit is a merge patch by another manager.
func (d *Driver) edit(ctx context.Context, id resource.ID, patch, manager string, subresource ...string) error {
	r, _, err := d.resource(ctx, id)
	if err != nil {
		return err
	}
	_, err = r.Patch(ctx, id.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: manager}, subresource...)
	return err
}

func createAs(ctx context.Context, r dynamic.ResourceInterface, o *resource.Object, manager string) error {
	_, err := r.Create(ctx, &unstructured.Unstructured{Object: o.Spec}, metav1.CreateOptions{FieldManager: manager})
	return err
}

func dump(v any) string {
	text, err := yaml.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}
