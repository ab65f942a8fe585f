package helm_test

import (
	"testing"

	"sigs.k8s.io/yaml"
)

func dump(t *testing.T, v any) string {
	t.Helper()
	text, err := yaml.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
