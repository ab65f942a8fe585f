package view

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/mifbench/mifbench/pkg/plan"
)

// pathText is a JSON pointer as people write paths: spec.containers[0].image, keys that are
// not plain words quoted.
func pathText(pointer string) string {
	if pointer == "" {
		return "(all)"
	}
	var b strings.Builder
	for _, step := range strings.Split(pointer[1:], "/") {
		step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		switch {
		case isIndex(step):
			b.WriteString("[" + step + "]")
		case isWord(step):
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(step)
		default:
			b.WriteString("[" + strconv.Quote(step) + "]")
		}
	}
	return b.String()
}

func isIndex(s string) bool {
	_, err := strconv.ParseUint(s, 10, 31)
	return err == nil
}

func isWord(s string) bool {
	for _, r := range s {
		switch {
		case r == '_', r == '-', r >= '0' && r <= '9', r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z':
		default:
			return false
		}
	}
	return s != ""
}

// valueText is one value on one line: JSON; masks and what is unknown without quotes.
func valueText(v any) string {
	if plan.Masked(v) {
		return plan.Hidden
	}
	if v == plan.Unknown {
		return plan.Unknown
	}
	if v == nil {
		return "null"
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	out := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(text))
	return out
}

// sides are the two texts of a field difference.
func sides(f plan.FieldDiff) (before, after string) {
	if f.Sensitive {
		return plan.Hidden, plan.Hidden
	}
	return valueText(f.Before), valueText(f.After)
}

// multiline tells whether a field is better shown by lines.
func multiline(f plan.FieldDiff) bool {
	if f.Sensitive || plan.Masked(f.Before) || plan.Masked(f.After) {
		return false
	}
	return lines(f.Before) > 1 || lines(f.After) > 1
}

func lines(v any) int {
	s, ok := v.(string)
	if !ok {
		return 0
	}
	return strings.Count(strings.TrimSuffix(s, "\n"), "\n") + 1
}
