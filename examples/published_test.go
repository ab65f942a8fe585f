package examples_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/mifbench/mifbench/pkg/resource"
)

// TestPublishedStack holds the objects of examples/deepseek-r1-mi300x against the published
// manifests, field by field, nothing more and nothing less. The document's placeholders are
// filled as its reader fills them, and the namespace is added where its commands pass -n.
func TestPublishedStack(t *testing.T) {
	c := examples()[0].load(t)
	want := map[string]any{
		// kubectl create namespace deepseek-r1-benchmark
		"Namespace deepseek-r1-benchmark": map[string]any{
			"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "deepseek-r1-benchmark"},
		},
		// helm upgrade -i heimdall moreh/heimdall --version v0.7.1 -n deepseek-r1-benchmark -f heimdall-values.yaml
		"Release deepseek-r1-benchmark/heimdall": map[string]any{
			"repository": "https://moreh-dev.github.io/helm-charts", "chart": "heimdall", "version": "v0.7.1", "wait": true,
			"values": documents(t, "heimdall-values.yaml")[0],
		},
	}
	for _, file := range []string{"gateway.yaml", "deepseek-r1-prefill.yaml", "deepseek-r1-decode.yaml", "benchmarking-client.yaml"} {
		for _, doc := range documents(t, file) {
			doc := doc.(map[string]any)
			meta := doc["metadata"].(map[string]any)
			meta["namespace"] = "deepseek-r1-benchmark"
			want[doc["kind"].(string)+" deepseek-r1-benchmark/"+meta["name"].(string)] = doc
		}
	}
	got := map[string]any{}
	for _, o := range c.Objects() {
		if o.ID.Driver == resource.DriverECR {
			continue // the document assumes the Secret; see TestPublishedCredentials
		}
		if _, twice := got[o.ID.String()]; twice {
			t.Errorf("%s is planned twice", o.ID)
		}
		got[o.ID.String()] = plain(t, o.Spec)
	}
	if diff := cmp.Diff(overlays(t, want), overlays(t, got)); diff != "" {
		t.Errorf("- published, + planned:\n%s", diff)
	}
}

// TestPublishedOverlayKeepsNull looks at the text that the gateway controller reads: a null
// that went missing would leave the proxy's limits in place.
func TestPublishedOverlayKeepsNull(t *testing.T) {
	for _, o := range examples()[0].load(t).Objects() {
		if o.ID.Kind != "ConfigMap" {
			continue
		}
		if overlay, _ := o.Spec["data"].(map[string]any)["deployment"].(string); !strings.Contains(overlay, "limits: null") {
			t.Errorf("overlay:\n%s", overlay)
		}
		return
	}
	t.Error("no ConfigMap is planned")
}

// TestPublishedCredentials: the pull secret that the published values name is provided.
func TestPublishedCredentials(t *testing.T) {
	var got []resource.ID
	for _, o := range examples()[0].load(t).Objects() {
		if o.ID.Driver == resource.DriverECR {
			got = append(got, o.ID)
		}
	}
	want := []resource.ID{{Driver: "ecr", APIVersion: "v1", Kind: "Secret", Namespace: "deepseek-r1-benchmark", Name: "moreh-registry"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestPublishedScenarios holds the scenarios against the document's commands and table.
func TestPublishedScenarios(t *testing.T) {
	type row struct {
		Name                           string
		In, Out, Requests, Concurrency int64
		Rate, Tokens                   float64
		Warmup, Cooldown               string
	}
	want := []row{
		{"sharegpt-512", 512, 512, 32400, 10800, 140, 66194.80, "2m0s", "1m10s"},
		{"gutenberg-512", 512, 512, 32400, 10800, 140, 64695.10, "2m10s", "1m10s"},
		{"sharegpt-1000", 1000, 1000, 32400, 10800, 80, 61828.90, "2m20s", "1m50s"},
		{"gutenberg-1000", 1000, 1000, 32400, 10800, 80, 61418.55, "2m30s", "2m0s"},
		{"sharegpt-2000", 2000, 2000, 32400, 10800, 48, 51187.87, "5m0s", "3m50s"},
		{"gutenberg-2000", 2000, 2000, 32400, 10800, 60, 50892.65, "4m20s", "4m0s"},
		{"gutenberg-2000-100", 2000, 100, 225000, 10800, 1500, 53776.62, "30s", "20s"},
	}
	var got []row
	for _, s := range examples()[0].load(t).Scenarios {
		got = append(got, row{s.Name, s.InputTokens, s.OutputTokens, s.Load.Requests, s.Load.MaxConcurrency,
			s.Load.RequestRate, *s.Reference.OutputTokensPerSecond, s.Window.Warmup.String(), s.Window.Cooldown.String()})
		if !s.IgnoreEOS || s.Model != "deepseek-ai/DeepSeek-R1" {
			t.Errorf("%s: ignore_eos %t, model %s", s.Name, s.IgnoreEOS, s.Model)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// documents reads a published file with its placeholders filled.
func documents(t *testing.T, name string) []any {
	t.Helper()
	src, err := os.ReadFile(filepath.Join("testdata", "published", name))
	if err != nil {
		t.Fatal(err)
	}
	filled := strings.NewReplacer(
		"/path/to/DeepSeek-R1", "/models/DeepSeek-R1", "/path/to/ShareGPT", "/data/ShareGPT",
		"/path/to/project_gutenberg", "/data/project_gutenberg", "<clientHostname>", "client-0",
	).Replace(string(src))
	if strings.Contains(filled, "/path/to") || strings.Contains(filled, "<") {
		t.Fatalf("%s has another placeholder:\n%s", name, filled)
	}
	var out []any
	for _, part := range bytes.Split([]byte(filled), []byte("\n---\n")) {
		out = append(out, parse(t, part))
	}
	return out
}

func parse(t *testing.T, src []byte) any {
	t.Helper()
	var x any
	if err := yaml.UnmarshalStrict(src, &x); err != nil {
		t.Fatal(err)
	}
	return x
}

// plain is a value with the number types that YAML files are read with.
func plain(t *testing.T, v any) any {
	t.Helper()
	text, err := yaml.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, text)
}

// overlays reads the texts in ConfigMaps, which are YAML themselves, as values.
func overlays(t *testing.T, objects map[string]any) map[string]any {
	t.Helper()
	for id, o := range objects {
		if !strings.HasPrefix(id, "ConfigMap ") {
			continue
		}
		data := o.(map[string]any)["data"].(map[string]any)
		for k, v := range data {
			data[k] = parse(t, []byte(v.(string)))
		}
	}
	return objects
}
