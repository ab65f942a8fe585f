package config

import (
	"fmt"
	"strconv"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/dynblock"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mifbench/mifbench/pkg/config/block"
	"github.com/mifbench/mifbench/pkg/config/diagnostic"
	"github.com/mifbench/mifbench/pkg/resource"
)

func unquoteKey(k string) string {
	s, err := strconv.Unquote(k)
	if err != nil {
		return k
	}
	return s
}

// resourceNode evaluates a resource block.
type resourceNode struct {
	kind  *kindRow
	meta  *block.Schema
	block *hclsyntax.Block
}

func (r *resourceNode) run(e *evaluator, n *node) {
	mode, list, ok := e.instances(r.block, e.scope(n, false), n.bad)
	if !ok {
		n.bad = true
		return
	}
	var keys []string
	var values, finals []cty.Value
	for _, inst := range list {
		res, value, ok := r.instance(e, n, inst)
		keys = append(keys, inst.key)
		n.bad = n.bad || !ok
		values = append(values, value)
		finals = append(finals, withKnown(value, e.o.Known[res.Address]))
		if ok {
			res.Attrs = finals[len(finals)-1].AsValueMap()
			n.resources = append(n.resources, res)
		}
	}
	n.value = together(mode, keys, values)
	n.final = n.value
	if len(e.o.Known) > 0 {
		n.final = together(mode, keys, finals)
	}
}

// withKnown lays what apply told over an instance's value.
func withKnown(v cty.Value, known map[string]cty.Value) cty.Value {
	if len(known) == 0 || !v.IsKnown() || !v.Type().IsObjectType() {
		return v
	}
	attrs := v.AsValueMap()
	for name, k := range known {
		attrs[name] = k
	}
	return cty.ObjectVal(attrs)
}

func (r *resourceNode) instance(e *evaluator, n *node, inst instance) (Resource, cty.Value, bool) {
	addr := n.id.address()
	addr.Key = inst.key
	res := Resource{Address: addr, Options: r.kind.kind.New()}
	options, decoded, ok := r.decode(e, n, inst, res.Options)
	res.Scope = resource.Scope{Address: addr, Stack: e.stack, Dir: n.mod.dir, Block: r.block.DefRange(), At: decoded.At}
	if !ok || n.flawed {
		return res, cty.DynamicVal, false
	}
	expansion, diags := r.kind.kind.Expand(res.Scope, res.Options)
	for _, d := range diags {
		e.fail(maskSecrets(d, decoded.Secrets))
	}
	if diags.HasErrors() {
		return res, cty.DynamicVal, false
	}
	for i := range expansion.Objects {
		o := &expansion.Objects[i]
		o.Options = options
		o.Sensitive = withSecrets(o.Sensitive, o.Spec, decoded.Secrets)
		if i > 0 {
			o.DependsOn = append(o.DependsOn, expansion.Objects[i-1].ID)
		}
	}
	res.Objects = expansion.Objects
	return res, attributes(addr, decoded, expansion.Attrs), true
}

// decode fills the kind's options and the meta-arguments.
func (r *resourceNode) decode(e *evaluator, n *node, inst instance, target any) (resource.Options, *block.Decoded, bool) {
	unknown := unknownValue(header(r.block))
	src := block.Source{
		Header: header(r.block), Range: r.block.DefRange(), Ctx: inst.ctx,
		Body: dynblock.Expand(r.block.Body, inst.ctx),
		Unknown: func(a *hcl.Attribute, _ cty.Value) *hcl.Diagnostic {
			if n.bad {
				return nil
			}
			return unknown(a, inst.ctx)
		},
	}
	skipped := false
	inner := src.Unknown
	src.Unknown = func(a *hcl.Attribute, v cty.Value) *hcl.Diagnostic { skipped = true; return inner(a, v) }
	decoded, diags := r.kind.schema.Decode(src, target)
	var meta metaBlock
	_, metaDiags := r.meta.Decode(src, &meta)
	options, optionDiags := meta.options()
	diags = append(append(diags, metaDiags...), optionDiags...)
	e.fail(improve(dedupe(diags))...)
	return options, decoded, !diags.HasErrors() && !skipped
}

// attributes is an instance as other blocks see it: what the author wrote, what the kind
// adds, and the address as id.
func attributes(addr resource.Address, decoded *block.Decoded, extra map[string]cty.Value) cty.Value {
	out := make(map[string]cty.Value, len(decoded.Values)+len(extra)+1)
	out["id"] = cty.StringVal(addr.String())
	for name, v := range decoded.Values {
		out[name] = v
	}
	for name, v := range extra {
		if v.IsWhollyKnown() && len(decoded.Secrets) > 0 && holdsSecret(v, decoded.Secrets) {
			v = v.Mark(diagnostic.Sensitive)
		}
		out[name] = v
	}
	return cty.ObjectVal(out)
}

// dedupe drops repetitions: the same mistake seen through several instances or passes.
func dedupe(in hcl.Diagnostics) hcl.Diagnostics {
	type key struct{ summary, detail, subject string }
	seen := map[key]bool{}
	var out hcl.Diagnostics
	for _, d := range in {
		k := key{d.Summary, d.Detail, ""}
		if d.Subject != nil {
			k.subject = fmt.Sprint(*d.Subject)
		}
		if !seen[k] {
			seen[k] = true
			out = append(out, d)
		}
	}
	return out
}
