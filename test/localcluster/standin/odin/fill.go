package odin

import (
	"fmt"
	"reflect"
	"strings"
	"text/template"
)

// view is the dot of a template.
type view struct {
	identity
	Spec *Spec
}

// fill executes every string of a JSON value as a Go template, map keys excepted.
func fill(v any, dot view) (any, error) {
	switch v := v.(type) {
	case string:
		return fillString(v, dot)
	case []any:
		for i := range v {
			var err error
			if v[i], err = fill(v[i], dot); err != nil {
				return nil, fmt.Errorf("[%d]%w", i, err)
			}
		}
	case map[string]any:
		for k := range v {
			var err error
			if v[k], err = fill(v[k], dot); err != nil {
				return nil, fmt.Errorf(".%s%w", k, err)
			}
		}
	}
	return v, nil
}

func fillString(s string, dot view) (string, error) {
	if !strings.Contains(s, "{{") {
		return s, nil
	}
	t, err := template.New("").Funcs(functions()).Parse(s)
	if err != nil {
		return "", fmt.Errorf(": %w", err)
	}
	var out strings.Builder
	if err := t.Execute(&out, dot); err != nil {
		return "", fmt.Errorf(": %w", err)
	}
	return out.String(), nil
}

// functions are deref and the few of Sprig's that templates of this kind use.
func functions() template.FuncMap {
	return template.FuncMap{
		"deref":   deref,
		"default": func(d, v any) any { return choose(v, d) },
		"quote":   func(v any) string { return fmt.Sprintf("%q", fmt.Sprint(v)) },
		"lower":   strings.ToLower,
		"upper":   strings.ToUpper,
		"trim":    strings.TrimSpace,
		"ternary": func(yes, no any, cond bool) any {
			if cond {
				return yes
			}
			return no
		},
	}
}

// choose returns v unless it is empty in the sense of the template language.
func choose(v, d any) any {
	if yes, ok := template.IsTrue(v); ok && yes {
		return v
	}
	return d
}

// deref follows a path of struct fields through pointers; nil where it leads nowhere.
func deref(v any, path ...string) (any, error) {
	r := reflect.ValueOf(v)
	for i := 0; ; i++ {
		for r.Kind() == reflect.Pointer || r.Kind() == reflect.Interface {
			if r.IsNil() {
				return nil, nil
			}
			r = r.Elem()
		}
		if i == len(path) {
			break
		}
		if r.Kind() != reflect.Struct || !r.FieldByName(path[i]).IsValid() {
			return nil, fmt.Errorf("deref: no field %q", strings.Join(path[:i+1], "."))
		}
		r = r.FieldByName(path[i])
	}
	if !r.IsValid() {
		return nil, nil
	}
	return r.Interface(), nil
}
