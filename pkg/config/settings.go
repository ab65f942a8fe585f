package config

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/mifbench/mifbench/pkg/config/block"
	"github.com/mifbench/mifbench/pkg/resource"
)

// settings reads the mifbench block and fills in what it leaves open.
func (e *evaluator) settings(root *module) {
	c := e.config
	c.Stack = stackName(root.dir)
	c.Backend = Backend{Type: "local", Path: "mifbench.state.json"}
	if b := root.settings; b != nil {
		e.settingsBlock(b)
	}
	if c.Backend.Name == "" {
		c.Backend.Name = c.Stack
	}
	if c.Backend.Type == "local" && !filepath.IsAbs(c.Backend.Path) {
		c.Backend.Path = filepath.Join(root.dir, c.Backend.Path)
	}
	e.stack = c.Stack
}

func (e *evaluator) settingsBlock(b *hclsyntax.Block) {
	var s settingsBlock
	schema := e.graph.language.root["mifbench"].schemas[0]
	decoded, diags := schema.Decode(block.Source{Header: "mifbench", Range: b.DefRange(), Body: b.Body, Ctx: &hcl.EvalContext{}}, &s)
	e.fail(constantOnly(diags, "mifbench")...)
	c := e.config
	c.DisabledChecks = s.DisabledChecks
	if s.Backend != nil {
		c.Backend = *s.Backend
		c.Backend.Range = decoded.At("backend")
	}
	if s.Stack != "" {
		c.Stack = s.Stack
		if !regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`).MatchString(s.Stack) {
			e.fail(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Invalid stack name", Subject: decoded.At("stack").Ptr(),
				Detail: fmt.Sprintf("%q becomes a label value in the cluster: use at most 63 lower-case letters, digits and dashes, beginning and ending with a letter or digit.", s.Stack)})
		}
	}
	e.requiredVersion(s.RequiredVersion, decoded.At("required_version"))
}

// stackName is the directory's name in the form of a label.
func stackName(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		abs = dir
	}
	name := regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(filepath.Base(abs)), "-")
	if name = strings.Trim(name, "-"); name == "" {
		return "stack"
	}
	return strings.TrimRight(name[:min(len(name), 63)], "-")
}

func (e *evaluator) requiredVersion(constraint string, at hcl.Range) {
	if constraint == "" {
		return
	}
	rules, err := semver.NewConstraint(constraint)
	if err != nil {
		e.fail(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Invalid version constraint", Subject: &at,
			Detail: fmt.Sprintf("%q is not a list of version rules such as \">= 0.1.0, < 2.0\".", constraint)})
		return
	}
	if e.o.Version == "" {
		return
	}
	v, err := semver.NewVersion(e.o.Version)
	if err != nil {
		return // a development build has no number to hold against the rule
	}
	core, err := v.SetPrerelease("") // a pre-release of 0.2.0 counts as 0.2.0
	if err != nil || !rules.Check(&core) {
		e.fail(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Unsupported mifbench version", Subject: &at,
			Detail: fmt.Sprintf("This is mifbench %s; the configuration wants %s. Use another version of mifbench, or change required_version.", e.o.Version, constraint)})
	}
}

// clusterNode evaluates the cluster block.
type clusterNode struct {
	schema *block.Schema
	block  *hclsyntax.Block
}

func (r *clusterNode) run(e *evaluator, n *node) {
	_, ok := e.decode(r.schema, r.block, n, e.scope(n, false), &e.config.Cluster, nil)
	n.bad = n.bad || !ok
	c := &e.config.Cluster
	c.Range = r.block.DefRange()
	if c.Kubeconfig != "" && !filepath.IsAbs(c.Kubeconfig) && !strings.HasPrefix(c.Kubeconfig, "~") {
		c.Kubeconfig = filepath.Join(n.mod.dir, c.Kubeconfig)
	}
}

// moved reads the moved blocks.
func (e *evaluator) moved(root *module) {
	for _, b := range root.moved {
		m := Moved{Range: b.DefRange()}
		ok := e.movedAddress(b, "from", &m.From)
		if e.movedAddress(b, "to", &m.To) && ok {
			e.config.Moved = append(e.config.Moved, m)
		}
	}
}

func (e *evaluator) movedAddress(b *hclsyntax.Block, name string, into *resource.Address) bool {
	a := b.Body.Attributes[name]
	if a == nil {
		e.fail(block.Missing(b.DefRange(), "moved", name, "an address such as gateway.mif"))
		return false
	}
	src := strings.TrimSpace(string(a.Expr.Range().SliceBytes(e.reader.files[a.SrcRange.Filename].Bytes)))
	addr, err := resource.ParseAddress(src)
	if err != nil {
		e.fail(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Invalid address", Subject: a.Expr.Range().Ptr(),
			Detail: sentence(err)})
		return false
	}
	*into = addr
	return true
}
