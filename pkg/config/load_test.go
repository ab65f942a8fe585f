package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/resource"
)

func addresses(c *config.Config) []string {
	var out []string
	for _, r := range c.Resources {
		out = append(out, r.Address.String())
	}
	return out
}

func TestInstances(t *testing.T) {
	c := mustLoad(t, `
locals { roles = { decode = 3, prefill = 2 } }
service "role" {
  for_each = local.roles
  name     = "r-${each.key}"
  replicas = each.value
}
service "n" {
  count = 2
  name  = "n-${count.index}"
}
service "single" {
  name   = service.role["decode"].host
  labels = { all = join(",", service.n[*].name), second = service.n[1].host }
}
output "labels" { value = service.single.labels }
output "hosts"  { value = [for k, s in service.role : "${k}=${s.host}/${s.replicas}"] }
output "mode"   { value = service.single.mode }
output "none"   { value = service.single.spec }
`, config.Options{})
	want := []string{`service.role["decode"]`, `service.role["prefill"]`, `service.n[0]`, `service.n[1]`, `service.single`}
	if diff := cmp.Diff(want, addresses(c)); diff != "" {
		t.Error(diff)
	}
	if got := output(t, c, "labels").AsValueMap(); got["all"].AsString() != "n-0,n-1" || got["second"].AsString() != "n-1.svc" {
		t.Errorf("labels %#v", got)
	}
	if got := output(t, c, "hosts"); got.Index(cty.NumberIntVal(0)).AsString() != "decode=r-decode.svc/3" {
		t.Errorf("hosts %#v", got)
	}
	if got := output(t, c, "mode"); got.AsString() != "fast" {
		t.Errorf("a default is not visible to others: %#v", got)
	}
	if got := output(t, c, "none"); !got.IsNull() {
		t.Errorf("an absent attribute is not null: %#v", got)
	}
}

func TestObjectsDependOnReferencedBlocksAndTheirOwnPredecessor(t *testing.T) {
	c := mustLoad(t, `
service "c" {
  name       = "c"
  depends_on = [service.a]
}
service "b" { name = "b-${local.a}" }
locals { a = service.a.host }
service "a" { name = "a" }
`, config.Options{})
	if diff := cmp.Diff([]string{"service.a", "service.c", "service.b"}, addresses(c)); diff != "" {
		t.Error(diff)
	}
	got := map[string]string{}
	for _, o := range c.Objects() {
		var deps []string
		for _, d := range o.DependsOn {
			deps = append(deps, d.String())
		}
		got[o.ID.String()] = strings.Join(deps, ", ")
	}
	want := map[string]string{
		"ConfigMap a": "", "Service a": "ConfigMap a",
		"ConfigMap c": "ConfigMap a, Service a", "Service c": "ConfigMap a, Service a, ConfigMap c",
		"ConfigMap b-a.svc": "ConfigMap a, Service a", "Service b-a.svc": "ConfigMap a, Service a, ConfigMap b-a.svc",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]resource.Address{{Kind: "service", Name: "a"}}, c.Resources[2].DependsOn); diff != "" {
		t.Error(diff)
	}
}

func TestMetaArguments(t *testing.T) {
	c := mustLoad(t, `
service "a" {
  name            = "a"
  force_conflicts = true
  adopt           = true
  lifecycle {
    prevent_destroy = true
    keep_on_destroy = true
    ignore_changes  = [spec.replicas, "metadata.labels", "/metadata/annotations/a~1b", spec.list[0]["x/y"]]
  }
  timeouts {
    create = "10m"
    delete = "1m30s"
  }
  wait {
    conditions = { Ready = "True" }
    fields     = { "status.phase" = "Running" }
  }
}
`, config.Options{})
	want := resource.Options{
		PreventDestroy: true, KeepOnDestroy: true, ForceConflicts: true, Adopt: true,
		IgnoreChanges: []string{"/spec/replicas", "/metadata/labels", "/metadata/annotations/a~1b", "/spec/list/0/x~1y"},
		CreateTimeout: 10 * time.Minute, DeleteTimeout: 90 * time.Second,
		Wait: &resource.Wait{Conditions: map[string]string{"Ready": "True"}, Fields: map[string]string{"status.phase": "Running"}},
	}
	for _, o := range c.Objects() {
		if diff := cmp.Diff(want, o.Options); diff != "" {
			t.Error(diff)
		}
	}
}

