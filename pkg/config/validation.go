package config

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/mifbench/mifbench/pkg/config/diagnostic"
)

// validate holds the value against the validation blocks.
func (v *variable) validate(e *evaluator, n *node, rng hcl.Range) {
	self := ref{path: []string{classVariable, v.name}, node: n.id}
	for _, row := range v.validations {
		if row.Condition == nil || row.ErrorMessage == nil || n.bad {
			continue
		}
		ctx := e.context(n.mod, append([]ref{self}, n.refs...), n.holes, false)
		cond, ok := e.value(row.Condition, ctx)
		if !ok {
			n.bad = true
			continue
		}
		passed, err := convert.Convert(cond, cty.Bool)
		if raw, _ := passed.Unmark(); err != nil || raw.IsNull() {
			e.fail(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Invalid validation condition", Subject: row.Condition.Range().Ptr(),
				Detail: "The condition of a validation must be true or false.", Expression: row.Condition, EvalContext: ctx})
			continue
		} else if !raw.IsKnown() || raw.True() {
			continue
		}
		n.bad = true
		e.fail(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Invalid value for variable", Subject: &rng,
			Detail:     fmt.Sprintf("%s\n\nThis was checked by the validation rule at %s:%d.", v.message(e, row, ctx), row.Condition.Range().Filename, row.Condition.Range().Start.Line),
			Expression: row.Condition, EvalContext: ctx})
	}
}

func (v *variable) message(e *evaluator, row validationRow, ctx *hcl.EvalContext) string {
	msg, ok := e.value(row.ErrorMessage, ctx)
	if !ok {
		return "The value breaks a rule, but its error_message cannot be computed."
	}
	raw, marks := msg.UnmarkDeep()
	if _, secret := marks[diagnostic.Sensitive]; secret {
		return "The value breaks a rule; its error_message holds a sensitive value and is not shown."
	}
	if text, err := convert.Convert(raw, cty.String); err == nil && text.IsKnown() && !text.IsNull() {
		return strings.TrimSpace(text.AsString())
	}
	return "The value breaks a rule; its error_message is not a text."
}
