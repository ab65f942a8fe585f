package check

import (
	"fmt"
	"slices"
)

func pluginUnused() Check {
	return Check{
		Code: "MIF012", Title: "Unused plugin", Severity: doubt,
		Why: "A plugin that no profile uses decides nothing.",
		Fix: "Use it in a profile, or remove its plugin block.",
		Run: func(c *Model) []Finding {
			var out []Finding
			for _, p := range c.pickers {
				if len(p.profiles) == 0 || slices.ContainsFunc(p.profiles, p.dangling) {
					// The scheduler makes one profile of all plugins; a misspelt use may mean this one.
					continue
				}
				for _, d := range p.plugins {
					if d.typ.role&(roleFilter|roleScorer|rolePicker) != 0 && !p.used(d.ref) && !p.named(d.ref) {
						out = append(out, p.finding(d.path, fmt.Sprintf("The plugin %q is declared, but no profile uses it.", d.ref)))
					}
				}
			}
			return out
		},
	}
}

// named tells whether a parameter of another plugin names a plugin.
func (p picker) named(ref string) bool {
	for _, d := range p.plugins {
		if textAt(d.params, "prefixPluginName") == ref || textAt(d.params, "prefixPluginType") == ref {
			return true
		}
	}
	return false
}
