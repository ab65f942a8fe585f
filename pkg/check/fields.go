package check

import (
	"maps"
	"slices"
)

// fields are the known fields of an object: nil is free-form, an element's fields for lists.
type fields map[string]fields

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
