package cli

import (
	"encoding/json"

	"github.com/zclconf/go-cty/cty"

	"github.com/mifbench/mifbench/pkg/resource"
)

// printJSON writes a value as indented JSON to stdout.
func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.env.Stdout)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// valueText is a value for people, on one line.
func valueText(v cty.Value) string {
	x, err := resource.JSON(v)
	if err != nil {
		return "(not known yet)"
	}
	return jsonText(x)
}
