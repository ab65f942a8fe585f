package examples_test

import (
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestPickerConfigurations: test/eppcheck loads what the examples give the endpoint picker, with
// the real scheduler.
func TestPickerConfigurations(t *testing.T) {
	for _, e := range examples() {
		for _, o := range e.load(t).Objects() {
			values, _ := o.Spec["values"].(map[string]any)
			if values["config"] == nil {
				continue
			}
			text, err := yaml.Marshal(values["config"])
			if err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join("..", "test", "eppcheck", "testdata", "generated", e.dir+".yaml"), string(text))
		}
	}
}
