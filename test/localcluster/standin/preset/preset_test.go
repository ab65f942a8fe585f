package preset

import (
	"slices"
	"testing"
)

func TestTemplates(t *testing.T) {
	all, err := Templates()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, u := range all {
		names = append(names, u.GetName())
		kind := u.GetLabels()["mif.moreh.io/template.type"]
		if u.GetKind() != "InferenceServiceTemplate" || u.GetNamespace() != Namespace || !slices.Contains([]string{"runtime-base", "preset", "utils"}, kind) {
			t.Errorf("%s: kind %q, namespace %q, type %q", u.GetName(), u.GetKind(), u.GetNamespace(), kind)
		}
		spec := u.Object["spec"].(map[string]any)
		if (spec["template"] == nil) == (spec["workerTemplate"] == nil) {
			t.Errorf("%s has not exactly one of template and workerTemplate", u.GetName())
		}
	}
	for _, want := range []string{
		"vllm", "vllm-dp", "vllm-prefill-dp", "vllm-decode-dp",
		"quickstart-vllm-deepseek-ai-deepseek-r1-decode-amd-mi300x-dp8-moe-ep8",
		"quickstart-vllm-deepseek-ai-deepseek-r1-prefill-amd-mi300x-dp8-moe-ep8",
	} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is missing", want)
		}
	}
}
