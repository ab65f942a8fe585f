package check_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"sigs.k8s.io/yaml"

	"github.com/mifbench/mifbench/pkg/check"
	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/resource/kinds"
)

// The module test/eppcheck asks the real scheduler about the same cases.
const agreement = "../../test/eppcheck/testdata/cases.yaml"

var drawn = flag.String("picker-cases", "", "write drawn configurations of the endpoint picker and the checks' verdicts to this `file`")

// pickerCase is a configuration of the endpoint picker and what is said of it.
type pickerCase struct {
	Name   string         `json:"name"`
	Says   string         `json:"says"`
	Codes  []string       `json:"codes,omitempty"`
	Config map[string]any `json:"config"`
}

// TestPickerAgreement holds the checks to what the scheduler was seen to do.
func TestPickerAgreement(t *testing.T) {
	data, err := os.ReadFile(agreement)
	if err != nil {
		t.Fatal(err)
	}
	var cases []pickerCase
	if err := yaml.UnmarshalStrict(data, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			codes, told := pickerErrors(t, c.Config)
			refused := c.Says == "refused" || c.Says == "stricter"
			if refused != (len(codes) > 0) {
				t.Errorf("the case says %s, the checks say %v\n%s", c.Says, codes, told)
			}
		})
	}
}

// TestGoodPicker writes the configuration of the good stack for the scheduler to load.
func TestGoodPicker(t *testing.T) {
	good, err := os.ReadFile("testdata/good.mif.hcl")
	if err != nil {
		t.Fatal(err)
	}
	c, _ := load(t, string(good))
	for _, o := range c.Objects() {
		values, _ := o.Spec["values"].(map[string]any)
		if values["config"] == nil {
			continue
		}
		text, err := yaml.Marshal(values["config"])
		if err != nil {
			t.Fatal(err)
		}
		golden(t, "../../../test/eppcheck/testdata/generated/good.yaml", string(text))
	}
}

// TestDrawPickerCases writes what make eppcheck compares with the scheduler.
func TestDrawPickerCases(t *testing.T) {
	if *drawn == "" {
		t.Skip("only with -picker-cases")
	}
	var cases []pickerCase
	for seed := range uint64(1000) {
		c := pickerCase{Name: fmt.Sprintf("drawn %d", seed), Config: drawPicker(seed), Says: "accepted"}
		if c.Codes, _ = pickerErrors(t, c.Config); len(c.Codes) > 0 {
			c.Says = "refused"
		}
		cases = append(cases, c)
	}
	data, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(*drawn, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// pickerErrors are the codes of the errors that a stack with this configuration gets, sorted,
// and their wording. Warnings are not counted.
func pickerErrors(t *testing.T, body map[string]any) (codes []string, told string) {
	t.Helper()
	dir := t.TempDir()
	full := map[string]any{"apiVersion": "inference.networking.x-k8s.io/v1alpha1", "kind": "EndpointPickerConfig"}
	for k, v := range body {
		full[k] = v
	}
	data, err := json.Marshal(full)
	if err != nil {
		t.Fatal(err)
	}
	const block = `heimdall "h" {
  namespace     = "a"
  repository    = "https://example.org/charts"
  version       = "v0.7.1"
  gateway       = "g"
  gateway_class = "istio"
  values        = { config = yamldecode(file("${path.module}/config.yaml")) }
}
`
	for name, text := range map[string]string{"config.yaml": string(data), "main.mif.hcl": block} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, diags := config.Load(dir, config.Options{Kinds: kinds.All()})
	if diags.HasErrors() {
		t.Fatal(render(t, c, diags))
	}
	diags = check.Run(c)
	for _, d := range diags {
		if code, _ := hcl.DiagnosticExtra[check.Code](d); d.Severity == hcl.DiagError {
			codes = append(codes, string(code))
		}
	}
	slices.Sort(codes)
	return slices.Compact(codes), strings.TrimSpace(render(t, c, diags))
}
