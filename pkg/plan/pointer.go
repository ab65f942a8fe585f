package plan

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mifbench/mifbench/pkg/state"
)

// Ignored tells whether a JSON pointer lies at or below one of the patterns
// (JSON pointers in which the step * matches any one step).
func Ignored(pointer string, patterns []string) bool {
	steps := strings.Split(pointer, "/")
	for _, p := range patterns {
		if covers(strings.Split(strings.TrimSuffix(p, "/"), "/"), steps) {
			return true
		}
	}
	return false
}

func covers(pattern, steps []string) bool {
	if len(pattern) > len(steps) {
		return false
	}
	for i, p := range pattern {
		if p != "*" && p != steps[i] {
			return false
		}
	}
	return true
}

// ignoredField tells whether a field in the form in which the API server names conflicts
// (.spec.containers[name="main"].image) lies at or below one of the patterns. Which element a key
// stands for, and where a key with dots in it ends, only an object tells; where none of the given
// ones has the field, a field that runs through no list is split at its dots.
func ignoredField(field string, patterns []string, objects ...map[string]any) bool {
	if strings.HasPrefix(field, "/") {
		return Ignored(field, patterns)
	}
	found := false
	for _, o := range objects {
		p, ok := pointerTo(field, o)
		if ok && Ignored(p, patterns) {
			return true
		}
		found = found || ok
	}
	return !found && !strings.ContainsRune(field, '[') &&
		Ignored("/"+strings.ReplaceAll(strings.TrimPrefix(field, "."), ".", "/"), patterns)
}

// pointerTo finds a field of the API server's form in v and returns its JSON pointer.
func pointerTo(field string, v any) (string, bool) {
	switch {
	case field == "":
		return "", true
	case field[0] == '[':
		end := closing(field)
		list, ok := v.([]any)
		if end < 0 || !ok {
			return "", false
		}
		i := elementOf(list, field[1:end])
		if i < 0 {
			return "", false
		}
		rest, ok := pointerTo(field[end+1:], list[i])
		return "/" + strconv.Itoa(i) + rest, ok
	}
	m, _ := v.(map[string]any)
	field = strings.TrimPrefix(field, ".")
	for _, k := range slices.Backward(slices.Sorted(maps.Keys(m))) { // of a.b and a, the longer first
		after, ok := strings.CutPrefix(field, k)
		if !ok || after != "" && after[0] != '.' && after[0] != '[' {
			continue
		}
		if rest, ok := pointerTo(after, m[k]); ok {
			return "/" + state.Escape(k) + rest, true
		}
	}
	return "", false
}

// closing is the index of the bracket that closes the first one, quoted brackets left alone.
func closing(field string) int {
	quoted := false
	for i := 0; i < len(field); i++ {
		switch {
		case quoted && field[i] == '\\':
			i++
		case field[i] == '"':
			quoted = !quoted
		case field[i] == ']' && !quoted:
			return i
		}
	}
	return -1
}

// elementOf finds the element that a key stands for: name="main",port=80 (fields of a map),
// ="text" (a value of a set) or 3 (an index); -1 when there is none.
func elementOf(list []any, key string) int {
	if i, err := strconv.Atoi(key); err == nil {
		if i >= len(list) {
			return -1
		}
		return i
	}
	if text, ok := strings.CutPrefix(key, "="); ok {
		return slices.IndexFunc(list, func(e any) bool { return jsonText(e) == text })
	}
	return slices.IndexFunc(list, func(e any) bool { return hasKeys(e, key) })
}

// hasKeys tells whether every name=value of the key holds in the element.
func hasKeys(e any, key string) bool {
	m, ok := e.(map[string]any)
	for ok && key != "" {
		name, rest, found := strings.Cut(key, "=")
		text := jsonText(m[name])
		after, same := strings.CutPrefix(rest, text)
		ok = found && same && (after == "" || after[0] == ',')
		key = strings.TrimPrefix(after, ",")
	}
	return ok
}

func jsonText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(text)
}
