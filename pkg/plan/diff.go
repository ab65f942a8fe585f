package plan

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/mifbench/mifbench/pkg/state"
)

// rules say how two JSON values are compared.
type rules struct {
	// typed leaves "1" and 1 different (chart values: a template may care).
	typed bool
	// ignore, immutable and sensitive are JSON pointer patterns.
	ignore, immutable, sensitive []string
}

// differ collects the differences of one object.
type differ struct {
	rules
	fields    []FieldDiff
	unchanged int
}

// diff compares two JSON trees and returns what differs, in the order of paths,
// and how many leaves do not. A nil map is an absent object.
func (r rules) diff(before, after map[string]any) ([]FieldDiff, int) {
	d := &differ{rules: r}
	d.maps(nil, before, after)
	return d.fields, d.unchanged
}

// value compares two values that both exist.
func (d *differ) value(at []string, before, after any) {
	bm, bok := before.(map[string]any)
	am, aok := after.(map[string]any)
	if bok && aok {
		d.maps(at, bm, am)
		return
	}
	bl, bok := before.([]any)
	al, aok := after.([]any)
	if bok && aok {
		d.lists(at, bl, al)
		return
	}
	if d.same(at, before, after) {
		d.unchanged++
		return
	}
	d.emit(at, Changed, before, after)
}

func (d *differ) maps(at []string, before, after map[string]any) {
	if len(before) == 0 && len(after) == 0 {
		if len(at) > 0 {
			d.unchanged++
		}
		return
	}
	keys := slices.Collect(maps.Keys(before))
	for k := range after {
		if _, both := before[k]; !both {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		d.member(step(at, k), before, after, k)
	}
}

func (d *differ) member(at []string, before, after map[string]any, k string) {
	b, inB := before[k]
	a, inA := after[k]
	switch {
	case inB && inA:
		d.value(at, b, a)
	case inA:
		d.leaves(at, Added, a)
	default:
		d.leaves(at, Removed, b)
	}
}

// leaves emits every leaf below v as added or removed; empty containers are leaves.
func (d *differ) leaves(at []string, op Op, v any) {
	switch t := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(t)) {
			d.leaves(step(at, k), op, t[k])
		}
		if len(t) > 0 {
			return
		}
	case []any:
		for i, e := range t {
			d.leaves(step(at, strconv.Itoa(i)), op, e)
		}
		if len(t) > 0 {
			return
		}
	}
	if op == Added {
		d.emit(at, op, nil, v)
		return
	}
	d.emit(at, op, v, nil)
}

func (d *differ) emit(at []string, op Op, before, after any) {
	path := join(at)
	if Ignored(path, d.ignore) {
		return
	}
	f := FieldDiff{Path: path, Op: op, Before: before, After: after}
	f.ForcesReplacement = Ignored(path, d.immutable)
	f.Sensitive = Masked(before) || Masked(after) || Ignored(path, d.sensitive) || holds(path, d.sensitive)
	if f.Sensitive {
		f.Before, f.After = hide(before), hide(after)
	}
	d.fields = append(d.fields, f)
}

// holds tells whether one of the pointers leads to something below path: a list or map that is
// shown as a whole must not show the secret inside.
func holds(path string, pointers []string) bool {
	for _, p := range pointers {
		if covers(strings.Split(path, "/"), strings.Split(p, "/")) {
			return true
		}
	}
	return false
}

// hide keeps a mask (its fingerprint tells one secret from another) and covers anything else.
func hide(v any) any {
	if v == nil || Masked(v) {
		return v
	}
	return Hidden
}

// same compares two leaves, or a leaf and a container.
func (d *differ) same(at []string, before, after any) bool {
	if reflect.DeepEqual(before, after) {
		return true
	}
	b, bok := scalarText(before)
	a, aok := scalarText(after)
	if !bok || !aok {
		return false
	}
	if sameType(before, after) || !d.typed {
		_, bs := before.(string)
		_, as := after.(string)
		if (!bs || !as) && b == a {
			return true
		}
	}
	if d.typed || !holdsQuantity(at) {
		return false
	}
	bq, bok := quantity(before)
	aq, aok := quantity(after)
	return bok && aok && bq.Cmp(aq) == 0
}

// sameType tells whether both are numbers or both are strings.
func sameType(a, b any) bool {
	_, as := a.(string)
	_, bs := b.(string)
	return as == bs
}

func step(at []string, k string) []string {
	return append(at[:len(at):len(at)], k)
}

func join(at []string) string {
	out := ""
	for _, s := range at {
		out += "/" + state.Escape(s)
	}
	return out
}
