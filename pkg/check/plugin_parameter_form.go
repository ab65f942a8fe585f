package check

import (
	"fmt"
	"slices"
	"strings"
)

func pluginParameterForm() Check {
	return Check{
		Code: "MIF005", Title: "Unsuitable plugin parameter", Severity: fault,
		Why: "The plugin refuses the value and takes the scheduler down with it, or takes its default in silence.",
		Fix: "Write the value in the form that the plugin reads.",
		Run: func(c *Model) []Finding {
			var out []Finding
			eachParameter(c, func(p picker, d declared, t plugin, name string, value any) {
				x, ok := t.param(name)
				if !ok {
					return
				}
				if wrong := x.form.wrong(value); wrong != "" {
					out = append(out, p.finding(d.path+".parameters."+name, fmt.Sprintf("Parameter %s of the plugin %q: %s.", name, d.kind, wrong)))
				}
			})
			return append(out, missingParameters(c)...)
		},
	}
}

func missingParameters(c *Model) []Finding {
	var out []Finding
	for _, p := range c.pickers {
		for _, d := range p.plugins {
			if missing := d.missing(); missing != "" {
				out = append(out, p.finding(d.path, fmt.Sprintf("The plugin %q needs %s.", d.kind, missing)))
			}
		}
	}
	return out
}

// missing says what a plugin needs and is not given, "" when that is nothing.
func (d declared) missing() string {
	for _, x := range d.typ.params {
		if x.required && empty(d.params[x.name]) {
			return fmt.Sprintf("the parameter %q", x.name)
		}
	}
	some := func(name string) bool { return !empty(d.params[name]) }
	if len(d.typ.either) > 0 && !slices.ContainsFunc(d.typ.either, some) {
		return "the parameter " + strings.Join(d.typ.either, " or ")
	}
	return ""
}

// empty is what a parameter is that is not given, or given as nothing.
func empty(v any) bool {
	l, isList := v.([]any)
	return v == nil || v == "" || v == false || isList && len(l) == 0
}
