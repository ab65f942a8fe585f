package plan

import (
	"strings"
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

// dotted turns the dotted form in which the API server names a conflicting field
// (".spec.replicas") into a JSON pointer where that is possible without knowing
// the keys of lists; "" when the field runs through a list.
func dotted(field string) string {
	if strings.HasPrefix(field, "/") {
		return field
	}
	if strings.ContainsRune(field, '[') {
		return ""
	}
	return "/" + strings.ReplaceAll(strings.TrimPrefix(field, "."), ".", "/")
}
