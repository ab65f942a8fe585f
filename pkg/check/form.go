package check

import (
	"fmt"
	"time"

	"github.com/mifbench/mifbench/pkg/config/diagnostic"
)

// form is what a parameter's value must look like.
type form int

const (
	formText form = iota + 1
	formTexts
	formWhole
	formBool
	formDuration
	formMap
	formList
)

// wrong says what is wrong with a value, "" when it fits.
func (f form) wrong(v any) string {
	switch f {
	case formDuration:
		return wrongDuration(v)
	case formWhole:
		if n, ok := number(v); !ok || n != float64(int64(n)) {
			return fmt.Sprintf("a whole number is needed, not %s", shown(v))
		}
	case formBool:
		if _, ok := v.(bool); !ok {
			return fmt.Sprintf("true or false is needed, not %s", shown(v))
		}
	case formMap:
		if _, ok := v.(map[string]any); !ok {
			return fmt.Sprintf("an object is needed, not %s", shown(v))
		}
	case formList, formTexts:
		return wrongList(f, v)
	default:
		if _, ok := v.(string); !ok {
			return fmt.Sprintf("a text is needed, not %s", shown(v))
		}
	}
	return ""
}

func wrongDuration(v any) string {
	s, ok := v.(string)
	if !ok {
		return fmt.Sprintf("a duration in quotes with its unit is needed, such as \"20m\", not %s", shown(v))
	}
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		return fmt.Sprintf("%q is not a duration; write a number with a unit (ms, s, m, h), such as \"20m\" or \"1h30m\"", s)
	case d <= 0:
		return fmt.Sprintf("%q is not a positive duration", s)
	}
	return ""
}

func wrongList(f form, v any) string {
	l, ok := v.([]any)
	if !ok {
		return fmt.Sprintf("a list is needed, not %s", shown(v))
	}
	for _, x := range l {
		if _, ok := x.(string); !ok && f == formTexts {
			return fmt.Sprintf("a list of texts is needed, but it holds %s", shown(x))
		}
	}
	return ""
}

func shown(v any) string {
	switch v := v.(type) {
	case string:
		return fmt.Sprintf("the text %q", v)
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	case nil:
		return "null"
	default:
		return fmt.Sprintf("%v", v)
	}
}

// nearest is a suggestion to be put behind a sentence, or the list of what there is.
func nearest(given string, names []string) string {
	if hint := diagnostic.DidYouMean(given, names); hint != "" {
		return hint
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf(" There are: %s.", diagnostic.List(names))
}
