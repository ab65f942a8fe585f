package config

import (
	"path/filepath"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mifbench/mifbench/pkg/config/block"
	"github.com/mifbench/mifbench/pkg/resource"
)

// Dataset is one instance of a dataset block: where prompts come from.
type Dataset struct {
	Address resource.Address
	// Name is the label, with the instance key when there is one.
	Name string `hcl:"name,label" doc:"Name of the dataset."`
	// Kind is "" when it is to be told from the path.
	Kind string `hcl:"type,optional" doc:"What the source is; told from the path when absent." enum:"auto,text,sharegpt,conversations,gutenberg,random,sonnet,custom,prefix_repetition,shared_prefix,burstgpt,trace,parquet" default:"auto"`
	// Path is absolute or relative to the working directory; "" for generated datasets.
	Path     string    `hcl:"path,optional" doc:"File or directory of the source, relative to this file's directory."`
	Column   string    `hcl:"column,optional" doc:"Column of a Parquet source that holds the text."`
	Language string    `hcl:"language,optional" doc:"Only texts of this language, where the source says it."`
	Seed     *int64    `hcl:"seed,optional" doc:"Seed of the choice of prompts; the scenario's when absent."`
	Salt     bool      `hcl:"salt,optional" doc:"Begin every prompt with a text of its own, so that no prefix is shared." default:"false"`
	Options  cty.Value `hcl:"options,optional" doc:"Options of the dataset's type, as an object."`
	// Range is the block's header, At finds ranges by dotted path.
	Range hcl.Range
	At    func(path string) hcl.Range
}

// datasetNode evaluates a dataset block.
type datasetNode struct {
	schema *block.Schema
	block  *hclsyntax.Block
}

func (r *datasetNode) run(e *evaluator, n *node) {
	mode, list, ok := e.instances(r.block, e.scope(n, true), n.bad)
	if !ok {
		n.bad = true
		return
	}
	var keys []string
	var values []cty.Value
	for _, inst := range list {
		d, v, ok := r.instance(e, n, inst)
		keys, values = append(keys, inst.key), append(values, v)
		n.bad = n.bad || !ok
		if ok {
			e.config.Datasets = append(e.config.Datasets, d)
		}
	}
	n.value = together(mode, keys, values)
	n.final = n.value
}

func (r *datasetNode) instance(e *evaluator, n *node, inst instance) (Dataset, cty.Value, bool) {
	addr := n.id.address()
	addr.Key = inst.key
	d := Dataset{Address: addr, Range: r.block.DefRange()}
	decoded, ok := e.decode(r.schema, r.block, n, inst.ctx, &d, nil)
	d.Name, d.At = instanceName(addr), decoded.At
	if d.Path != "" && !filepath.IsAbs(d.Path) {
		d.Path = filepath.Join(n.mod.dir, d.Path)
	}
	if d.Kind == "auto" {
		d.Kind = ""
	}
	if ok && d.Path == "" && needsPath(d.Kind) {
		e.fail(block.Missing(r.block.DefRange(), header(r.block), "path", "file or directory of the source"))
		ok = false
	}
	if !ok {
		return d, cty.DynamicVal, false
	}
	// All datasets have the same type, so that a conditional may choose between them.
	return d, cty.ObjectVal(map[string]cty.Value{
		"id": cty.StringVal(addr.String()), "name": cty.StringVal(d.Name), "path": cty.StringVal(d.Path),
	}), true
}

// needsPath is false for datasets that are generated.
func needsPath(kind string) bool {
	switch kind {
	case "random", "prefix_repetition", "shared_prefix":
		return false
	}
	return true
}

// instanceName is a name for people and files: label, label["key"], in a module module.label.
func instanceName(a resource.Address) string {
	if a.Module != "" {
		return a.Module + "." + resource.Keyed(a.Name, a.Key)
	}
	return resource.Keyed(a.Name, a.Key)
}

// decode is for blocks that are not resources. Attributes listed in pending may be unknown.
func (e *evaluator) decode(s *block.Schema, b *hclsyntax.Block, n *node, ctx *hcl.EvalContext, target any, pending map[string]bool) (*block.Decoded, bool) {
	unknown := unknownValue(header(b))
	skipped := false
	decoded, diags := s.Decode(block.Source{
		Header: header(b), Range: b.DefRange(), Ctx: ctx, Body: expandDynamic(b, ctx),
		Unknown: func(a *hcl.Attribute, _ cty.Value) *hcl.Diagnostic {
			if pending[a.Name] {
				return nil
			}
			if skipped = true; n.bad {
				return nil
			}
			return unknown(a, ctx)
		},
	}, target)
	e.fail(improve(diags)...)
	return decoded, !diags.HasErrors() && !skipped
}
