package config_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/config/diagnostic"
	"github.com/mifbench/mifbench/pkg/resource"
)

func TestSettings(t *testing.T) {
	c := mustLoad(t, `
mifbench {
  required_version = ">= 0.1.0, < 2"
  stack            = "prod"
  disabled_checks  = ["MIF007"]
  backend "kubernetes" { namespace = "state" }
}
variable "ctx" { default = "lab" }
cluster {
  context    = var.ctx
  kubeconfig = "kube/config"
}
moved {
  from = service.old
  to   = service.this["a"]
}
service "this" {
  for_each = toset(["a"])
  name     = each.key
}
`, config.Options{Version: "0.2.0-dev"})
	if c.Stack != "prod" || c.Backend.Type != "kubernetes" || c.Backend.Namespace != "state" || c.Backend.Name != "prod" {
		t.Errorf("%s %+v", c.Stack, c.Backend)
	}
	if c.Cluster.Context != "lab" || c.Cluster.Kubeconfig != filepath.Join(c.Dir, "kube/config") {
		t.Errorf("%+v", c.Cluster)
	}
	want := []resource.Address{{Kind: "service", Name: "old"}, {Kind: "service", Name: "this", Key: `"a"`}}
	if len(c.Moved) != 1 {
		t.Fatal(c.Moved)
	}
	if diff := cmp.Diff(want, []resource.Address{c.Moved[0].From, c.Moved[0].To}); diff != "" {
		t.Error(diff)
	}
	if c.Objects()[0].Options.Wait != nil || c.Resources[0].Scope.Stack != "prod" {
		t.Error("scope")
	}
}

func TestRequiredVersion(t *testing.T) {
	for version, want := range map[string]string{"": "", "0.3.0": "", "0.3.1-rc1": "", "0.2.9": "Unsupported mifbench version", "dev": ""} {
		_, diags := load(t, `mifbench { required_version = ">= 0.3.0" }`, config.Options{Version: version})
		if got := summaries(diags); got != want {
			t.Errorf("%s: %s", version, got)
		}
	}
}

func TestStackIsNamedAfterTheDirectory(t *testing.T) {
	dir := filepath.Join(dirOf(t, map[string]string{"My Stack_2/main.mif.hcl": ""}), "My Stack_2")
	c, diags := config.Load(dir, config.Options{})
	fatal(t, c, diags)
	if c.Stack != "my-stack-2" || c.Backend.Path != filepath.Join(dir, "mifbench.state.json") {
		t.Errorf("%s %s", c.Stack, c.Backend.Path)
	}
}

func TestModuleLimits(t *testing.T) {
	_, diags := loadFiles(t, map[string]string{
		"main.mif.hcl":   "module \"m\" {\n  source  = \"./m\"\n  version = \"1.0\"\n}\noutput \"x\" {\n  value = module.m.x\n}\n",
		"m/main.mif.hcl": "cluster {\n  context = \"x\"\n}\noutput \"x\" {\n  value = var.outer\n}\n",
	}, config.Options{})
	if got := summaries(diags); got != "Block not allowed in a module; Reference to something undeclared; Unsupported argument" &&
		got != "Unsupported argument; Block not allowed in a module; Reference to something undeclared" {
		t.Error(got)
	}
}

func TestModuleDependsOn(t *testing.T) {
	c := mustLoadFiles(t, map[string]string{
		"main.mif.hcl":   "service \"z\" {\n  name       = \"z\"\n  depends_on = [module.m]\n}\nmodule \"m\" {\n  source     = \"./m\"\n  depends_on = [service.first]\n}\nservice \"first\" {\n  name = \"first\"\n}\n",
		"m/main.mif.hcl": "service \"in\" {\n  name = \"in\"\n}\n",
	}, config.Options{})
	if diff := cmp.Diff([]string{"service.first", "module.m.service.in", "service.z"}, addresses(c)); diff != "" {
		t.Error(diff)
	}
}

func TestJSONShape(t *testing.T) {
	dir := dirOf(t, map[string]string{"main.mif.hcl": "variable \"mode\" {\n  default = \"fsat\"\n}\nservice \"a\" {\n  name = \"a\"\n  mode = var.mode\n}\n"})
	t.Chdir(dir)
	c, diags := config.Load(".", config.Options{Kinds: fakeKinds()})
	got, err := diagnostic.JSON(c.Files, diags)
	if err != nil {
		t.Fatal(err)
	}
	want := `{
  "format_version": "1.0",
  "valid": false,
  "error_count": 1,
  "warning_count": 0,
  "diagnostics": [
    {
      "severity": "error",
      "summary": "Unsupported value",
      "detail": "\"fsat\" is not a value of the argument \"mode\". Did you mean \"fast\"? Allowed are: fast and slow.",
      "range": {
        "filename": "main.mif.hcl",
        "start": {
          "line": 6,
          "column": 10,
          "byte": 75
        },
        "end": {
          "line": 6,
          "column": 18,
          "byte": 83
        }
      },
      "snippet": {
        "context": "service \"a\"",
        "code": "  mode = var.mode",
        "start_line": 6,
        "highlight_start_offset": 9,
        "highlight_end_offset": 17,
        "values": [
          {
            "traversal": "var.mode",
            "statement": "is \"fsat\""
          }
        ]
      }
    }
  ]
}
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestMistakesOfSeveralFilesAreToldTogether(t *testing.T) {
	_, diags := loadFiles(t, map[string]string{
		"a.mif.hcl":        "service \"a\" {\n  nam = \"a\"\n}\n",
		"b.mif.hcl":        "service \"b\" {\n  name = local.x\n  mode = \"fst\"\n}\n",
		"c.mif.hcl":        "output \"c\" {\n  value = service.a.hots\n}\n",
		"x.auto.mifvars":   "unknown = 1\n",
		"broken.auto.json": "",
	}, config.Options{})
	want := "Unsupported argument; Reference to something undeclared; Unsupported value; Value for undeclared variable"
	if got := summaries(diags); got != want {
		t.Error(got)
	}
}

func TestDiagnosticTextWidthAndColour(t *testing.T) {
	c, diags := load(t, "service \"a\" {\n\tname = \"a\"\n\tmode = \"fst\"\n}\n", config.Options{})
	text := diagnostic.Text(c.Files, diags[0], diagnostic.Style{Width: 30})
	for _, line := range strings.Split(text, "\n") {
		if !strings.Contains(line, "on /") && len([]rune(line)) > 30 {
			t.Errorf("%q is wider than 30", line)
		}
	}
	if !strings.Contains(text, "   3:     mode = \"fst\"\n│                  ^^^^^\n") {
		t.Errorf("tabs move the mark:\n%s", text)
	}
	if coloured := diagnostic.Text(c.Files, diags[0], diagnostic.Style{Color: true}); !strings.Contains(coloured, "\x1b[31m") {
		t.Error("no colour")
	}
}
