package config_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/config/diagnostic"
)

func TestVariablePrecedence(t *testing.T) {
	decl := ""
	for _, n := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		decl += "variable \"" + n + "\" {\n  type    = string\n  default = \"default\"\n}\n"
	}
	files := map[string]string{
		"main.mif.hcl":           decl,
		"mifbench.mifvars":       "c = \"file\"\nd = \"file\"\ne = \"file\"\nf = \"file\"\ng = \"file\"\n",
		"1.auto.mifvars":         "d = \"auto1\"\ne = \"auto1\"\nf = \"auto1\"\ng = \"auto1\"\n",
		"2.auto.mifvars.json":    `{"e": "auto2", "f": "auto2", "g": "auto2"}`,
		"other/extra.mifvars":    "f = \"var-file\"\ng = \"var-file\"\n",
		"ignored.mifvars":        "a = \"no\"\n",
		"other/sub.auto.mifvars": "a = \"no\"\n",
	}
	dir := dirOf(t, files)
	c, diags := config.Load(dir, config.Options{
		Kinds: fakeKinds(),
		Env:   func() []string { return []string{"MIFBENCH_VAR_b=env", "MIFBENCH_VAR_c=env", "MIFBENCH_VAR_unknown=x"} },
		Vars:  []config.VarArg{{File: dir + "/other/extra.mifvars"}, {Assignment: "g=option"}},
	})
	fatal(t, c, diags)
	got := map[string]string{}
	for _, v := range c.Variables {
		got[v.Name] = v.Value.AsString()
	}
	want := map[string]string{"a": "default", "b": "env", "c": "file", "d": "auto1", "e": "auto2", "f": "var-file", "g": "option"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if s := c.Variables[1].Source; s != "environment variable MIFBENCH_VAR_b" {
		t.Errorf("source %q", s)
	}
}

func TestVariableTypes(t *testing.T) {
	c := mustLoad(t, `
variable "services" {
  type = map(object({
    replicas = optional(number, 1)
    role     = optional(string)
    env      = optional(map(string), {})
  }))
  nullable = false
  default  = {}
}
variable "ports" { type = list(number) }
variable "flag" { type = bool }
variable "text" {}
output "replicas" { value = var.services.a.replicas }
output "role" { value = var.services.a.role }
output "ports" { value = length(var.ports) }
output "flag" { value = var.flag }
output "text" { value = var.text }
`, config.Options{
		Vars: []config.VarArg{{Assignment: `services={ a = {} }`}, {Assignment: "ports=[1, 2]"}, {Assignment: "text=[not, parsed"}},
		Env:  func() []string { return []string{"MIFBENCH_VAR_flag=true"} },
	})
	if v := output(t, c, "replicas"); v.AsBigFloat().String() != "1" {
		t.Errorf("%#v", v)
	}
	if !output(t, c, "role").IsNull() || !output(t, c, "flag").True() || output(t, c, "text").AsString() != "[not, parsed" {
		t.Error("values do not arrive")
	}
}

func TestSecretsStayHidden(t *testing.T) {
	const secret = "hunter2hunter2"
	text := `
variable "password" {
  type      = string
  sensitive = true
}
locals { basic = base64encode("user:${var.password}") }
service "a" {
  name     = "a"
  spec     = { user = "x", url = "https://user:${var.password}@host", basic = local.basic, note = "plain" }
  password = var.password
}
service "literal" {
  name     = "b"
  password = "literal-secret"
}
output "p" {
  value     = service.a.password
  sensitive = true
}
output "open" { value = service.a.host }
`
	c := mustLoad(t, text, config.Options{Vars: []config.VarArg{{Assignment: "password=" + secret}}})
	objects := c.Objects()
	if diff := cmp.Diff([]string{"/text"}, objects[0].Sensitive); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"/password", "/spec/basic", "/spec/url"}, objects[1].Sensitive); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"/password"}, objects[3].Sensitive); diff != "" {
		t.Error(diff)
	}
	g, err := json.Marshal(config.Graph(c))
	if err != nil || strings.Contains(string(g), secret) {
		t.Errorf("graph: %v", err)
	}
	for name, more := range map[string]string{
		"kind's own message":     `service "c" { name = "!${var.password}" }`,
		"output without mark":    `output "leak" { value = var.password }`,
		"wrong type":             `service "d" { name = "d" replicas = var.password }`,
		"enum":                   "service \"e\" {\n  name = \"e\"\n  mode = var.password\n}",
		"for_each key":           "service \"f\" {\n  for_each = toset([var.password])\n  name = \"f\"\n}",
		"function argument":      `locals { x = parseint(var.password, 10) }`,
		"regex":                  `locals { x = regex("x", var.password) }`,
		"index":                  `locals { x = { a = 1 }[var.password] }`,
		"attribute of the value": `locals { x = jsondecode(var.password) }`,
		"file name":              `locals { x = file(var.password) }`,
		"template":               `locals { x = "${[1]}${var.password}" }`,
		"sensitive function":     `output "leak" { value = sensitive("` + "x" + `${var.password}") }`,
		"duration":               "service \"g\" {\n  name = \"g\"\n  timeouts { create = var.password }\n}",
		"format":                 `locals { x = format("%d", var.password) }`,
		"env":                    `locals { x = env(var.password) }`,
		"yamldecode":             `locals { x = yamldecode("a: b: ${var.password}") }`,
	} {
		t.Run(name, func(t *testing.T) {
			c, diags := load(t, text+more, config.Options{Vars: []config.VarArg{{Assignment: "password=" + secret}}})
			if !diags.HasErrors() {
				t.Error("no diagnostics")
			}
			js, err := diagnostic.JSON(c.Files, diags)
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			if err := diagnostic.WriteText(&b, c.Files, diags, diagnostic.Style{Color: true}); err != nil {
				t.Fatal(err)
			}
			if shown := string(js) + b.String(); strings.Contains(shown, "hunter2") {
				t.Errorf("shown:\n%s", b.String())
			}
		})
	}
}

func TestVarFileSecretsStayHidden(t *testing.T) {
	decl := "variable \"password\" {\n  type      = number\n  sensitive = true\n}\n"
	for name, file := range map[string]string{
		"wrong type":    "password = \"hunter2\"\n",
		"syntax":        "password = \"hunter2\n",
		"not a literal": "password = hunter2\n",
	} {
		t.Run(name, func(t *testing.T) {
			c, diags := loadFiles(t, map[string]string{"main.mif.hcl": decl, "x.auto.mifvars": file}, config.Options{})
			if !diags.HasErrors() {
				t.Error("no diagnostics")
			}
			js, err := diagnostic.JSON(c.Files, diags)
			if err != nil || strings.Contains(string(js), "hunter2") {
				t.Errorf("%v\n%s", err, js)
			}
		})
	}
}
