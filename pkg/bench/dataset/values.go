package dataset

import (
	"fmt"
	"math"
	"sort"
	"strings"
)

// OptionDoc documents an option of a kind.
type OptionDoc struct {
	Name, Doc string
	// Default has the option's type: int, float64, string or bool.
	Default any
}

// values are a kind's options with defaults filled in and types as documented.
type values map[string]any

func (v values) int(name string) int       { return v[name].(int) }
func (v values) float(name string) float64 { return v[name].(float64) }
func (v values) string(name string) string { return v[name].(string) }
func (v values) bool(name string) bool     { return v[name].(bool) }

// values checks given options against the row's documentation.
func (k Kind) values(given map[string]any) (values, error) {
	out, names := values{}, []string{}
	for _, d := range k.Options {
		out[d.Name] = d.Default
		names = append(names, d.Name)
	}
	keys := make([]string, 0, len(given))
	for name := range given {
		keys = append(keys, name)
	}
	sort.Strings(keys)
	for _, name := range keys {
		def, ok := out[name]
		if !ok {
			return nil, fmt.Errorf("unknown option %q; type %q has: %s", name, k.Name, orNone(names))
		}
		v, ok := convert(given[name], def)
		if !ok {
			return nil, fmt.Errorf("option %s = %v is not of type %T", name, given[name], def)
		}
		out[name] = v
	}
	return out, nil
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// convert makes v the type of def; numbers may come as any kind of number.
func convert(v, def any) (any, bool) {
	switch def.(type) {
	case string:
		s, ok := v.(string)
		return s, ok
	case bool:
		b, ok := v.(bool)
		return b, ok
	}
	f, ok := number(v)
	if _, isFloat := def.(float64); isFloat || !ok {
		return f, ok
	}
	return int(f), f == math.Trunc(f) && math.Abs(f) < 1<<53
}

func number(v any) (float64, bool) {
	switch n := v.(type) {
	case int:
		return float64(n), true
	case int64:
		return float64(n), true
	case float64:
		return n, !math.IsNaN(n) && !math.IsInf(n, 0)
	}
	return 0, false
}
