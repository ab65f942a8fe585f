// Package preset plays the chart moai-inference-preset v0.5.0: it puts InferenceServiceTemplates into namespace mif.
//
// The templates are written in our own words after the documentation: the runtime bases that data-parallel and plain
// services start from, the two presets of the published DeepSeek-R1 benchmark with the settings on which its behaviour
// depends, and a few with similar names. They lack the start scripts of the originals, of which nothing is ever run here.
package preset

import (
	"context"
	"embed"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/mifbench/mifbench/test/localcluster/standin/reconcile"
)

// Namespace is where templates for every namespace live.
const Namespace = "mif"

const manager = "preset-stand-in"

//go:embed templates/*.yaml
var files embed.FS

// Start writes the templates; nothing of it goes on afterwards.
func Start(ctx context.Context, c *reconcile.Cluster) error {
	ns, err := reconcile.Object(reconcile.Namespaces(), map[string]any{"metadata": map[string]any{"name": Namespace}})
	if err != nil {
		return err
	}
	if _, err := c.Apply(ctx, reconcile.Namespaces(), ns, manager); err != nil {
		return err
	}
	templates, err := Templates()
	if err != nil {
		return err
	}
	for _, t := range templates {
		if _, err := c.Apply(ctx, reconcile.InferenceServiceTemplates(), t, manager); err != nil {
			return err
		}
	}
	return nil
}

// Templates returns the templates as they are written to the cluster.
func Templates() ([]*unstructured.Unstructured, error) {
	entries, err := files.ReadDir("templates")
	if err != nil {
		return nil, fmt.Errorf("presets: %w", err)
	}
	var out []*unstructured.Unstructured
	for _, e := range entries {
		text, err := files.ReadFile("templates/" + e.Name())
		if err != nil {
			return nil, fmt.Errorf("presets: %w", err)
		}
		raw, err := yaml.YAMLToJSONStrict(text)
		if err != nil {
			return nil, fmt.Errorf("preset %s: %w", e.Name(), err)
		}
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON(raw); err != nil {
			return nil, fmt.Errorf("preset %s: %w", e.Name(), err)
		}
		u.SetNamespace(Namespace)
		u.SetLabels(withPart(u.GetLabels()))
		out = append(out, u)
	}
	return out, nil
}

func withPart(labels map[string]string) map[string]string {
	labels["app.kubernetes.io/part-of"] = "mif"
	return labels
}