func TestDynamicBlocks(t *testing.T) {
	c := mustLoad(t, `
locals { ports = { http = 80, grpc = 90 } }
service "a" {
  name = "a"
  port "static" { number = 1 }
  dynamic "port" {
    for_each = local.ports
    iterator = p
    labels   = [p.key]
    content { number = p.value + 1 }
  }
}
`, config.Options{})
	want := []any{
		map[string]any{"name": "static", "number": int64(1)},
		map[string]any{"name": "grpc", "number": int64(91)},
		map[string]any{"name": "http", "number": int64(81)},
	}
	if diff := cmp.Diff(want, c.Objects()[1].Spec["ports"]); diff != "" {
		t.Error(diff)
	}
}

func TestValuesSurvive(t *testing.T) {
	c := mustLoad(t, `
service "a" {
  name = "a"
  spec = {
    limits = null
    big    = 9007199254740993
    port   = "8080"
    num    = 8080
    memory = "1.5Gi"
    yaml   = yamldecode("a: null\nb: 9007199254740993\nc: \"08\"\nd: [1, 2.5, yes]")
    json   = jsondecode("{\"n\": 9007199254740993}")
    back   = yamlencode({ limits = null, n = 9007199254740993 })
  }
}
`, config.Options{})
	want := map[string]any{
		"limits": nil, "big": int64(9007199254740993), "port": "8080", "num": int64(8080), "memory": "1.5Gi",
		"yaml": map[string]any{"a": nil, "b": int64(9007199254740993), "c": "08", "d": []any{int64(1), 2.5, true}},
		"json": map[string]any{"n": int64(9007199254740993)},
		"back": "limits: null\n\"n\": 9007199254740993\n",
	}
	if diff := cmp.Diff(want, c.Objects()[1].Spec["spec"]); diff != "" {
		t.Error(diff)
	}
}

func TestKnownAfterApply(t *testing.T) {
	text := `
service "a" { name = "a" }
locals { url = "${service.a.url}/v1" }
output "url" { value = local.url }
scenario "s" {
  target = service.a
  model  = "m"
  load {
    requests        = 1
    max_concurrency = 1
  }
}
`
	c := mustLoad(t, text, config.Options{})
	if v := output(t, c, "url"); v.IsWhollyKnown() {
		t.Errorf("known before apply: %#v", v)
	}
	if s := c.Scenarios[0]; s.Target.String() != "service.a" || s.TargetAttrs["url"].IsKnown() {
		t.Errorf("target %v %#v", s.Target, s.TargetAttrs)
	}
	known := map[resource.Address]map[string]cty.Value{{Kind: "service", Name: "a"}: {"url": cty.StringVal("http://x")}}
	c = mustLoad(t, text, config.Options{Known: known})
	if v := output(t, c, "url"); v.AsString() != "http://x/v1" {
		t.Errorf("after apply: %#v", v)
	}
	if s := c.Scenarios[0]; s.TargetAttrs["url"].AsString() != "http://x" {
		t.Errorf("target after apply %#v", s.TargetAttrs)
	}
	_, diags := load(t, text+`service "b" { name = local.url }`, config.Options{Known: known})
	if got := summaries(diags); got != "Value known only after apply" {
		t.Errorf("a resource may use a value learned from apply: %s", got)
	}
}

