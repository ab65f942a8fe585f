package examples_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/mifbench/mifbench/pkg/check"
	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/config/diagnostic"
	"github.com/mifbench/mifbench/pkg/resource/kinds"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// example is a configuration with values for its required variables.
type example struct {
	dir  string
	vars []string
}

func examples() []example {
	return []example{
		{"deepseek-r1-mi300x", published()},
		{"endpoint", []string{"text=/data/texts"}},
		{"prerequisites", []string{
			"gateway_api_crds=../testdata/prerequisites/standard-install.yaml",
			"inference_extension_crds=../testdata/prerequisites/manifests.yaml",
		}},
		{"rehearsal", []string{"chart_repository=http://127.0.0.1:8879", "dataset_root=/data"}},
	}
}

// published are the values under which the published example must give the published
// manifests, placeholders included.
func published() []string {
	return []string{"model_path=/models/DeepSeek-R1", "client_node=client-0", "dataset_root=/data"}
}

func (e example) load(t *testing.T) *config.Config {
	t.Helper()
	var vars []config.VarArg
	for _, v := range e.vars {
		vars = append(vars, config.VarArg{Assignment: v})
	}
	c, diags := config.Load(e.dir, config.Options{Kinds: kinds.All(), Vars: vars, Version: "0.1.0"})
	if len(diags) > 0 {
		t.Fatal(text(t, c, diags))
	}
	return c
}

// TestExamples: every example loads without a word, its domain checks find nothing but the
// known warnings, and it stands for the known objects and scenarios.
func TestExamples(t *testing.T) {
	for _, e := range examples() {
		t.Run(e.dir, func(t *testing.T) {
			c := e.load(t)
			var b strings.Builder
			for _, o := range c.Objects() {
				fmt.Fprintf(&b, "%-36s %s\n", o.Address, o.ID)
				for _, d := range o.DependsOn {
					fmt.Fprintf(&b, "%-36s   after %s\n", "", d)
				}
			}
			for _, s := range c.Scenarios {
				fmt.Fprintf(&b, "scenario %-27s %d/%d tokens, %d requests, %d in flight, %.4g/s\n", s.Name, s.InputTokens, s.OutputTokens, s.Load.Requests, s.Load.MaxConcurrency, s.Load.RequestRate)
			}
			for _, d := range check.Run(c) {
				if d.Severity == hcl.DiagError {
					t.Errorf("%s: %s", d.Summary, d.Detail)
				}
				fmt.Fprintf(&b, "warning %s:%d: %s\n", filepath.Base(d.Subject.Filename), d.Subject.Start.Line, d.Summary)
			}
			golden(t, filepath.Join("testdata", "objects", e.dir+".txt"), b.String())
		})
	}
}

func TestEveryExampleIsTested(t *testing.T) {
	dirs, err := filepath.Glob("*/*.mif.hcl")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, e := range examples() {
		known[e.dir] = true
	}
	for _, f := range dirs {
		if !known[filepath.Dir(f)] {
			t.Errorf("%s belongs to no tested example", f)
		}
	}
}

func TestExamplesAreFormatted(t *testing.T) {
	files, err := filepath.Glob("*/*.mif.hcl")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out, diags := config.Format(src, f)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		if diff := cmp.Diff(string(src), string(out)); diff != "" {
			t.Errorf("mifbench fmt changes %s:\n%s", f, diff)
		}
	}
}

func text(t *testing.T, c *config.Config, diags hcl.Diagnostics) string {
	t.Helper()
	var b strings.Builder
	if err := diagnostic.WriteText(&b, c.Files, diags, diagnostic.Style{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (rewrite with -update):\n%s", path, diff)
	}
}
