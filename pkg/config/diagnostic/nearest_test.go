package diagnostic_test

import (
	"testing"

	"github.com/mifbench/mifbench/pkg/config/diagnostic"
)

func TestNearest(t *testing.T) {
	names := []string{"name", "labels", "namespace", "replicas", "replicated", "image_pull_secrets", "prefill-filter", "decode"}
	for given, want := range map[string]string{
		"naem": "name", "Name": "name", "label": "labels", "namespce": "namespace", "replica": "replicas",
		"replicate": "replicated", "imagePullSecrets": "image_pull_secrets", "prefil-filter": "prefill-filter",
		"decoder": "decode", "something": "", "x": "", "": "", "port": "",
	} {
		if got := diagnostic.Nearest(given, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", given, got, want)
		}
	}
}

func TestList(t *testing.T) {
	for want, in := range map[string][]string{"": nil, "a": {"a"}, "a and b": {"b", "a"}, "a, b and c": {"c", "a", "b"}} {
		if got := diagnostic.List(in); got != want {
			t.Errorf("List(%v) = %q", in, got)
		}
	}
}
