package plan

import "testing"

func TestConflictFieldsAgainstIgnoreChanges(t *testing.T) {
	obj := map[string]any{
		"metadata": map[string]any{
			"annotations": map[string]any{"a": "1", "a.b/c": "x"},
			"finalizers":  []any{"f/one", "f/two"},
		},
		"spec": map[string]any{
			"replicas": int64(2),
			"template": map[string]any{"containers": []any{
				map[string]any{"name": "proxy", "image": "p"},
				map[string]any{"name": `odd"]name`, "image": "q"},
				map[string]any{"name": "main", "image": "m", "ports": []any{
					map[string]any{"containerPort": int64(80), "protocol": "TCP", "name": "http"},
					map[string]any{"containerPort": int64(80), "protocol": "UDP", "name": "quic"},
				}},
			}},
		},
	}
	for _, c := range []struct {
		field, pattern string
		want           bool
	}{
		{".spec.replicas", "/spec/replicas", true},
		{".spec.replicas", "/spec/template", false},
		{".spec.replicas", "/spec", true},
		{`.spec.template.containers[name="main"].image`, "/spec/template/containers/*/image", true},
		{`.spec.template.containers[name="main"].image`, "/spec/template/containers/2/image", true},
		{`.spec.template.containers[name="main"].image`, "/spec/template/containers/0/image", false},
		{`.spec.template.containers[name="odd\"]name"].image`, "/spec/template/containers/1/image", true},
		{`.spec.template.containers[name="main"].ports[containerPort=80,protocol="UDP"].name`, "/spec/template/containers/2/ports/1", true},
		{`.spec.template.containers[name="main"].ports[containerPort=80,protocol="UDP"].name`, "/spec/template/containers/2/ports/0", false},
		{`.spec.template.containers[name="gone"].image`, "/spec/template/containers/*/image", false},
		{`.metadata.finalizers[="f/two"]`, "/metadata/finalizers/1", true},
		{".metadata.annotations.a.b/c", "/metadata/annotations/a.b~1c", true},
		{".metadata.annotations.a", "/metadata/annotations/a", true},
		{".metadata.annotations.a.b/c", "/metadata/annotations/a", false},
		{"/spec/replicas", "/spec/replicas", true},
		{".spec.unknown.field", "/spec/unknown", true},
	} {
		if got := ignoredField(c.field, []string{c.pattern}, nil, obj); got != c.want {
			t.Errorf("%s ignored by %s: %v", c.field, c.pattern, got)
		}
	}
}
