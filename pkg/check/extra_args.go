package check

import (
	"fmt"
	"strings"
)

func extraArgs() Check {
	return Check{
		Code: "MIF026", Title: "Override drops flags of the preset", Severity: doubt,
		Why: "ISVC_EXTRA_ARGS is one string, so the override replaces all of the preset's flags and the engine runs with its defaults for the missing ones.",
		Fix: "Repeat the preset's flags and change only what you mean to change.",
		Run: func(c *Model) []Finding {
			var out []Finding
			for _, e := range c.services {
				text, path, own := e.extraArgs()
				preset, known := e.preset, e.presetKnown
				if !own || !known {
					continue
				}
				if lost := droppedFlags(preset, splitFlags(text)); len(lost) > 0 {
					out = append(out, e.finding(path, fmt.Sprintf("ISVC_EXTRA_ARGS leaves out what the preset sets: %s.", strings.Join(lost, " "))))
				}
			}
			return out
		},
	}
}

// droppedFlags are the preset's flags, with their values, of which the override says nothing.
func droppedFlags(preset, own []string) []string {
	var out []string
	for i, f := range preset {
		if !strings.HasPrefix(f, "--") || mentioned(f, own) {
			continue
		}
		if i+1 < len(preset) && !strings.HasPrefix(preset[i+1], "--") && preset[i+1] != "X" {
			f += " " + preset[i+1]
		}
		out = append(out, f)
	}
	return out
}

func mentioned(flag string, list []string) bool {
	for _, f := range list {
		if strings.HasPrefix(f, "--") && sameFlag(flag, f) {
			return true
		}
	}
	return false
}
