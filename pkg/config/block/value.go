package block

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/gocty"

	"github.com/mifbench/mifbench/pkg/config/diagnostic"
)

// attribute evaluates, converts and checks one attribute; ok is false when there is nothing
// to assign. The value keeps its marks.
func (d *decoder) attribute(a *Attribute, attr *hcl.Attribute, header string, rng hcl.Range) (cty.Value, bool) {
	if attr == nil {
		return d.absent(a, header, rng)
	}
	v, diags := attr.Expr.Value(d.src.Ctx)
	d.diags = append(d.diags, diags...)
	if diags.HasErrors() {
		return cty.NilVal, false
	}
	if !v.IsWhollyKnown() && d.src.Unknown != nil {
		if diag := d.src.Unknown(attr, v); diag != nil {
			d.diags = append(d.diags, diag)
		}
		return cty.NilVal, false
	}
	if v.IsNull() {
		return d.null(a, attr, header)
	}
	if Infinite(v) {
		d.diags = append(d.diags, DivisionByZero(attr.Expr, d.src.Ctx))
		return cty.NilVal, false
	}
	out, err := convert.Convert(v, a.Type)
	if err != nil {
		d.diags = append(d.diags, Inappropriate(a.Name, attr.Expr, d.src.Ctx, v, err))
		return cty.NilVal, false
	}
	if a.Sensitive {
		out = out.Mark(diagnostic.Sensitive)
	}
	d.out.Secrets = append(d.out.Secrets, Secrets(out)...)
	return out, d.checkEnums(a, attr, out)
}

func (d *decoder) absent(a *Attribute, header string, rng hcl.Range) (cty.Value, bool) {
	if a.Required {
		d.diags = append(d.diags, Missing(rng, header, a.Name, a.Doc))
		return cty.NilVal, false
	}
	if a.Default == nil {
		return cty.NullVal(a.Type), true
	}
	v, err := convert.Convert(cty.StringVal(*a.Default), a.Type)
	if err != nil {
		panic(fmt.Sprintf("block: default %q of %s: %v", *a.Default, a.Name, err))
	}
	return v, true
}

// null stands for "not set", as everywhere in the language.
func (d *decoder) null(a *Attribute, attr *hcl.Attribute, header string) (cty.Value, bool) {
	if !a.Required {
		return d.absent(a, header, attr.Range)
	}
	d.diags = append(d.diags, &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: "Null for a required argument", Subject: attr.Expr.Range().Ptr(), Context: attr.Range.Ptr(),
		Detail:     fmt.Sprintf("The argument %q of %s is required, so its value must not be null.", a.Name, header),
		Expression: attr.Expr, EvalContext: d.src.Ctx,
	})
	return cty.NilVal, false
}

// Inappropriate is the diagnostic for a value that does not convert; the path in err narrows
// the range down to the element of the expression.
func Inappropriate(name string, expr hcl.Expression, ctx *hcl.EvalContext, v cty.Value, err error) *hcl.Diagnostic {
	rng := expr.Range()
	var perr cty.PathError
	where := fmt.Sprintf("attribute %q", name)
	if errors.As(err, &perr) && len(perr.Path) > 0 {
		if sub := exprAt(expr, perr.Path); sub != nil {
			rng = sub.Range()
		}
		where += fmt.Sprintf(", at %s", pathString(perr.Path))
	}
	return &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: "Incorrect attribute value type", Subject: &rng, Context: expr.Range().Ptr(),
		Detail:     fmt.Sprintf("Inappropriate value for %s: %s%s.", where, err, got(v, perr.Path, err)),
		Expression: expr, EvalContext: ctx,
	}
}

// got describes what was found in place of the wanted type.
func got(v cty.Value, path cty.Path, cause error) string {
	raw, _ := v.UnmarkDeep()
	raw, err := path.Apply(raw)
	if err != nil || raw.Type() == cty.DynamicPseudoType || strings.Contains(cause.Error(), "but have") {
		return ""
	}
	return ", but this is " + article(raw.Type().FriendlyName())
}

