package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

func pickerField() Check {
	return Check{
		Code: "MIF006", Title: "Field that the endpoint picker cannot read", Severity: fault,
		Why: "The scheduler reads its configuration strictly: one unknown field or unsuitable value and its pod goes into a crash loop.",
		Fix: "Correct it, or remove the field.",
		Run: func(c *Model) []Finding {
			var out []Finding
			for _, p := range c.pickers {
				pickerFields().unreadable(p.body, p.path, func(path, wrong string) {
					out = append(out, p.finding(path, wrong))
				})
				for _, d := range p.plugins {
					if d.kind == "" {
						out = append(out, p.finding(d.path, "A plugin needs a type."))
					}
				}
			}
			eachUse(c, func(p picker, pr profile, i int) {
				if w := pr.uses[i].rawWeight; w != nil {
					if wrong := formWhole.wrong(w); wrong != "" {
						out = append(out, p.finding(pr.uses[i].path+".weight", fmt.Sprintf("Weight of %q in profile %q: %s.", pr.uses[i].ref, pr.name, wrong)))
					}
				}
			})
			return out
		},
	}
}

// field is what is known of a field: the form of its value (0: any) or, for objects and lists
// of objects, the fields below.
type field struct {
	form  form
	list  bool
	below map[string]field
}

// pickerFields are those of EndpointPickerConfig inference.networking.x-k8s.io/v1alpha1. Names
// and parameters of plugins have checks of their own, weights are looked at with their place.
func pickerFields() field {
	return field{below: map[string]field{
		"apiVersion": {form: formText}, "kind": {form: formText}, "featureGates": {form: formGates},
		"plugins": {list: true, below: map[string]field{"type": {form: formText}, "name": {form: formText}, "parameters": {form: formMap}}},
		"schedulingProfiles": {list: true, below: map[string]field{
			"name": {form: formText}, "plugins": {list: true, below: map[string]field{"pluginRef": {form: formText}, "weight": {}}},
		}},
		"saturationDetector": {below: map[string]field{
			"queueDepthThreshold": {form: formWhole}, "kvCacheUtilThreshold": {form: formNumber}, "metricsStalenessThreshold": {form: formDuration},
		}},
		"data": {below: map[string]field{"sources": {}}},
	}}
}

// unreadable reports what the loader would stumble over in a value, with its place. Nothing is
// said of null, which stands for a field that is not given.
func (f field) unreadable(v any, path string, report func(path, wrong string)) {
	switch {
	case v == nil:
	case f.below != nil && f.list:
		list, ok := v.([]any)
		if !ok {
			report(path, fmt.Sprintf("%s: a list is needed, not %s.", short(path), shown(v)))
		}
		for i, e := range list {
			field{below: f.below}.unreadable(e, join(path, i), report)
		}
	case f.below != nil:
		m, ok := v.(map[string]any)
		if !ok {
			report(path, fmt.Sprintf("%s: an object is needed, not %s.", short(path), shown(v)))
		}
		for _, k := range slices.Sorted(maps.Keys(m)) {
			below, known := f.below[k]
			if !known {
				report(join(path, k), fmt.Sprintf("There is no field %q in %s.%s", k, short(path), nearest(k, slices.Sorted(maps.Keys(f.below)))))
				continue
			}
			below.unreadable(m[k], join(path, k), report)
		}
	case f.form != 0:
		if wrong := f.form.wrong(v); wrong != "" {
			report(path, fmt.Sprintf("%s: %s.", short(path), wrong))
		}
	}
}

func short(path string) string { return strings.TrimPrefix(path, "values.") }
