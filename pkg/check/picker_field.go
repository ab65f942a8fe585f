package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

func pickerField() Check {
	return Check{
		Code: "MIF006", Title: "Unknown field of the endpoint picker's configuration", Severity: fault,
		Why: "The scheduler reads its configuration strictly: one unknown field and its pod goes into a crash loop.",
		Fix: "Correct the name, or remove the field.",
		Run: func(c *Model) []Finding {
			var out []Finding
			for _, p := range c.pickers {
				unknownFields(pickerFields(), p.body, p.path, func(path, name string, known []string) {
					out = append(out, p.finding(path, fmt.Sprintf("There is no field %q in %s.%s", name, strings.TrimSuffix(strings.TrimPrefix(path, "values."), "."+name), nearest(name, known))))
				})
				for _, d := range p.plugins {
					if d.kind == "" {
						out = append(out, p.finding(d.path, "A plugin needs a type."))
					}
				}
			}
			return out
		},
	}
}

// fields are the known fields of an object: nil is free-form, an element's fields for lists.
type fields map[string]fields

// pickerFields are those of EndpointPickerConfig inference.networking.x-k8s.io/v1alpha1.
func pickerFields() fields {
	return fields{
		"apiVersion": nil, "kind": nil, "featureGates": nil,
		"plugins":            {"type": nil, "name": nil, "parameters": nil},
		"schedulingProfiles": {"name": nil, "plugins": {"pluginRef": nil, "weight": nil}},
		"saturationDetector": {"queueDepthThreshold": nil, "kvCacheUtilThreshold": nil, "metricsStalenessThreshold": nil},
		"data":               {"sources": nil},
	}
}

// unknownFields reports the fields of a value that are not known, by the path of their parent.
func unknownFields(known fields, v any, path string, report func(path, name string, known []string)) {
	switch x := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(x)) {
			below, ok := known[k]
			switch {
			case !ok:
				report(join(path, k), k, slices.Sorted(maps.Keys(known)))
			case below != nil:
				unknownFields(below, x[k], join(path, k), report)
			}
		}
	case []any:
		for i, e := range x {
			unknownFields(known, e, join(path, i), report)
		}
	}
}
