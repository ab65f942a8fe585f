package plan

import (
	"reflect"
	"strconv"
)

// listKeys are the fields by which lists of objects are matched, the first one
// that all elements have and that is unique wins: containers and variables by
// name, ports by number, mounts by path, conditions by type.
//
//nolint:gochecknoglobals // a table that nothing changes
var listKeys = []string{"name", "mountPath", "containerPort", "port", "key", "type", "ip", "topologyKey"}

func (d *differ) lists(at []string, before, after []any) {
	if len(before) == 0 && len(after) == 0 {
		d.unchanged++
		return
	}
	if key := matchKey(before, after); key != "" {
		d.keyed(at, before, after, key)
		return
	}
	if scalars(before) && scalars(after) {
		d.scalarList(at, before, after)
		return
	}
	for i := range max(len(before), len(after)) {
		d.element(step(at, strconv.Itoa(i)), before, after, i)
	}
}

func (d *differ) element(at []string, before, after []any, i int) {
	switch {
	case i >= len(before):
		d.leaves(at, Added, after[i])
	case i >= len(after):
		d.leaves(at, Removed, before[i])
	default:
		d.value(at, before[i], after[i])
	}
}

// keyed matches elements by a key field, so that one new variable in front is one addition.
func (d *differ) keyed(at []string, before, after []any, key string) {
	old := map[string]any{}
	for _, e := range before {
		old[elementKey(e, key)] = e
	}
	for i, e := range after {
		k := elementKey(e, key)
		if b, ok := old[k]; ok {
			d.value(step(at, strconv.Itoa(i)), b, e)
			continue
		}
		d.leaves(step(at, strconv.Itoa(i)), Added, e)
	}
	kept := map[string]bool{}
	for _, e := range after {
		kept[elementKey(e, key)] = true
	}
	for i, e := range before {
		if !kept[elementKey(e, key)] {
			d.leaves(step(at, strconv.Itoa(i)), Removed, e)
		}
	}
	d.order(at, before, after, key)
}

// order reports common elements that changed places: the API may care (init containers, variables).
func (d *differ) order(at []string, before, after []any, key string) {
	b, a := common(before, after, key), common(after, before, key)
	if reflect.DeepEqual(b, a) {
		return
	}
	d.emit(at, Changed, b, a)
}

func common(list, other []any, key string) []any {
	in := map[string]bool{}
	for _, e := range other {
		in[elementKey(e, key)] = true
	}
	var out []any
	for _, e := range list {
		if k := elementKey(e, key); in[k] {
			out = append(out, k)
		}
	}
	return out
}

// scalarList shows lists of equal length element by element and others as a whole: an
// index means little when elements were inserted.
func (d *differ) scalarList(at []string, before, after []any) {
	if len(before) != len(after) {
		d.emit(at, Changed, before, after)
		return
	}
	for i := range before {
		d.value(step(at, strconv.Itoa(i)), before[i], after[i])
	}
}

func matchKey(before, after []any) string {
	for _, key := range listKeys {
		if uniqueBy(before, key) && uniqueBy(after, key) {
			return key
		}
	}
	return ""
}

func uniqueBy(list []any, key string) bool {
	seen := map[string]bool{}
	for _, e := range list {
		k := elementKey(e, key)
		if k == "" || seen[k] {
			return false
		}
		seen[k] = true
	}
	return true
}

func elementKey(e any, key string) string {
	m, ok := e.(map[string]any)
	if !ok {
		return ""
	}
	text, _ := scalarText(m[key])
	return text
}

func scalars(list []any) bool {
	for _, e := range list {
		switch e.(type) {
		case map[string]any, []any:
			return false
		}
	}
	return true
}
