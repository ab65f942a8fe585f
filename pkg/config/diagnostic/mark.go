package diagnostic

import "github.com/zclconf/go-cty/cty"

// mark is the type of the marks of this package.
type mark string

// Sensitive marks a value that must never be shown or stored.
const Sensitive = mark("sensitive")

// IsSensitive tells whether the value itself or anything inside it is marked.
func IsSensitive(v cty.Value) bool {
	if !v.ContainsMarked() {
		return false
	}
	_, marks := v.UnmarkDeep()
	_, ok := marks[Sensitive]
	return ok
}
