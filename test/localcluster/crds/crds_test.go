package crds

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func TestLoadFindsEveryDefinition(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the go command is not installed")
	}
	defs, err := Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range defs {
		got = append(got, d.Name)
	}
	want := []string{"inferenceservices.odin.moreh.io", "inferenceservicetemplates.odin.moreh.io"}
	for _, s := range sources() {
		want = append(want, s.names...)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestDownloadedChecksHashes(t *testing.T) {
	ss := []source{{module: "m", version: "v1", sum: "h1:a"}}
	for answer, want := range map[string]string{
		`{"Path":"m","Dir":"/d","Sum":"h1:a"}`: "",
		`{"Path":"m","Dir":"/d","Sum":"h1:b"}`: "not the pinned",
		`{"Path":"m","Error":"no network"}`:    "no network",
		``:                                     "EOF",
	} {
		dirs, err := downloaded([]byte(answer), ss)
		if want == "" && (err != nil || dirs[0] != "/d") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, %v; want %q", answer, dirs, err, want)
		}
	}
}

func TestOdinDefaults(t *testing.T) {
	obj := defaulted(t, "inferenceservices.odin.moreh.io", `{spec: {templateRefs: [{name: a}], service: {}}}`)
	for path, want := range map[string]any{
		"spec.replicas": int64(1), "spec.service.target": "auto",
	} {
		got, _, err := unstructured.NestedFieldNoCopy(obj, strings.Split(path, ".")...)
		if err != nil || got != want {
			t.Errorf("%s = %v (%T), %v; want %v", path, got, got, err, want)
		}
	}
	refs, _, err := unstructured.NestedSlice(obj, "spec", "templateRefs")
	if err != nil {
		t.Fatal(err)
	}
	ref, ok := refs[0].(map[string]any)
	if !ok || ref["group"] != "odin.moreh.io" || ref["kind"] != "InferenceServiceTemplate" {
		t.Errorf("template reference: %v", refs[0])
	}
	obj = defaulted(t, "inferenceservicetemplates.odin.moreh.io", `{spec: {}}`)
	if _, set, _ := unstructured.NestedFieldNoCopy(obj, "spec", "replicas"); set {
		t.Error("a template's replicas must not be defaulted: merging would override")
	}
}

// defaulted applies the defaults of a definition as the API server does.
func defaulted(t *testing.T, name, text string) map[string]any {
	t.Helper()
	defs, err := Odin()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(defs, func(d *apiextv1.CustomResourceDefinition) bool { return d.Name == name })
	internal := &apiext.JSONSchemaProps{}
	if err := apiextv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(defs[i].Spec.Versions[0].Schema.OpenAPIV3Schema, internal, nil); err != nil {
		t.Fatal(err)
	}
	s, err := schema.NewStructural(internal)
	if err != nil {
		t.Fatalf("%s has no structural schema: %v", name, err)
	}
	obj := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &obj); err != nil {
		t.Fatal(err)
	}
	defaulting.Default(obj, s)
	return obj
}

func TestUnestablished(t *testing.T) {
	d := func(name string, s apiextv1.ConditionStatus) apiextv1.CustomResourceDefinition {
		out := apiextv1.CustomResourceDefinition{}
		out.Name = name
		out.Status.Conditions = []apiextv1.CustomResourceDefinitionCondition{{Type: apiextv1.Established, Status: s}}
		return out
	}
	a, b := d("a", apiextv1.ConditionTrue), d("b", apiextv1.ConditionFalse)
	got := unestablished([]*apiextv1.CustomResourceDefinition{&a, &b}, []apiextv1.CustomResourceDefinition{a, b})
	if !slices.Equal(got, []string{"b"}) {
		t.Errorf("got %q", got)
	}
}
