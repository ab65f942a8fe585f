package config

import (
	"fmt"
	"sort"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/mifbench/mifbench/pkg/config/diagnostic"
	"github.com/mifbench/mifbench/pkg/resource"
)

// repeatMode is how many instances a block has.
type repeatMode int

const (
	single repeatMode = iota
	byCount
	byKey
)

// instance is one of a block's instances.
type instance struct {
	key string // as in resource.Address
	ctx *hcl.EvalContext
}

// instances expands for_each or count in a context.
func (e *evaluator) instances(b *hclsyntax.Block, ctx *hcl.EvalContext, poisoned bool) (repeatMode, []instance, bool) {
	forEach, count := b.Body.Attributes["for_each"], b.Body.Attributes["count"]
	switch {
	case forEach != nil && count != nil:
		e.fail(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Both for_each and count", Subject: count.NameRange.Ptr(), Context: b.DefRange().Ptr(),
			Detail: "A block takes for_each or count, not both; for_each alone is enough: its keys stay when elements are added."})
		return single, nil, false
	case forEach != nil:
		out, ok := e.forEach(forEach, ctx, poisoned)
		return byKey, out, ok
	case count != nil:
		out, ok := e.count(count, ctx, poisoned)
		return byCount, out, ok
	}
	return single, []instance{{ctx: ctx}}, true
}

func (e *evaluator) count(a *hclsyntax.Attribute, ctx *hcl.EvalContext, poisoned bool) ([]instance, bool) {
	v, ok := e.value(a.Expr, ctx)
	if !ok {
		return nil, false
	}
	bad := func(detail string) ([]instance, bool) {
		e.fail(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Invalid count", Subject: a.Expr.Range().Ptr(), Detail: detail, Expression: a.Expr, EvalContext: ctx})
		return nil, false
	}
	v, _ = v.Unmark()
	if !v.IsKnown() {
		if poisoned {
			return nil, false
		}
		return bad("The count must be known when the plan is made; it depends on a value that only apply will tell.")
	}
	n, err := convert.Convert(v, cty.Number)
	if err != nil || n.IsNull() {
		return bad("The count must be a whole number from 0 on.")
	}
	i, acc := n.AsBigFloat().Int64()
	if acc != 0 || i < 0 {
		return bad(fmt.Sprintf("The count must be a whole number from 0 on, not %s.", n.AsBigFloat().Text('f', -1)))
	}
	if i > int64(e.o.Limits.Instances) {
		return bad(fmt.Sprintf("A count of %d is more than the limit of %d instances of a block.", i, e.o.Limits.Instances))
	}
	out := make([]instance, i)
	for j := range out {
		out[j] = instance{resource.IndexKey(j), with(ctx, "count", map[string]cty.Value{"index": cty.NumberIntVal(int64(j))})}
	}
	return out, true
}

func with(ctx *hcl.EvalContext, name string, attrs map[string]cty.Value) *hcl.EvalContext {
	child := ctx.NewChild()
	child.Variables = map[string]cty.Value{name: cty.ObjectVal(attrs)}
	return child
}

func (e *evaluator) forEach(a *hclsyntax.Attribute, ctx *hcl.EvalContext, poisoned bool) ([]instance, bool) {
	v, ok := e.value(a.Expr, ctx)
	if !ok {
		return nil, false
	}
	if diagnostic.IsSensitive(v) {
		if raw, marks := v.Unmark(); len(marks) > 0 || raw.Type().IsSetType() && raw.ContainsMarked() {
			e.badForEach(a, ctx, "The keys of instances are shown in addresses, so for_each must not be sensitive. Take the keys from a value that is not, or use nonsensitive(keys(…)).")
			return nil, false
		}
	}
	if raw, _ := v.Unmark(); !raw.IsKnown() || raw.Type().IsSetType() && !raw.IsWhollyKnown() {
		if !poisoned {
			e.badForEach(a, ctx, "The keys of for_each must be known when the plan is made; they depend on a value that only apply will tell.")
		}
		return nil, false
	}
	if why := unfitForEach(v); why != "" {
		e.badForEach(a, ctx, why)
		return nil, false
	}
	if v.LengthInt() > e.o.Limits.Instances {
		e.badForEach(a, ctx, fmt.Sprintf("%d elements are more than the limit of %d instances of a block.", v.LengthInt(), e.o.Limits.Instances))
		return nil, false
	}
	var out []instance
	isSet := v.Type().IsSetType()
	for it := v.ElementIterator(); it.Next(); {
		k, x := it.Element()
		if isSet {
			k = x
		}
		out = append(out, instance{resource.StringKey(k.AsString()), with(ctx, "each", map[string]cty.Value{"key": k, "value": x})})
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].key < out[j].key })
	return out, true
}

// unfitForEach says why a known value cannot be repeated over.
func unfitForEach(v cty.Value) string {
	ty := v.Type()
	switch {
	case v.IsNull():
		return "The for_each value is null. For no instances give an empty map: {}."
	case ty.IsMapType() || ty.IsObjectType():
		return ""
	case ty.IsSetType():
		if ty.ElementType() != cty.String && v.LengthInt() > 0 {
			return fmt.Sprintf("A set for for_each must hold texts, not values of type %s: each element is the key of an instance.", ty.ElementType().FriendlyName())
		}
		for it := v.ElementIterator(); it.Next(); {
			if _, x := it.Element(); x.IsNull() {
				return "A set for for_each must not hold null."
			}
		}
		return ""
	case ty.IsListType() || ty.IsTupleType():
		return "A list has no keys, so instances could not keep their addresses. Use toset([…]) for a list of texts, or a map: { for x in list : x.name => x }."
	}
	return fmt.Sprintf("for_each takes a map, an object or a set of texts, not %s.", ty.FriendlyName())
}

func (e *evaluator) badForEach(a *hclsyntax.Attribute, ctx *hcl.EvalContext, detail string) {
	e.fail(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Invalid for_each", Subject: a.Expr.Range().Ptr(), Detail: detail, Expression: a.Expr, EvalContext: ctx})
}

// together is the value of a block from those of its instances.
func together(mode repeatMode, keys []string, values []cty.Value) cty.Value {
	switch mode {
	case byCount:
		return cty.TupleVal(values)
	case single:
	case byKey:
		m := make(map[string]cty.Value, len(values))
		for i, k := range keys {
			m[unquoteKey(k)] = values[i]
		}
		return cty.ObjectVal(m)
	}
	return values[0]
}
