package block

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/mifbench/mifbench/pkg/config/diagnostic"
)

// Secrets are the texts of all strings and numbers that are, or lie inside, values marked as
// sensitive.
func Secrets(v cty.Value) []string {
	if !v.ContainsMarked() {
		return nil
	}
	var out []string
	raw, marks := v.UnmarkDeepWithPaths()
	for _, m := range marks {
		if _, ok := m.Marks[diagnostic.Sensitive]; !ok {
			continue
		}
		if at, err := m.Path.Apply(raw); err == nil {
			out = append(out, leaves(at)...)
		}
	}
	return out
}

func leaves(v cty.Value) []string {
	if v.IsNull() || !v.IsKnown() {
		return nil
	}
	switch ty := v.Type(); {
	case ty == cty.String:
		if s := v.AsString(); s != "" {
			return []string{s}
		}
		return nil
	case ty == cty.Number:
		return []string{v.AsBigFloat().Text('f', -1)}
	case v.CanIterateElements():
		var out []string
		for it := v.ElementIterator(); it.Next(); {
			_, e := it.Element()
			out = append(out, leaves(e)...)
		}
		return out
	}
	return nil
}
