package config

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/mifbench/mifbench/pkg/config/block"
	"github.com/mifbench/mifbench/pkg/config/diagnostic"
)

// Variable is an input of the root module, for provenance and printing.
type Variable struct {
	Name, Description string
	// Type in source form, e.g. "list(string)".
	Type      string
	Sensitive bool
	// Value is unmarked; do not print it when Sensitive.
	Value cty.Value
	// Source says where the value came from: "default", "-var", "environment variable
	// MIFBENCH_VAR_x" or a file's name with the line.
	Source string
	Range  hcl.Range
}

// variableBlock is a variable block.
type variableBlock struct {
	Name        string          `hcl:"name,label" doc:"Name of the variable, used as var.name."`
	Type        hcl.Expression  `hcl:"type,optional" doc:"Type of the value, e.g. string, list(number), object({ a = optional(string, \"x\") }); any when absent."`
	Default     cty.Value       `hcl:"default,optional" doc:"Value when none is given; without it the variable is required."`
	Description string          `hcl:"description,optional" doc:"What the variable is for."`
	Sensitive   bool            `hcl:"sensitive,optional" doc:"Whether the value is hidden everywhere." default:"false"`
	Nullable    bool            `hcl:"nullable,optional" doc:"Whether null is a legal value; if not, null means the default." default:"true"`
	Validations []validationRow `hcl:"validation,block" doc:"A rule that the value must obey."`
}

type validationRow struct {
	Condition    hcl.Expression `hcl:"condition" doc:"An expression that must be true."`
	ErrorMessage hcl.Expression `hcl:"error_message" doc:"What to tell the user when it is not."`
}

// variable is a declared variable.
type variable struct {
	name        string
	block       *hclsyntax.Block
	fields      variableBlock
	typ         cty.Type
	defaults    *typeexpr.Defaults
	hasType     bool
	def         cty.Value // NilVal when there is none
	valid       bool
	validations []validationRow
}

// collectVariable reads the declaration; nothing in it but validations refers to anything.
func collectVariable(c *collector, m *module, b *hclsyntax.Block) {
	name := b.Labels[0]
	if first, dup := m.variables[name]; dup {
		c.duplicate(b.DefRange(), header(b), first.block.DefRange())
		return
	}
	v := &variable{name: name, block: b, typ: cty.DynamicPseudoType, valid: true}
	m.variables[name] = v
	m.order = append(m.order, m.id(classVariable, name))
	if reserved(name) {
		c.diags = append(c.diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Reserved variable name", Subject: b.LabelRanges[0].Ptr(),
			Detail: fmt.Sprintf("%q is an argument of every module block and cannot be a variable's name.", name)})
	}
	s := c.language.root["variable"].schemas[0]
	ctx := &hcl.EvalContext{}
	_, diags := s.Decode(block.Source{Header: header(b), Range: b.DefRange(), Body: b.Body, Ctx: ctx}, &v.fields)
	c.diags = append(c.diags, constantOnly(diags, "variable")...)
	v.valid = !diags.HasErrors()
	v.validations = v.fields.Validations
	before := len(c.diags)
	v.readType(c)
	v.readDefault(c)
	v.hide(c.diags[before:])
}

func reserved(name string) bool {
	switch name {
	case "source", "version", "providers", "count", "for_each", "depends_on", "lifecycle", "locals":
		return true
	}
	return false
}

func (v *variable) readType(c *collector) {
	if v.fields.Type == nil {
		return
	}
	v.hasType = true
	ty, defaults, diags := typeexpr.TypeConstraintWithDefaults(unquoted(v.fields.Type))
	c.diags = append(c.diags, suggestType(diags)...)
	if diags.HasErrors() {
		v.valid = false
		return
	}
	v.typ, v.defaults = ty, defaults
}

// unquoted lets type = "string" pass, as old Terraform files have it.
func unquoted(e hcl.Expression) hcl.Expression {
	v, diags := e.Value(nil)
	if diags.HasErrors() || v.IsNull() || v.Type() != cty.String {
		return e
	}
	switch v.AsString() {
	case "string", "number", "bool", "any":
		word, diags := hclsyntax.ParseExpression([]byte(v.AsString()), e.Range().Filename, e.Range().Start)
		if !diags.HasErrors() {
			return word
		}
	}
	return e
}

func suggestType(diags hcl.Diagnostics) hcl.Diagnostics {
	for _, d := range diags {
		if d.Subject == nil {
			continue
		}
		d.Detail += " Types are string, number, bool, any, list(T), set(T), map(T), tuple([T, …]) and object({ name = T, … }); optional(T, default) inside an object."
	}
	return diags
}

