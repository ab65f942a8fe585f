package check

import (
	"fmt"
	"maps"
	"slices"
)

func pluginParameter() Check {
	return Check{
		Code: "MIF004", Title: "Unknown plugin parameter", Severity: doubt,
		Why: "A plugin passes over parameters that it does not know, so the setting has no effect and nobody is told.",
		Fix: "Correct the name, or remove the parameter.",
		Run: func(c *Model) []Finding {
			var out []Finding
			eachParameter(c, func(p picker, d declared, t plugin, name string, _ any) {
				if _, ok := t.param(name); !ok {
					what := fmt.Sprintf("The plugin %q has no parameter %q.%s", d.kind, name, nearest(name, t.names()))
					if len(t.params) == 0 {
						what = fmt.Sprintf("The plugin %q has no parameters, but %q is given.", d.kind, name)
					}
					out = append(out, p.finding(d.path+".parameters."+name, what))
				}
			})
			return out
		},
	}
}

// eachParameter visits the parameters of plugins of known types, sorted by name.
func eachParameter(c *Model, visit func(p picker, d declared, t plugin, name string, value any)) {
	for _, p := range c.pickers {
		for _, d := range p.plugins {
			if !d.known {
				continue
			}
			for _, name := range slices.Sorted(maps.Keys(d.params)) {
				visit(p, d, d.typ, name, d.params[name])
			}
		}
	}
}
