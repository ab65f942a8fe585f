package config_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/mifbench/mifbench/pkg/config"
)

const modelModule = `
variable "name" { type = string }
variable "replicas" {
  type    = number
  default = 1
}
service "this" {
  name     = var.name
  replicas = var.replicas
}
output "host" { value = service.this.host }
output "names" { value = [var.name] }
`

func TestModuleForEach(t *testing.T) {
	c := mustLoadFiles(t, map[string]string{
		"main.mif.hcl": `
locals {
  models = { "r1" = 2, "v3.1" = 1 }
}
module "model" {
  source   = "./model"
  for_each = local.models
  name     = replace(each.key, ".", "-")
  replicas = each.value
}
service "after" {
  name       = "after"
  depends_on = [module.model]
}
service "front" { name = "front-${module.model["r1"].host}" }
output "hosts" { value = { for k, m in module.model : k => m.host } }
output "all" { value = values(module.model)[*].host }`,
		"model/main.mif.hcl": modelModule,
	}, config.Options{})
	want := []string{`module.model["r1"].service.this`, `module.model["v3.1"].service.this`, "service.after", "service.front"}
	if diff := cmp.Diff(want, addresses(c)); diff != "" {
		t.Error(diff)
	}
	hosts := c.Outputs[0].Value.AsValueMap()
	if hosts["v3.1"].AsString() != "v3-1.svc" || c.Outputs[1].Value.LengthInt() != 2 {
		t.Errorf("%#v %#v", hosts, c.Outputs[1].Value)
	}
	if deps := c.Resources[2].DependsOn; len(deps) != 2 {
		t.Errorf("depends_on of a repeated module is %v", deps)
	}
	v, diags := config.Eval(c, `module.model["r1"].names`)
	if diags.HasErrors() || v.AsValueSlice()[0].AsString() != "r1" {
		t.Errorf("%#v %v", v, diags)
	}
}

func TestModuleCountInModules(t *testing.T) {
	c := mustLoadFiles(t, map[string]string{
		"main.mif.hcl": `
module "team" {
  source   = "./team"
  for_each = toset(["a", "b"])
  size     = each.key == "a" ? 2 : 0
  prefix   = each.key
}
module "follower" {
  source = "./model"
  count  = length(module.team["a"].hosts)
  name   = "follows-${module.team["a"].hosts[count.index]}"
}`,
		"team/main.mif.hcl": `
variable "size" { type = number }
variable "prefix" { type = string }
module "model" {
  source = "../model"
  count  = var.size
  name   = "${var.prefix}${count.index}"
}
output "hosts" { value = module.model[*].host }`,
		"model/main.mif.hcl": modelModule,
	}, config.Options{})
	want := []string{
		`module.follower[0].service.this`, `module.follower[1].service.this`,
		`module.team["a"].module.model[0].service.this`, `module.team["a"].module.model[1].service.this`,
	}
	got := addresses(c)
	if diff := cmp.Diff(want, sortedCopy(got)); diff != "" {
		t.Error(diff)
	}
	if got := strings.Join(keysOf(specs(c)), " "); !strings.Contains(got, "follows-a1.svc") {
		t.Error(got)
	}
}

func TestRepeatedModulesAnswer(t *testing.T) {
	const none = "output \"x\" {\n  value = 1\n}\n"
	for _, c := range []struct{ name, main, module, want string }{
		{"no instance", "module \"m\" {\n  source = \"./m\"\n  count = 0\n}\noutput \"n\" {\n  value = length(module.m)\n}", none, ""},
		{"names are checked with no instance", "module \"m\" {\n  source = \"./m\"\n  count = 0\n}", "output \"x\" {\n  value = var.nope\n}\n", "Reference to something undeclared"},
		{"arguments are checked with no instance", "module \"m\" {\n  source = \"./m\"\n  count = 0\n  nope = 1\n}", none, "Unsupported argument"},
		{"a key is missing", "module \"m\" {\n  source = \"./m\"\n  for_each = toset([\"a\"])\n}\noutput \"n\" {\n  value = module.m.x\n}", none, "Module has several instances"},
		{"an output is missing", "module \"m\" {\n  source = \"./m\"\n  for_each = toset([\"a\"])\n}\noutput \"n\" {\n  value = module.m[\"a\"].y\n}", none, "Reference to something undeclared"},
		{"an instance is missing", "module \"m\" {\n  source = \"./m\"\n  for_each = toset([\"a\"])\n}\noutput \"n\" {\n  value = module.m[\"b\"].x\n}", none, "Invalid index"},
		{"keys from its own outputs", "module \"m\" {\n  source = \"./m\"\n  count = length(module.m)\n}", none, "Cycle"},
		{"keys from each other", "module \"a\" {\n  source = \"./m\"\n  count = length(module.b)\n}\nmodule \"b\" {\n  source = \"./m\"\n  count = length(module.a)\n}", none, "Cycle"},
		{"both", "module \"m\" {\n  source = \"./m\"\n  count = 1\n  for_each = {}\n}", none, "Both for_each and count"},
		{"a list", "module \"m\" {\n  source = \"./m\"\n  for_each = [\"a\"]\n}", none, "Invalid for_each"},
		{"each in the wrong place", "module \"m\" {\n  source = \"./m\"\n  count = 1\n  a = each.key\n}", "variable \"a\" {}\n", `Invalid "each" attribute`},
		{"too many", "module \"m\" {\n  source = \"./m\"\n  count = 15000\n}\nmodule \"n\" {\n  source = \"./m\"\n  count = 15001\n}", none, "Too many modules"},
		{"a mistake inside is said once", "module \"m\" {\n  source = \"./m\"\n  count = 3\n}", "output \"x\" {\n  value = 1 / 0\n}\n", "Division by zero"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, diags := loadFiles(t, map[string]string{"main.mif.hcl": c.main + "\n", "m/main.mif.hcl": c.module}, config.Options{})
			if got := summaries(diags); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestSensitiveModuleArgumentsStaySo(t *testing.T) {
	c := mustLoadFiles(t, map[string]string{
		"main.mif.hcl": `
variable "token" {
  type      = string
  default   = "s3cret"
  sensitive = true
}
module "m" {
  source = "./m"
  for_each = { a = var.token }
  token  = each.value
}
output "x" {
  value     = module.m["a"].x
  sensitive = true
}`,
		"m/main.mif.hcl": "variable \"token\" {}\noutput \"x\" {\n  value = \"<${var.token}>\"\n}\n",
	}, config.Options{})
	if v := c.Outputs[0].Value; !c.Outputs[0].Sensitive || !v.RawEquals(cty.StringVal("<s3cret>")) {
		t.Errorf("%#v", c.Outputs[0])
	}
}

func keysOf[V any](m map[string]V) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	return sortedCopy(out)
}

func sortedCopy(in []string) []string {
	out := append([]string(nil), in...)
	slices.Sort(out)
	return out
}
