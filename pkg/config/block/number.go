package block

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// Infinite tells whether a value holds the result of a division by zero.
func Infinite(v cty.Value) bool {
	v, _ = v.Unmark()
	if v.IsNull() || !v.IsKnown() {
		return false
	}
	if v.Type() == cty.Number {
		return v.AsBigFloat().IsInf()
	}
	if v.Type().IsPrimitiveType() || !v.CanIterateElements() {
		return false
	}
	for it := v.ElementIterator(); it.Next(); {
		if _, e := it.Element(); Infinite(e) {
			return true
		}
	}
	return false
}

// DivisionByZero is the diagnostic for an expression whose value is infinite.
func DivisionByZero(expr hcl.Expression, ctx *hcl.EvalContext) *hcl.Diagnostic {
	return &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: "Division by zero", Subject: expr.Range().Ptr(),
		Detail:     "The value is infinite, which comes from a division by zero; check the divisor.",
		Expression: expr, EvalContext: ctx,
	}
}
