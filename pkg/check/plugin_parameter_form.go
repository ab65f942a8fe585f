package check

import "fmt"

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
			for _, x := range d.typ.params {
				if _, given := d.params[x.name]; x.required && !given {
					out = append(out, p.finding(d.path, fmt.Sprintf("The plugin %q needs the parameter %q.", d.kind, x.name)))
				}
			}
		}
	}
	return out
}
