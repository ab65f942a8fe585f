package config_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/config/diagnostic"
	"github.com/mifbench/mifbench/pkg/resource/kinds"
)

func seed(f *testing.F, patterns ...string) {
	f.Helper()
	for _, p := range patterns {
		files, err := filepath.Glob(p)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b)
		}
	}
}

// FuzzLoad: any bytes are loaded or answered, and the answer can be shown.
func FuzzLoad(f *testing.F) {
	seed(f, "testdata/diagnostics/*.mif.hcl", "../../examples/*/*.mif.hcl")
	f.Fuzz(func(t *testing.T, src []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "main.mif.hcl"), src, 0o600); err != nil {
			t.Fatal(err)
		}
		c, diags := config.Load(dir, config.Options{Kinds: kinds.All()})
		if _, err := diagnostic.JSON(c.Files, diags); err != nil {
			t.Fatal(err)
		}
		if err := diagnostic.WriteText(&strings.Builder{}, c.Files, diags, diagnostic.Style{Color: true}); err != nil {
			t.Fatal(err)
		}
		config.Graph(c)
	})
}

// FuzzVarFile: any bytes as a variables file.
func FuzzVarFile(f *testing.F) {
	f.Add([]byte(`a = "x"`), false)
	f.Add([]byte(`b = [1, 2]`+"\n"+`c = { x = null, y = "z" }`), false)
	f.Add([]byte(`{"a": "x", "b": [1], "c": {"x": 1}}`), true)
	f.Add([]byte(`a = <<EOT`), false)
	f.Fuzz(func(t *testing.T, src []byte, json bool) {
		name := "x.auto.mifvars"
		if json {
			name += ".json"
		}
		dir := dirOf(t, map[string]string{
			"main.mif.hcl": `
variable "a" { default = "" }
variable "b" {
  type    = list(number)
  default = []
}
variable "c" {
  type      = object({ x = optional(number, 1), y = optional(string) })
  default   = {}
  sensitive = true
}
output "all" {
  value     = [var.a, var.b, var.c]
  sensitive = true
}`,
			name: string(src),
		})
		c, diags := config.Load(dir, config.Options{})
		if _, err := diagnostic.JSON(c.Files, diags); err != nil {
			t.Fatal(err)
		}
		diagnosticText(t, c, diags)
	})
}

// FuzzFormat: formatting is idempotent and keeps the comments.
func FuzzFormat(f *testing.F) {
	seed(f, "testdata/diagnostics/*.mif.hcl", "../../examples/*/*.mif.hcl")
	f.Fuzz(func(t *testing.T, src []byte) {
		once, diags := config.Format(src, "x.mif.hcl")
		if diags.HasErrors() {
			return
		}
		twice, diags := config.Format(once, "x.mif.hcl")
		if diags.HasErrors() {
			t.Fatalf("formatted text does not parse: %v\n%s", diags, once)
		}
		if !bytes.Equal(once, twice) {
			t.Fatalf("not idempotent:\n%q\n%q", once, twice)
		}
	})
}

// FuzzEval: any expression.
func FuzzEval(f *testing.F) {
	for _, s := range []string{`1 + 1`, `[for x in range(3) : x * 2]`, `"${path.module}/x"`, `try(local.a, 1)`, `format("%s", "a")`, `replace("a", "/(/", "")`} {
		f.Add(s)
	}
	c, diags := config.Load(dirOf(f, map[string]string{"main.mif.hcl": "locals { a = { b = [1, null, \"x\"] } }"}), config.Options{})
	if diags.HasErrors() {
		f.Fatal(diags)
	}
	f.Fuzz(func(t *testing.T, expr string) {
		_, diags := config.Eval(c, expr)
		if _, err := diagnostic.JSON(c.Files, diags); err != nil {
			t.Fatal(err)
		}
	})
}