func article(noun string) string {
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

func pathString(p cty.Path) string {
	var b strings.Builder
	for _, s := range p {
		switch s := s.(type) {
		case cty.GetAttrStep:
			b.WriteString("." + s.Name)
		case cty.IndexStep:
			if s.Key.Type() == cty.String {
				fmt.Fprintf(&b, "[%q]", s.Key.AsString())
			} else {
				fmt.Fprintf(&b, "[%s]", s.Key.AsBigFloat().Text('f', -1))
			}
		}
	}
	return strings.TrimPrefix(b.String(), ".")
}

// checkEnums holds a string, or each element of a list or set of strings.
func (d *decoder) checkEnums(a *Attribute, attr *hcl.Attribute, v cty.Value) bool {
	if len(a.Enum) == 0 {
		return true
	}
	raw, _ := v.UnmarkDeep()
	ok := true
	check := func(s cty.Value, rng hcl.Range) {
		if s.IsNull() || s.Type() != cty.String {
			return
		}
		if diag := checkEnum("argument", a.Name, s.AsString(), a.Enum, rng); diag != nil {
			if diagnostic.IsSensitive(v) {
				diag.Detail = fmt.Sprintf("The value of %q is not allowed. Allowed are: %s.", a.Name, diagnostic.List(a.Enum))
			}
			diag.Expression, diag.EvalContext = attr.Expr, d.src.Ctx
			d.diags = append(d.diags, diag)
			ok = false
		}
	}
	if raw.Type() == cty.String {
		check(raw, attr.Expr.Range())
		return ok
	}
	for i, e := range raw.AsValueSlice() {
		rng := attr.Expr.Range()
		if sub := exprAt(attr.Expr, cty.IndexIntPath(i)); sub != nil {
			rng = sub.Range()
		}
		check(e, rng)
	}
	return ok
}

func checkEnum(what, name, given string, allowed []string, rng hcl.Range) *hcl.Diagnostic {
	if len(allowed) == 0 {
		return nil
	}
	for _, a := range allowed {
		if a == given {
			return nil
		}
	}
	return &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: "Unsupported value", Subject: &rng,
		Detail: fmt.Sprintf("%q is not a value of the %s %q.%s Allowed are: %s.", given, what, name, diagnostic.DidYouMean(given, allowed), diagnostic.List(allowed)),
	}
}

// assign puts a converted value into a struct field.
func (d *decoder) assign(a *Attribute, attr *hcl.Attribute, v cty.Value, field reflect.Value) {
	raw, _ := v.UnmarkDeep()
	if field.Type() == reflect.TypeFor[cty.Value]() {
		if attr != nil && !raw.IsNull() || a.Default != nil {
			field.Set(reflect.ValueOf(raw))
		}
		return
	}
	if raw.IsNull() || !raw.IsWhollyKnown() {
		return
	}
	var err error
	if a.Format != "" {
		err = assignText(a, raw.AsString(), field)
	} else {
		err = gocty.FromCtyValue(raw, field.Addr().Interface())
	}
	if err == nil {
		return
	}
	if attr == nil {
		panic(fmt.Sprintf("block: default of %s: %v", a.Name, err))
	}
	d.diags = append(d.diags, &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: "Invalid value", Subject: attr.Expr.Range().Ptr(), Context: attr.Range.Ptr(),
		Detail:     fmt.Sprintf("Invalid value for %q: %s.", a.Name, masked(v, err)),
		Expression: attr.Expr, EvalContext: d.src.Ctx,
	})
}

func masked(v cty.Value, err error) string {
	if diagnostic.IsSensitive(v) {
		return "the sensitive value does not have the needed form"
	}
	return err.Error()
}

func assignText(a *Attribute, text string, field reflect.Value) error {
	if field.Kind() == reflect.Pointer {
		field.Set(reflect.New(field.Type().Elem()))
		field = field.Elem()
	}
	if a.Format == "duration" {
		dur, err := time.ParseDuration(text)
		if err != nil || dur < 0 {
			return fmt.Errorf("%q is not a duration; write for example \"90s\", \"250ms\" or \"1h30m\"", text)
		}
		field.SetInt(int64(dur))
		return nil
	}
	u, ok := field.Addr().Interface().(encoding.TextUnmarshaler)
	if !ok {
		panic(fmt.Sprintf("block: %s does not unmarshal text", field.Type()))
	}
	return u.UnmarshalText([]byte(text))
}
