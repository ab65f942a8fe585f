package kinds

import (
	"reflect"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"sigs.k8s.io/yaml"

	"github.com/mifbench/mifbench/pkg/resource"
)

func TestTable(t *testing.T) {
	var names []string
	for _, k := range All() {
		names = append(names, k.Name)
		if k.Doc == "" || k.New == nil || k.Expand == nil {
			t.Errorf("%s: an empty column", k.Name)
		}
		undocumented(t, k.Name, reflect.TypeOf(k.New()).Elem())
	}
	if !sort.StringsAreSorted(names) {
		t.Errorf("rows are not sorted: %v", names)
	}
}

// undocumented reports option fields without a doc tag, nested blocks included.
func undocumented(t *testing.T, where string, ty reflect.Type) {
	t.Helper()
	for i := range ty.NumField() {
		f := ty.Field(i)
		if f.Tag.Get("hcl") == "" {
			continue
		}
		if f.Tag.Get("doc") == "" {
			t.Errorf("%s.%s has no doc tag", where, f.Name)
		}
		inner := f.Type
		for inner.Kind() == reflect.Slice || inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct && inner != reflect.TypeFor[cty.Value]() {
			undocumented(t, where+"."+f.Name, inner)
		}
	}
}

func scope(kind, name string) resource.Scope {
	return resource.Scope{
		Address: resource.Address{Kind: kind, Name: name},
		Stack:   "test",
		Dir:     "testdata",
		At:      func(path string) hcl.Range { return hcl.Range{Filename: path} },
	}
}

func obj(vals map[string]cty.Value) cty.Value { return cty.ObjectVal(vals) }

func TestGatewayKeepsNullInTheOverlay(t *testing.T) {
	limits := obj(map[string]cty.Value{"limits": cty.NullVal(cty.DynamicPseudoType)})
	o := &Gateway{
		Namespace: "ns", Class: "istio",
		Listeners:      []Listener{{Name: "http", Protocol: "HTTP", Port: 80}},
		Infrastructure: &Infrastructure{Deployment: obj(map[string]cty.Value{"resources": limits})},
	}
	exp, diags := expandGateway(scope("gateway", "mif"), o)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if n := len(exp.Objects); n != 2 {
		t.Fatalf("%d objects, want ConfigMap and Gateway", n)
	}
	cm := exp.Objects[0]
	if cm.ID.Name != "mif-gateway-infrastructure" {
		t.Errorf("ConfigMap is called %s", cm.ID.Name)
	}
	var got map[string]any
	text := cm.Spec["data"].(map[string]any)["deployment"].(string)
	if err := yaml.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"resources": map[string]any{"limits": nil}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if exp.Attrs["url"].IsKnown() {
		t.Error("url is known before apply")
	}
}

func TestMistakesOfOneBlock(t *testing.T) {
	for _, c := range []struct {
		name  string
		diags func() hcl.Diagnostics
		at    string
		says  string
	}{
		{"upper-case name", func() hcl.Diagnostics {
			return second(expandNamespace(scope("namespace", "x"), &Namespace{Name: "My_NS"}))
		}, "name", `"my-ns"`},
		{"name too long", func() hcl.Diagnostics {
			return second(expandNamespace(scope("namespace", "x"), &Namespace{Name: strings.Repeat("a", 64)}))
		}, "name", "64 characters"},
		{"two listeners of one name", func() hcl.Diagnostics {
			l := Listener{Name: "http", Protocol: "HTTP", Port: 80}
			return second(expandGateway(scope("gateway", "g"), &Gateway{Class: "istio", Listeners: []Listener{l, l}}))
		}, "listener.http", "must differ"},
		{"port out of range", func() hcl.Diagnostics {
			return second(expandGateway(scope("gateway", "g"), &Gateway{Listeners: []Listener{{Name: "h", Port: 80000}}}))
		}, "listener.h.port", "80000"},
		{"no listener", func() hcl.Diagnostics { return second(expandGateway(scope("gateway", "g"), &Gateway{})) }, "", "at least one listener"},
		{"refresh beside replicated", func() hcl.Diagnostics {
			return second(expandECRCredentials(scope("ecr_credentials", "m"), &ECRCredentials{Mode: "replicated", Refresh: &Refresh{}}))
		}, "refresh", "Two writers"},
		{"region unknown", func() hcl.Diagnostics {
			return second(expandECRCredentials(scope("ecr_credentials", "m"), &ECRCredentials{Mode: "aws", Registry: "registry.example.com"}))
		}, "registry", "set region"},
		{"object and file", func() hcl.Diagnostics {
			return second(expandManifest(scope("manifest", "m"), &Manifest{}))
		}, "", "exactly one"},
		{"manifest without a name", func() hcl.Diagnostics {
			return second(expandManifest(scope("manifest", "m"), &Manifest{Object: obj(map[string]cty.Value{"kind": cty.StringVal("Pod")})}))
		}, "object", "apiVersion, metadata.name missing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			diags := c.diags()
			if !diags.HasErrors() {
				t.Fatal("no error")
			}
			for _, d := range diags {
				if d.Subject.Filename == c.at && strings.Contains(d.Summary+" "+d.Detail, c.says) {
					return
				}
			}
			t.Errorf("no diagnostic at %q says %q: %v", c.at, c.says, diags)
		})
	}
}

func second(_ resource.Expansion, d hcl.Diagnostics) hcl.Diagnostics { return d }

func TestChartFullname(t *testing.T) {
	long := strings.Repeat("x", 70)
	for _, c := range []struct {
		release string
		values  map[string]any
		want    string
	}{
		{"heimdall", nil, "heimdall"},
		{"my-heimdall-2", nil, "my-heimdall-2"},
		{"prod", nil, "prod-heimdall"},
		{"prod", map[string]any{"fullnameOverride": "pool"}, "pool"},
		{"prod", map[string]any{"nameOverride": "epp"}, "prod-epp"},
		{long, nil, long[:63]},
	} {
		if got := chartFullname("heimdall", c.release, c.values); got != c.want {
			t.Errorf("release %s with %v: %s, want %s", c.release, c.values, got, c.want)
		}
	}
}

func TestMergeReplacesListsAndKeepsNull(t *testing.T) {
	a := map[string]any{"m": map[string]any{"x": int64(1), "y": int64(2)}, "l": []any{"a", "b"}}
	b := map[string]any{"m": map[string]any{"y": nil}, "l": []any{"c"}}
	want := map[string]any{"m": map[string]any{"x": int64(1), "y": nil}, "l": []any{"c"}}
	if d := cmp.Diff(want, merge(a, b)); d != "" {
		t.Error(d)
	}
}

func TestManifestDocuments(t *testing.T) {
	docs, err := splitDocs([]byte("# head\r\n---\r\na: 1\n---\n\n---\nb: 2.5\n"), "x.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := []map[string]any{{"a": int64(1)}, {"b": 2.5}}
	if d := cmp.Diff(want, docs); d != "" {
		t.Error(d)
	}
	if _, err := splitDocs([]byte("a: [\n"), "x.yaml"); err == nil || !strings.Contains(err.Error(), "x.yaml, document 1") {
		t.Errorf("error %v does not name the document", err)
	}
}
