package kinds

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mifbench/mifbench/pkg/resource"
)

// object is one Kubernetes object of a block; metadata and body become its manifest.
func object(s resource.Scope, apiVersion, kind, namespace, name string, body map[string]any) resource.Object {
	meta := map[string]any{"name": name}
	if namespace != "" {
		meta["namespace"] = namespace
	}
	spec := map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": meta}
	for k, v := range body {
		spec[k] = v
	}
	return resource.Object{
		Address: s.Address,
		ID:      resource.ID{Driver: resource.DriverKube, APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name},
		Spec:    spec,
		Range:   s.Block,
	}
}

// setMeta adds labels or annotations to an object's metadata when there are any.
func setMeta(o resource.Object, field string, m map[string]string) {
	if len(m) > 0 {
		o.Spec["metadata"].(map[string]any)[field] = stringMap(m)
	}
}

func stringMap(m map[string]string) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}

// jsonAttr turns an optional attribute into JSON values; absent and null give nil.
func jsonAttr(s resource.Scope, path string, v cty.Value) (any, hcl.Diagnostics) {
	if v == cty.NilVal || v.IsNull() {
		return nil, nil
	}
	x, err := resource.JSON(v)
	if err != nil {
		return nil, hcl.Diagnostics{s.Error(path, "Unsuitable value", err.Error()+".")}
	}
	return x, nil
}

// jsonMapAttr is jsonAttr for attributes that must be objects.
func jsonMapAttr(s resource.Scope, path string, v cty.Value) (map[string]any, hcl.Diagnostics) {
	x, diags := jsonAttr(s, path, v)
	if x == nil {
		return nil, diags
	}
	m, ok := x.(map[string]any)
	if !ok {
		return nil, diags.Append(s.Error(path, "Unsuitable value type", "An object is required here: { key = value, … }."))
	}
	return m, diags
}

// merge lays b over a: maps deeply, everything else (lists, null) replaced, as Helm does.
func merge(a, b map[string]any) map[string]any {
	out := make(map[string]any, len(a)+len(b))
	for k, v := range a {
		out[k] = v
	}
	for k, v := range b {
		am, aok := out[k].(map[string]any)
		bm, bok := v.(map[string]any)
		if aok && bok {
			out[k] = merge(am, bm)
			continue
		}
		out[k] = v
	}
	return out
}

func orDefault(s *string, def string) string {
	if s == nil || *s == "" {
		return def
	}
	return *s
}

func anyList[T any](in []T) []any {
	out := make([]any, len(in))
	for i, v := range in {
		out[i] = v
	}
	return out
}

func attrs(m map[string]string) map[string]cty.Value {
	out := make(map[string]cty.Value, len(m))
	for k, v := range m {
		out[k] = cty.StringVal(v)
	}
	return out
}
