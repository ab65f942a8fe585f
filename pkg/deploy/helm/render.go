package helm

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/releaseutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	yamlutil "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/mifbench/mifbench/pkg/resource"
)

// keepPolicy is the annotation by which a chart leaves an object behind.
const keepPolicy = "helm.sh/resource-policy"

// rendering is what a chart, its values and the cluster make together.
type rendering struct {
	chart    *chart.Chart
	manifest string
	objects  []child
	hooks    []*release.Hook
	// crds are the objects of the chart's crds/ folder.
	crds []child
	// unstable are JSON pointers, by the key of the object, to what every rendering makes anew.
	unstable map[string][]string
	// unnamed tells that names of objects are random, too.
	unnamed bool
}

// child is one object of a release.
type child struct {
	id   resource.ID
	spec map[string]any
	keep bool
}

// render renders a chart; one with random functions twice, to see which fields are random.
func (d *Driver) render(ctx context.Context, p pinned, s resource.ReleaseSpec, id resource.ID, revision int) (rendering, error) {
	ch, err := p.load()
	if err != nil {
		return rendering{}, fmt.Errorf("chart %s: %w", where(s), err)
	}
	r, err := d.renderOnce(ctx, ch, s, id, revision)
	if err != nil || !usesRandom(ch) {
		return r, err
	}
	again, err := p.load()
	if err != nil {
		return rendering{}, fmt.Errorf("chart %s: %w", where(s), err)
	}
	freeze(again)
	other, err := d.renderOnce(ctx, again, s, id, revision)
	if err != nil { // the templates do something with the time that they cannot with another
		if again, err = p.load(); err == nil {
			other, err = d.renderOnce(ctx, again, s, id, revision)
		}
	}
	if err != nil {
		return rendering{}, err
	}
	var named bool
	r.unstable, named = compareRenderings(r.objects, other.objects)
	r.unnamed = !named
	return r, nil
}

// renderOnce renders as Helm does, with the cluster's answers to lookup. Helm's own dry-run is
// not used: it refuses to render when a kind is missing, which is the plan's matter.
func (d *Driver) renderOnce(ctx context.Context, ch *chart.Chart, s resource.ReleaseSpec, id resource.ID, revision int) (rendering, error) {
	caps, err := d.cluster.capabilities()
	if err != nil {
		return rendering{}, err
	}
	if want := ch.Metadata.KubeVersion; want != "" && !chartutil.IsCompatibleRange(want, caps.KubeVersion.String()) {
		return rendering{}, fmt.Errorf("chart %s wants Kubernetes %s, the cluster is %s", where(s), want, caps.KubeVersion.String())
	}
	values := copyTree(s.Values)
	if err := chartutil.ProcessDependenciesWithMerge(ch, values); err != nil {
		return rendering{}, fmt.Errorf("chart %s: dependencies: %w", where(s), err)
	}
	in, err := chartutil.ToRenderValuesWithSchemaValidation(ch, values, chartutil.ReleaseOptions{
		Name: id.Name, Namespace: id.Namespace, Revision: revision, IsInstall: revision == 1, IsUpgrade: revision > 1,
	}, caps, false)
	if err != nil {
		return rendering{}, fmt.Errorf("chart %s: values: %w", where(s), err)
	}
	if err := ctx.Err(); err != nil {
		return rendering{}, fmt.Errorf("render chart %s: %w", where(s), err)
	}
	files, err := engine.New(d.cluster.config).Render(ch, in)
	if err != nil {
		return rendering{}, fmt.Errorf("render chart %s: %w", where(s), err)
	}
	return d.assemble(ch, files, s, id)
}

// assemble puts the rendered files together in Helm's order and text.
func (d *Driver) assemble(ch *chart.Chart, files map[string]string, s resource.ReleaseSpec, id resource.ID) (rendering, error) {
	for name := range files {
		if path.Base(name) == "NOTES.txt" {
			delete(files, name)
		}
	}
	hooks, manifests, err := releaseutil.SortManifests(files, nil, releaseutil.InstallOrder)
	if err != nil {
		return rendering{}, fmt.Errorf("render chart %s: %w", where(s), err)
	}
	r := rendering{chart: ch, hooks: hooks}
	var text strings.Builder
	for _, m := range manifests {
		fmt.Fprintf(&text, "---\n# Source: %s\n%s\n", m.Name, m.Content)
	}
	r.manifest = text.String()
	if r.objects, err = d.children(r.manifest, id.Namespace); err != nil {
		return rendering{}, fmt.Errorf("render chart %s: %w", where(s), err)
	}
	for _, crd := range ch.CRDObjects() {
		list, err := d.children(string(crd.File.Data), id.Namespace)
		if err != nil {
			return rendering{}, fmt.Errorf("chart %s, %s: %w", where(s), crd.Filename, err)
		}
		r.crds = append(r.crds, list...)
	}
	return r, nil
}

// children parses a manifest, in its order and document by document as Helm's client does:
// Helm's own SplitManifests trims the newline that ends a block scalar. Lists are taken apart;
// objects of a namespaced kind without a namespace get the release's.
func (d *Driver) children(manifest, namespace string) ([]child, error) {
	docs := yamlutil.NewYAMLReader(bufio.NewReader(strings.NewReader(manifest)))
	var out []child
	for {
		doc, err := docs.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("manifest: %w", err)
		}
		obj, err := parse(doc)
		if err != nil {
			return nil, err
		}
		items := []any{obj}
		if list, ok := obj["items"].([]any); ok && strings.HasSuffix(fmt.Sprint(obj["kind"]), "List") {
			items = list
		}
		for _, item := range items {
			m, ok := item.(map[string]any)
			if !ok {
				return nil, fmt.Errorf("an item of a %v is no object", obj["kind"])
			}
			if len(m) > 0 {
				out = append(out, d.child(m, namespace, out))
			}
		}
	}
}

// parse reads one YAML document with whole numbers as integers; nil for an empty one.
func parse(text []byte) (map[string]any, error) {
	raw, err := yaml.YAMLToJSON(text)
	if err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	if v == nil {
		return nil, nil
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("manifest: a document is no object: %.60q", text)
	}
	return m, nil
}

func (d *Driver) child(m map[string]any, namespace string, earlier []child) child {
	u := unstructured.Unstructured{Object: m}
	id := resource.ID{Driver: resource.DriverKube, APIVersion: u.GetAPIVersion(), Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName()}
	if !d.namespaced(u.GroupVersionKind(), earlier) {
		id.Namespace = ""
	} else if id.Namespace == "" {
		id.Namespace = namespace
	}
	return child{id: id, spec: m, keep: strings.EqualFold(strings.TrimSpace(u.GetAnnotations()[keepPolicy]), "keep")}
}

// namespaced asks the cluster, then the CRDs of the same manifest; an unknown kind counts as namespaced.
func (d *Driver) namespaced(gvk schema.GroupVersionKind, earlier []child) bool {
	for _, c := range earlier {
		group, _, _ := unstructured.NestedString(c.spec, "spec", "group")
		kind, _, _ := unstructured.NestedString(c.spec, "spec", "names", "kind")
		if c.id.Kind == "CustomResourceDefinition" && group == gvk.Group && kind == gvk.Kind {
			scope, _, _ := unstructured.NestedString(c.spec, "spec", "scope")
			return scope != "Cluster"
		}
	}
	m, err := d.cluster.mapping(gvk)
	return err != nil || m
}
