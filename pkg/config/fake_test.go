package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/config/diagnostic"
	"github.com/mifbench/mifbench/pkg/resource"
)

// service is a kind for tests: it makes a ConfigMap and a Service.
type service struct {
	Name     string            `hcl:"name" doc:"Name."`
	Replicas *int64            `hcl:"replicas,optional" doc:"Instances." default:"1"`
	Mode     string            `hcl:"mode,optional" doc:"Mode." enum:"fast,slow" default:"fast"`
	Labels   map[string]string `hcl:"labels,optional" doc:"Labels."`
	Spec     cty.Value         `hcl:"spec,optional" doc:"Anything."`
	Ports    []port            `hcl:"port,block" doc:"Ports."`
	Password string            `hcl:"password,optional" doc:"Secret." sensitive:"true"`
}

type port struct {
	Name   string `hcl:"name,label" doc:"Name of the port."`
	Number int64  `hcl:"number" doc:"Number."`
}

func fakeKinds() []resource.Kind {
	return []resource.Kind{{
		Name: "service", Doc: "A service for tests.",
		New:    func() any { return new(service) },
		Expand: expandService,
	}}
}

func expandService(s resource.Scope, options any) (resource.Expansion, hcl.Diagnostics) {
	o := options.(*service)
	var diags hcl.Diagnostics
	if strings.Contains(o.Name, "!") {
		diags = diags.Append(s.Error("name", "Bad name", "The name "+o.Name+" has a !."))
	}
	spec := map[string]any{"name": o.Name, "replicas": *o.Replicas, "mode": o.Mode, "password": o.Password}
	if o.Spec != cty.NilVal {
		x, err := resource.JSON(o.Spec)
		if err != nil {
			diags = diags.Append(s.Error("spec", "Bad spec", err.Error()))
		}
		spec["spec"] = x
	}
	ports := []any{}
	for _, p := range o.Ports {
		ports = append(ports, map[string]any{"name": p.Name, "number": p.Number})
	}
	spec["ports"] = ports
	object := func(kind string, spec map[string]any) resource.Object {
		return resource.Object{Address: s.Address, ID: resource.ID{Driver: "kube", APIVersion: "v1", Kind: kind, Name: o.Name}, Spec: spec, Range: s.Block}
	}
	return resource.Expansion{
		Objects: []resource.Object{object("ConfigMap", map[string]any{"text": "pw=" + o.Password}), object("Service", spec)},
		Attrs:   map[string]cty.Value{"host": cty.StringVal(o.Name + ".svc"), "url": cty.UnknownVal(cty.String)},
	}, diags
}

// dirOf writes files into a directory.
func dirOf(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// load loads one main.mif.hcl with the fake kinds.
func load(t testing.TB, text string, o config.Options) (*config.Config, hcl.Diagnostics) {
	t.Helper()
	return loadFiles(t, map[string]string{"main.mif.hcl": text}, o)
}

func loadFiles(t testing.TB, files map[string]string, o config.Options) (*config.Config, hcl.Diagnostics) {
	t.Helper()
	o.Kinds = fakeKinds()
	return config.Load(dirOf(t, files), o)
}

func mustLoad(t testing.TB, text string, o config.Options) *config.Config {
	t.Helper()
	return mustLoadFiles(t, map[string]string{"main.mif.hcl": text}, o)
}

func mustLoadFiles(t testing.TB, files map[string]string, o config.Options) *config.Config {
	t.Helper()
	c, diags := loadFiles(t, files, o)
	fatal(t, c, diags)
	return c
}

func fatal(t testing.TB, c *config.Config, diags hcl.Diagnostics) {
	t.Helper()
	if len(diags) == 0 {
		return
	}
	for _, d := range diags {
		t.Error(diagnostic.Text(c.Files, d, diagnostic.Style{}))
	}
	t.FailNow()
}

// output is an output's value in source form.
func output(t testing.TB, c *config.Config, name string) cty.Value {
	t.Helper()
	for _, o := range c.Outputs {
		if o.Name == name {
			return o.Value
		}
	}
	t.Fatalf("no output %s", name)
	return cty.NilVal
}

func summaries(diags hcl.Diagnostics) string {
	var out []string
	for _, d := range diags {
		out = append(out, d.Summary)
	}
	return strings.Join(out, "; ")
}
