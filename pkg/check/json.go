package check

import (
	"fmt"
	"strconv"
)

// dig follows keys and list indexes into JSON values; nil when there is nothing.
func dig(v any, steps ...string) any {
	for _, s := range steps {
		switch x := v.(type) {
		case map[string]any:
			v = x[s]
		case []any:
			i, err := strconv.Atoi(s)
			if err != nil || i < 0 || i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}

func mapAt(v any, steps ...string) map[string]any {
	m, _ := dig(v, steps...).(map[string]any)
	return m
}

func listAt(v any, steps ...string) []any {
	l, _ := dig(v, steps...).([]any)
	return l
}

func textAt(v any, steps ...string) string {
	s, _ := dig(v, steps...).(string)
	return s
}

// number is a JSON number as float64.
func number(v any) (float64, bool) {
	switch n := v.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}

// join makes the dotted path of an element.
func join(path string, step any) string {
	if path == "" {
		return fmt.Sprint(step)
	}
	return fmt.Sprintf("%s.%v", path, step)
}
