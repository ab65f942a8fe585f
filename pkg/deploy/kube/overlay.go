package kube

import (
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
)

// overlay is the client-side guess of what an apply would leave: want laid over live. Maps
// merge; lists whose items have names merge by name; other lists are replaced.
func overlay(live, want any) any {
	switch w := want.(type) {
	case map[string]any:
		l, ok := live.(map[string]any)
		if !ok {
			return runtime.DeepCopyJSONValue(w)
		}
		out := runtime.DeepCopyJSON(l)
		for k, v := range w {
			if old, ok := l[k]; ok {
				out[k] = overlay(old, v)
			} else {
				out[k] = runtime.DeepCopyJSONValue(v)
			}
		}
		return out
	case []any:
		l, ok := live.([]any)
		if !ok || !namedItems(l) || !namedItems(w) {
			return runtime.DeepCopyJSONValue(w)
		}
		return overlayNamed(l, w)
	}
	return want
}

func overlayNamed(live, want []any) []any {
	out := runtime.DeepCopyJSONValue(live).([]any)
	for _, w := range want {
		i := indexByName(live, itemName(w))
		if i < 0 {
			out = append(out, runtime.DeepCopyJSONValue(w))
			continue
		}
		out[i] = overlay(live[i], w)
	}
	return out
}

func itemName(v any) string {
	m, _ := v.(map[string]any)
	s, _ := m["name"].(string)
	return s
}

func namedItems(list []any) bool {
	for _, v := range list {
		if itemName(v) == "" {
			return false
		}
	}
	return true
}

func indexByName(list []any, name string) int {
	for i, v := range list {
		if name != "" && itemName(v) == name {
			return i
		}
	}
	return -1
}

// settle puts live's spelling into predicted, in place, wherever the two mean the same:
// quantities ("1000m" and "1") and numbers written as strings ("1" and 1).
func settle(live, predicted any, parent string) any {
	switch p := predicted.(type) {
	case map[string]any:
		l, ok := live.(map[string]any)
		if !ok {
			return predicted
		}
		for k, v := range p {
			if old, ok := l[k]; ok {
				next := parent
				if !quantityParent(parent) {
					next = k
				}
				p[k] = settle(old, v, next)
			}
		}
	case []any:
		l, ok := live.([]any)
		if !ok || len(l) != len(p) {
			return predicted
		}
		for i := range p {
			p[i] = settle(l[i], p[i], parent)
		}
	default:
		if sameMeaning(live, predicted, parent) {
			return live
		}
	}
	return predicted
}

// quantityParent tells whether the values below a key of that name are quantities.
func quantityParent(key string) bool {
	switch key {
	case "requests", "limits", "hard", "capacity", "allocatable", "overhead", "sizeLimit":
		return true
	}
	return false
}

func sameMeaning(a, b any, parent string) bool {
	if a == b {
		return true
	}
	x, xs := scalarText(a)
	y, ys := scalarText(b)
	if x == "" || y == "" {
		return false
	}
	if xs != ys && x == y { // a number and a string of the same digits: an int-or-string field
		return true
	}
	if !quantityParent(parent) {
		return false
	}
	qa, errA := resource.ParseQuantity(x)
	qb, errB := resource.ParseQuantity(y)
	return errA == nil && errB == nil && qa.Cmp(qb) == 0
}

// scalarText is the text of a number or string and whether it is a string.
func scalarText(v any) (string, bool) {
	switch t := v.(type) {
	case string:
		return t, true
	case int64:
		return strconv.FormatInt(t, 10), false
	case float64:
		return strconv.FormatFloat(t, 'f', -1, 64), false
	}
	return "", false
}

// keepIgnored copies live's values over want, in place, at the paths that the author told us
// to ignore: applying leaves them as they are and co-owns them, so that nothing is reset.
// A path that live does not have is left out of want.
func keepIgnored(want, live any, pointers []string) {
	for _, p := range pointers {
		if steps := pointerSteps(p); len(steps) > 0 {
			keepAt(want, live, steps)
		}
	}
}

func keepAt(want, live any, steps []string) {
	switch w := want.(type) {
	case map[string]any:
		l, _ := live.(map[string]any)
		for k := range w {
			if steps[0] != "*" && steps[0] != k {
				continue
			}
			old, exists := l[k]
			switch {
			case len(steps) > 1:
				keepAt(w[k], old, steps[1:])
			case exists:
				w[k] = runtime.DeepCopyJSONValue(old)
			default:
				delete(w, k)
			}
		}
	case []any:
		for i := range w {
			if steps[0] != "*" && steps[0] != strconv.Itoa(i) {
				continue
			}
			old := counterpart(live, w[i], i)
			if len(steps) > 1 {
				keepAt(w[i], old, steps[1:])
			} else if old != nil {
				w[i] = runtime.DeepCopyJSONValue(old)
			}
		}
	}
}

// counterpart is the item of live that item i of a wanted list stands for.
func counterpart(live, want any, i int) any {
	l, ok := live.([]any)
	if !ok {
		return nil
	}
	if j := indexByName(l, itemName(want)); j >= 0 {
		return l[j]
	}
	if i < len(l) && itemName(want) == "" {
		return l[i]
	}
	return nil
}
