package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/resource/kinds"
)

// exampleVars are values for the required variables of the examples.
func exampleVars() []config.VarArg {
	return []config.VarArg{
		{Assignment: "model_path=/models/DeepSeek-R1"}, {Assignment: "client_node=worker-0"}, {Assignment: "dataset_root=/data"},
	}
}

func TestExamplesLoad(t *testing.T) {
	for dir, vars := range map[string][]config.VarArg{
		"deepseek-r1-mi300x": exampleVars(),
		"rehearsal":          append(exampleVars(), config.VarArg{Assignment: "chart_repository=http://127.0.0.1:1"}),
		"endpoint":           {{Assignment: "text=/data/x.txt"}},
	} {
		t.Run(dir, func(t *testing.T) {
			c, diags := config.Load("../../examples/"+dir, config.Options{Kinds: kinds.All(), Vars: vars})
			for _, d := range diags {
				t.Errorf("%s: %s", d.Error(), d.Detail)
			}
			t.Logf("%s: %d resources, %d objects, %d scenarios", c.Stack, len(c.Resources), len(c.Objects()), len(c.Scenarios))
			for _, o := range c.Objects() {
				var deps []string
				for _, d := range o.DependsOn {
					deps = append(deps, d.String())
				}
				t.Logf("  %s = %s after [%s]", o.Address, o.ID, strings.Join(deps, ", "))
			}
		})
	}
}

// TestWholeLanguageLoads reads a configuration that has every block.
func TestWholeLanguageLoads(t *testing.T) {
	c, diags := config.Load("testdata/whole", config.Options{Kinds: kinds.All(), Vars: exampleVars(), Version: "0.1.0"})
	fatal(t, c, diags)
	s := c.Scenarios[0]
	want := config.Scenario{
		Address: resource.Address{Kind: "scenario", Name: "sharegpt-512"}, Name: "sharegpt-512",
		Target: &resource.Address{Kind: "gateway", Name: "mif"},
		Engine: "native", API: "completions", Model: "deepseek-ai/DeepSeek-R1", Tokenizer: "/models/DeepSeek-R1/tokenizer.json",
		InputTokens: 512, OutputTokens: 512, IgnoreEOS: true, PromptFormat: "text", Stream: true,
		Load:      config.LoadSpec{Requests: 32400, MaxConcurrency: 10800, RequestRate: 140, Burstiness: 1, Overflow: "queue"},
		Window:    &config.Window{Warmup: 120 * time.Second, Cooldown: 70 * time.Second},
		Client:    &config.Client{Mode: "cluster", Pods: 1, NodeSelector: map[string]string{"kubernetes.io/hostname": "worker-0"}},
		Metrics:   &config.Metrics{Percentiles: []float64{1, 10, 25, 50, 75, 90}, View: "mifbench"},
		SLO:       &config.SLO{TTFT: 10 * time.Second, ITL: 250 * time.Millisecond, Share: 1},
		Cost:      &config.Cost{GPUHour: 2, GPUs: 40},
		Reference: &config.Reference{OutputTokensPerSecond: ptr(66194.80), Tolerance: 0.03, Source: "published table, row 1"},
	}
	ignore := cmpopts.IgnoreFields(config.Scenario{}, "Range", "At", "Dataset", "TargetAttrs", "ExtraBody")
	if diff := cmp.Diff(want, s, ignore, cmpopts.IgnoreFields(config.Client{}, "Tolerations", "Resources")); diff != "" {
		t.Error(diff)
	}
	if s.Dataset == nil || s.Dataset.Path != "/data/ShareGPT_V3_unfiltered_cleaned_split.json" {
		t.Errorf("dataset %+v", s.Dataset)
	}
	if c.Stack != "deepseek-r1-mi300x" || c.Backend.Type != "local" || c.Backend.Path != "testdata/whole/mifbench.state.json" {
		t.Errorf("%s %+v", c.Stack, c.Backend)
	}
	if len(c.Objects()) != 10 {
		for _, o := range c.Objects() {
			t.Log(o.ID)
		}
		t.Errorf("%d objects", len(c.Objects()))
	}
}

func ptr[T any](v T) *T { return &v }

// TestWaitIsArgumentAndBlock: helm_release has an argument of the name of a block that every
// resource takes.
func TestWaitIsArgumentAndBlock(t *testing.T) {
	dir := dirOf(t, map[string]string{"main.mif.hcl": `
helm_release "a" {
  namespace = "x"
  chart     = "./chart"
  wait      = false
  values    = { replicas = null, port = 80 }
  wait {
    none = true
  }
}
`})
	c, diags := config.Load(dir, config.Options{Kinds: kinds.All()})
	fatal(t, c, diags)
	o := c.Objects()[0]
	if o.Spec["wait"] != false || o.Options.Wait == nil || !o.Options.Wait.None {
		t.Errorf("%v %+v", o.Spec, o.Options)
	}
	if diff := cmp.Diff(map[string]any{"replicas": nil, "port": int64(80)}, o.Spec["values"]); diff != "" {
		t.Error(diff)
	}
}
