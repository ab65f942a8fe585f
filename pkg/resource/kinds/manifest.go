package kinds

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"sigs.k8s.io/yaml"

	"github.com/mifbench/mifbench/pkg/resource"
)

// maxManifest bounds a manifest file; larger ones are charts, not manifests.
const maxManifest = 8 << 20

// Manifest are the options of a manifest block: object or file, not both.
type Manifest struct {
	Object    cty.Value `hcl:"object,optional" doc:"A Kubernetes object: { apiVersion, kind, metadata = { name, … }, … }; for example yamldecode(file(\"x.yaml\"))."`
	File      *string   `hcl:"file,optional" doc:"A YAML file with one or more documents, relative to this file's directory."`
	Namespace *string   `hcl:"namespace,optional" doc:"Namespace of objects that name none; leave out for cluster-scoped objects."`
}

func expandManifest(s resource.Scope, o *Manifest) (resource.Expansion, hcl.Diagnostics) {
	docs, path, diags := manifestDocs(s, o)
	var objects []resource.Object
	for i, doc := range docs {
		obj, err := manifestObject(s, doc, orDefault(o.Namespace, ""))
		if err != nil {
			where := ""
			if len(docs) > 1 {
				where = fmt.Sprintf("document %d: ", i+1)
			}
			diags = diags.Append(s.Error(path, "Not a Kubernetes object", where+err.Error()+"."))
			continue
		}
		objects = append(objects, obj)
	}
	a := map[string]cty.Value{}
	if len(objects) == 1 {
		a["object"] = resource.Value(objects[0].Spec)
		a["name"] = cty.StringVal(objects[0].ID.Name)
		a["namespace"] = cty.StringVal(objects[0].ID.Namespace)
	}
	return resource.Expansion{Objects: objects, Attrs: a}, diags
}

func manifestDocs(s resource.Scope, o *Manifest) (docs []map[string]any, path string, diags hcl.Diagnostics) {
	hasObject := o.Object != cty.NilVal && !o.Object.IsNull()
	switch {
	case hasObject == (o.File != nil):
		return nil, "", hcl.Diagnostics{s.Error("", "Give object or file", "A manifest block needs exactly one of object and file.")}
	case hasObject:
		m, d := jsonMapAttr(s, "object", o.Object)
		if m == nil {
			return nil, "object", d
		}
		return []map[string]any{m}, "object", d
	}
	docs, err := readDocs(filepath.Join(s.Dir, *o.File), *o.File)
	if err != nil {
		return nil, "file", hcl.Diagnostics{s.Error("file", "Unreadable manifest file", err.Error()+".")}
	}
	return docs, "file", nil
}

func readDocs(path, shown string) ([]map[string]any, error) {
	if filepath.IsAbs(shown) {
		path = shown
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", shown, err)
	}
	if info.Size() > maxManifest {
		return nil, fmt.Errorf("%s has %d bytes; manifests of more than %d are not read", shown, info.Size(), maxManifest)
	}
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", shown, err)
	}
	return splitDocs(src, shown)
}

// splitDocs cuts a YAML stream at its --- lines; empty documents are left out.
func splitDocs(src []byte, shown string) ([]map[string]any, error) {
	var docs []map[string]any
	src = bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n"))
	for i, part := range bytes.Split(append([]byte("\n"), src...), []byte("\n---")) {
		var x any
		if err := yaml.Unmarshal(part, &x); err != nil {
			return nil, fmt.Errorf("%s, document %d: %w", shown, i+1, err)
		}
		if x == nil {
			continue
		}
		m, ok := normalise(x).(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%s, document %d: a mapping is needed, not %T", shown, i+1, x)
		}
		docs = append(docs, m)
	}
	if len(docs) == 0 {
		return nil, fmt.Errorf("%s holds no document", shown)
	}
	return docs, nil
}

// normalise turns the YAML reader's float64 of whole numbers into int64.
func normalise(x any) any {
	switch x := x.(type) {
	case map[string]any:
		for k, v := range x {
			x[k] = normalise(v)
		}
	case []any:
		for i, v := range x {
			x[i] = normalise(v)
		}
	case float64:
		return number(x)
	}
	return x
}

func manifestObject(s resource.Scope, doc map[string]any, namespace string) (resource.Object, error) {
	apiVersion, _ := doc["apiVersion"].(string)
	kind, _ := doc["kind"].(string)
	meta, _ := doc["metadata"].(map[string]any)
	name, _ := meta["name"].(string)
	var missing []string
	for _, f := range []struct{ field, value string }{{"apiVersion", apiVersion}, {"kind", kind}, {"metadata.name", name}} {
		if f.value == "" {
			missing = append(missing, f.field)
		}
	}
	if len(missing) > 0 {
		return resource.Object{}, fmt.Errorf("%s missing", strings.Join(missing, ", "))
	}
	ns, _ := meta["namespace"].(string)
	if ns == "" {
		ns = namespace
	}
	body := make(map[string]any, len(doc))
	for k, v := range doc {
		if k != "metadata" {
			body[k] = v
		}
	}
	obj := object(s, apiVersion, kind, ns, name, body)
	for k, v := range meta {
		if k != "namespace" {
			obj.Spec["metadata"].(map[string]any)[k] = v
		}
	}
	if apiVersion == "v1" && kind == "Secret" {
		obj.Sensitive = []string{"/data", "/stringData"}
	}
	return obj, nil
}