func TestModulesAndThreeStylesGiveTheSameObjects(t *testing.T) {
	flat := mustLoad(t, `
service "gateway" { name = "gw" }
service "r1" {
  name = "r1-${service.gateway.host}"
  spec = { model = "DeepSeek-R1" }
}
service "llama" {
  name     = "llama-${service.gateway.host}"
  replicas = 2
  spec     = { model = "Llama" }
}
`, config.Options{})
	split := mustLoadFiles(t, map[string]string{
		"a.mif.hcl": `
service "model" {
  for_each = local.models
  name     = "${each.key}-${service.gateway.host}"
  replicas = lookup(each.value, "replicas", 1)
  spec     = { model = each.value.model }
}`,
		"b.mif.hcl": `
locals {
  models = { r1 = { model = "DeepSeek-R1" }, llama = { model = "Llama", replicas = 2 } }
}
service "gateway" { name = "gw" }`,
	}, config.Options{})
	modules := mustLoadFiles(t, map[string]string{
		"main.mif.hcl": `
service "gateway" { name = "gw" }
module "r1" {
  source  = "./model"
  gateway = service.gateway.host
  name    = "r1"
  model   = "DeepSeek-R1"
}
module "llama" {
  source   = "./model"
  gateway  = service.gateway.host
  name     = "llama"
  model    = "Llama"
  replicas = 2
}
output "names" { value = [module.r1.name, module.llama.name] }`,
		"model/main.mif.hcl": `
variable "gateway" { type = string }
variable "name" { type = string }
variable "model" { type = string }
variable "replicas" {
  type    = number
  default = 1
}
service "this" {
  name     = "${var.name}-${var.gateway}"
  replicas = var.replicas
  spec     = { model = var.model }
}
output "name" { value = service.this.name }`,
	}, config.Options{})
	want := specs(flat)
	if diff := cmp.Diff(want, specs(split)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, specs(modules)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"service.gateway", "module.r1.service.this", "module.llama.service.this"}, addresses(modules)); diff != "" {
		// the order of module blocks by name is as good
		if diff := cmp.Diff([]string{"service.gateway", "module.llama.service.this", "module.r1.service.this"}, addresses(modules)); diff != "" {
			t.Error(diff)
		}
	}
	if len(modules.Resources[1].DependsOn) != 1 {
		t.Errorf("a module's resource does not depend on what its inputs come from: %v", modules.Resources[1].DependsOn)
	}
}

func specs(c *config.Config) map[string]map[string]any {
	out := map[string]map[string]any{}
	for _, o := range c.Objects() {
		out[o.ID.String()] = o.Spec
	}
	return out
}

func TestScopeFindsRanges(t *testing.T) {
	c := mustLoad(t, `service "a" {
  name = "a"
  spec = {
    deep = [{ x = 1 }, { x = 2 }]
  }
  port "http" {
    number = 80
  }
}
`, config.Options{})
	at := c.Resources[0].Scope.At
	for path, want := range map[string]string{
		"":                 "1,1-12",
		"name":             "2,10-13",
		"spec.deep.1.x":    "4,30-31",
		"spec.deep.1.nope": "4,24-33",
		"port.http":        "6,3-14",
		"port.http.number": "7,14-16",
		"port.0.number":    "7,14-16",
		"port.grpc":        "1,1-12",
		"nowhere":          "1,1-12",
	} {
		got := at(path).String()
		if !strings.HasSuffix(got, ":"+want) {
			t.Errorf("%q is at %s, want %s", path, got, want)
		}
	}
}

func TestEvalGraphAndHash(t *testing.T) {
	text := `
variable "secret" {
  type      = string
  default   = "s3cret"
  sensitive = true
}
service "a" { name = "a" }
`
	c := mustLoad(t, text, config.Options{})
	v, diags := config.Eval(c, `upper(service.a.host)`)
	if diags.HasErrors() || v.AsString() != "A.SVC" {
		t.Errorf("%#v %v", v, diags)
	}
	if _, diags := config.Eval(c, `service.b`); summaries(diags) != "Reference to something undeclared" {
		t.Errorf("%v", diags)
	}
	g := config.Graph(c)
	if len(g.Nodes) != 2 || len(g.Edges) != 0 {
		t.Errorf("%+v", g)
	}
	other := []config.VarArg{{Assignment: "secret=other"}}
	if same := mustLoad(t, text, config.Options{Vars: other}); same.Hash != c.Hash || len(c.Hash) != 64 {
		t.Error("the hash depends on a secret or on where the directory lies")
	}
	if c.Hash == mustLoad(t, text+"\n", config.Options{}).Hash {
		t.Error("the hash does not tell configurations apart")
	}
}
