package check

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mifbench/mifbench/pkg/config"
)

func placeholder() Check {
	return Check{
		Code: "MIF029", Title: "Placeholder left in", Severity: fault,
		Why: "The text stands for something that only you know; with it no path is found and no pod is scheduled.",
		Fix: "Put the value of your site in its place.",
		Run: func(c *Model) []Finding {
			mark := regexp.MustCompile(`/path/to/|^/path/to$|<[A-Za-z][A-Za-z0-9 _-]*>`)
			var out []Finding
			for _, p := range pods(c) {
				eachText(p.spec, "", func(path, text string) {
					if m := mark.FindString(text); m != "" && !command(path) {
						out = append(out, p.finding(path, fmt.Sprintf("%q still holds the placeholder %q.", text, m)))
					}
				})
			}
			for _, v := range c.Variables {
				if text, ok := plainText(v); ok && len(out) == 0 && mark.MatchString(text) {
					out = append(out, Finding{At: v.Range, Block: v.Range, Detail: fmt.Sprintf("The variable %q has the value %q, which holds the placeholder %q.", v.Name, text, mark.FindString(text))})
				}
			}
			return out
		},
	}
}

// plainText is a variable's value when it is a text that may be shown.
func plainText(v config.Variable) (string, bool) {
	if v.Sensitive || v.Value == cty.NilVal || v.Value.IsNull() || !v.Value.IsKnown() || v.Value.IsMarked() || v.Value.Type() != cty.String {
		return "", false
	}
	return v.Value.AsString(), true
}

// command: scripts may well hold such text.
func command(path string) bool {
	return regexp.MustCompile(`\.(command|args)(\.|$)`).MatchString(path)
}

// eachText visits the texts of JSON values with their paths.
func eachText(v any, path string, visit func(path, text string)) {
	switch x := v.(type) {
	case string:
		visit(path, x)
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(x)) {
			eachText(x[k], join(path, k), visit)
		}
	case []any:
		for i, e := range x {
			eachText(e, join(path, i), visit)
		}
	}
}