func (v *variable) readDefault(c *collector) {
	a := v.block.Body.Attributes["default"]
	if a == nil || !v.valid {
		return
	}
	raw, diags := a.Expr.Value(nil)
	if diags.HasErrors() {
		return // the decoding has said it
	}
	val, err := v.convert(raw)
	if err != nil {
		c.diags = append(c.diags, block.Inappropriate("default", a.Expr, nil, raw, err))
		v.valid = false
		return
	}
	if val.IsNull() && !v.fields.Nullable {
		c.diags = append(c.diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Null default of a variable that is not nullable", Subject: a.Expr.Range().Ptr(),
			Detail: fmt.Sprintf("var.%s has nullable = false, so its default must not be null; remove the default to make the variable required.", v.name)})
		v.valid = false
		return
	}
	v.def = val
}

// convert applies the defaults of optional attributes and the type.
func (v *variable) convert(val cty.Value) (cty.Value, error) {
	if v.defaults != nil && !val.IsNull() {
		val = v.defaults.Apply(val)
	}
	return convert.Convert(val, v.typ)
}

// runVariable gives a variable its value.
func (v *variable) run(e *evaluator, n *node) {
	before := len(e.diags)
	val, source, rng, ok := v.given(e, n)
	v.hide(e.diags[before:])
	if !ok {
		n.bad = true
		return
	}
	if v.fields.Sensitive {
		val = val.Mark(diagnostic.Sensitive)
	}
	n.value, n.final = val, val
	before = len(e.diags)
	v.validate(e, n, rng)
	if rng != v.block.DefRange() {
		v.hide(e.diags[before:])
	}
	if n.mod.parent == nil {
		raw, _ := val.UnmarkDeep()
		e.config.Variables = append(e.config.Variables, Variable{
			Name: v.name, Description: v.fields.Description, Type: typeexpr.TypeString(v.typ), Sensitive: v.fields.Sensitive,
			Value: raw, Source: source, Range: v.block.DefRange(),
		})
	}
}

// hide keeps the source lines that hold a sensitive variable's value out of sight. The
// declaration's own header is harmless.
func (v *variable) hide(diags hcl.Diagnostics) {
	for _, d := range diags {
		if v.fields.Sensitive && d.Subject != nil && *d.Subject != v.block.DefRange() {
			d.Extra = diagnostic.HideSource
		}
	}
}

// given finds the value: from the module block, from outside, or the default.
func (v *variable) given(e *evaluator, n *node) (val cty.Value, source string, rng hcl.Range, ok bool) {
	rng = v.block.DefRange()
	if !v.valid {
		return cty.NilVal, "", rng, false
	}
	found := false
	if n.mod.parent != nil {
		val, rng, found, ok = v.argument(e, n)
		source = "module block"
	} else {
		var in varValue
		if in, found = e.values[v.name]; found {
			val, ok = in.value(e, v)
			source, rng = in.source, in.subject(rng)
		}
	}
	if found && !ok {
		return cty.NilVal, "", rng, false
	}
	if found && val.IsNull() && !v.fields.Nullable {
		if found = v.def == cty.NilVal; found {
			e.fail(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Null for a variable that is not nullable", Subject: &rng,
				Detail: fmt.Sprintf("var.%s has nullable = false and no default, so it needs a value that is not null.", v.name)})
			return cty.NilVal, "", rng, false
		}
	}
	if found {
		return val, source, rng, true
	}
	if v.def == cty.NilVal {
		e.fail(v.missing(n))
		return cty.NilVal, "", rng, false
	}
	return v.def, "default", rng, true
}

// argument is the value that the module block gives.
func (v *variable) argument(e *evaluator, n *node) (val cty.Value, rng hcl.Range, found, ok bool) {
	a := n.mod.call.Body.Attributes[v.name]
	if a == nil {
		return cty.NilVal, v.block.DefRange(), false, true
	}
	ctx := e.context(n.mod.parent, n.outer, n.outerHoles, false).NewChild()
	ctx.Variables = n.mod.own
	raw, ok := e.value(a.Expr, ctx)
	if !ok {
		return cty.NilVal, a.Expr.Range(), true, false
	}
	val, err := v.convert(raw)
	if err != nil {
		e.fail(block.Inappropriate(v.name, a.Expr, ctx, raw, err))
		return cty.NilVal, a.Expr.Range(), true, false
	}
	return val, a.Expr.Range(), true, true
}

func (v *variable) missing(n *node) *hcl.Diagnostic {
	d := &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "No value for required variable"}
	doc := ""
	if v.fields.Description != "" {
		doc = " (" + strings.TrimSuffix(v.fields.Description, ".") + ")"
	}
	if n.mod.parent != nil {
		d.Subject = n.mod.call.DefRange().Ptr()
		d.Extra = block.Absent{Header: header(n.mod.call), Name: v.name}
		d.Detail = fmt.Sprintf("The module needs the argument %q%s, declared at %s:%d without a default.", v.name, doc, v.block.DefRange().Filename, v.block.DefRange().Start.Line)
		return d
	}
	d.Subject = v.block.DefRange().Ptr()
	d.Detail = fmt.Sprintf("var.%s%s has no default and no value was given. Use -var '%s=…', a line %s = … in a *.auto.mifvars file, -var-file, or the environment variable MIFBENCH_VAR_%s.", v.name, doc, v.name, v.name, v.name)
	return d
}
