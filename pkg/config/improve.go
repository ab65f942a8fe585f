package config

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mifbench/mifbench/pkg/config/diagnostic"
)

// improve adds suggestions to the library's diagnostics where it has none.
func improve(diags hcl.Diagnostics) hcl.Diagnostics {
	for _, d := range diags {
		if d.Summary == "Unsupported attribute" && d.Expression != nil && d.Subject != nil {
			suggestAttribute(d)
		}
		if d.Summary == "Invalid index" && d.Expression != nil && d.Subject != nil {
			suggestIndex(d)
		}
		if extra, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallUnknownDiagExtra](d); ok && d.EvalContext != nil {
			suggestFunction(d, extra)
		}
	}
	return diags
}

// suggestAttribute finds the object whose attribute was not there and names what is.
func suggestAttribute(d *hcl.Diagnostic) {
	for _, t := range d.Expression.Variables() {
		for i := 1; i < len(t); i++ {
			attr, ok := t[i].(hcl.TraverseAttr)
			if !ok || attr.SrcRange != *d.Subject || d.EvalContext == nil {
				continue
			}
			v, diags := t[:i].TraverseAbs(d.EvalContext)
			if diags.HasErrors() || diagnostic.IsSensitive(v) {
				return
			}
			if hint := instanceHint(t[:i], attr.Name, v.Type()); hint != "" {
				d.Summary, d.Detail = "Missing instance key", hint
				return
			}
			if !v.Type().IsObjectType() {
				return
			}
			names := keys(v.Type().AttributeTypes())
			d.Detail = fmt.Sprintf("There is no attribute %q here.%s Attributes: %s.", attr.Name, diagnostic.DidYouMean(attr.Name, names), orNone(names))
			return
		}
	}
}

// suggestIndex names the keys of the object or map that lacks one.
func suggestIndex(d *hcl.Diagnostic) {
	for _, t := range d.Expression.Variables() {
		for i := 1; i < len(t); i++ {
			index, ok := t[i].(hcl.TraverseIndex)
			if !ok || index.SrcRange != *d.Subject || d.EvalContext == nil || index.Key.Type() != cty.String {
				continue
			}
			v, diags := t[:i].TraverseAbs(d.EvalContext)
			if diags.HasErrors() || diagnostic.IsSensitive(v) || !v.IsKnown() || v.IsNull() || !(v.Type().IsObjectType() || v.Type().IsMapType()) {
				return
			}
			names := keys(v.AsValueMap())
			d.Detail = fmt.Sprintf("There is no element with the key %q.%s Keys: %s.", index.Key.AsString(), diagnostic.DidYouMean(index.Key.AsString(), names), orNone(names))
			return
		}
	}
}

// instanceHint explains that a block with for_each or count has instances in between.
func instanceHint(t hcl.Traversal, attr string, ty cty.Type) string {
	isInstance := func(ty cty.Type) bool { return ty.IsObjectType() && ty.HasAttribute("id") }
	name, ok := step(t, 1)
	if !ok || len(t) != 2 {
		return ""
	}
	block := t.RootName() + "." + name
	switch {
	case ty.IsTupleType() && len(ty.TupleElementTypes()) > 0 && isInstance(ty.TupleElementType(0)):
		return fmt.Sprintf("%s has count, so it has %d instances: write %s[0].%s for one, %s[*].%s for all.", block, len(ty.TupleElementTypes()), block, attr, block, attr)
	case ty.IsObjectType() && !ty.HasAttribute("id"):
		names := sorted(keys(ty.AttributeTypes()))
		if len(names) == 0 || !isInstance(ty.AttributeType(names[0])) {
			return ""
		}
		return fmt.Sprintf("%s has for_each, so it has one instance for each key (%s): write %s[%q].%s for one, values(%s)[*].%s for all.",
			block, diagnostic.List(names), block, names[0], attr, block, attr)
	}
	return ""
}

func suggestFunction(d *hcl.Diagnostic, extra hclsyntax.FunctionCallUnknownDiagExtra) {
	var names []string
	for ctx := d.EvalContext; ctx != nil; ctx = ctx.Parent() {
		names = append(names, keys(ctx.Functions)...)
	}
	name := extra.CalledFunctionName()
	hint := diagnostic.DidYouMean(name, names)
	if hint == "" {
		hint = " The functions are listed by mifbench schema and in the reference."
	}
	d.Detail = fmt.Sprintf("There is no function named %q.%s", name, hint)
}
