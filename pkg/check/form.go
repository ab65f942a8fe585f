package check

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/mifbench/mifbench/pkg/config/diagnostic"
)

// form is what a parameter's value must look like.
type form int

const (
	formText form = iota + 1
	formTexts
	formWhole
	formNatural  // whole, not negative
	formPositive // whole, above 0
	formPort     // 0 or a port
	formNumber   // with or without a fraction
	formBool
	formDuration
	formMap
	formTextMap
	formList
	formExpressions // matchExpressions of a label selector
	formGates       // feature gates
)

// wrong says what is wrong with a value, "" when it fits.
func (f form) wrong(v any) string {
	switch f {
	case formDuration:
		return wrongDuration(v)
	case formWhole, formNatural, formPositive, formPort:
		return wrongWhole(f, v)
	case formNumber:
		if _, ok := number(v); !ok {
			return fmt.Sprintf("a number is needed, not %s", shown(v))
		}
	case formBool:
		if _, ok := v.(bool); !ok {
			return fmt.Sprintf("true or false is needed, not %s", shown(v))
		}
	case formMap, formTextMap:
		return wrongMap(f, v)
	case formList, formTexts, formExpressions, formGates:
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

func wrongWhole(f form, v any) string {
	n, ok := number(v)
	switch {
	case !ok || n != math.Trunc(n):
		return fmt.Sprintf("a whole number is needed, not %s", shown(v))
	case f == formPositive && n <= 0:
		return fmt.Sprintf("a number above 0 is needed, not %s", shown(v))
	case f == formNatural && n < 0:
		return fmt.Sprintf("0 or a number above it is needed, not %s", shown(v))
	case f == formPort && (n < 0 || n > 65535):
		return fmt.Sprintf("a port is needed (1 to 65535; 0 means none), not %s", shown(v))
	}
	return ""
}

func wrongMap(f form, v any) string {
	m, ok := v.(map[string]any)
	if !ok {
		return fmt.Sprintf("an object is needed, not %s", shown(v))
	}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if _, ok := m[k].(string); !ok && f == formTextMap {
			return fmt.Sprintf("an object of texts is needed, but its %s is %s", k, shown(m[k]))
		}
	}
	return ""
}

func wrongList(f form, v any) string {
	l, ok := v.([]any)
	if !ok {
		return fmt.Sprintf("a list is needed, not %s", shown(v))
	}
	for _, x := range l {
		if wrong := f.wrongElement(x); wrong != "" {
			return wrong
		}
	}
	return ""
}

// wrongElement says what is wrong with an element of a list.
func (f form) wrongElement(x any) string {
	s, isText := x.(string)
	switch {
	case f == formExpressions:
		return wrongExpression(x)
	case f != formTexts && f != formGates:
	case !isText:
		return fmt.Sprintf("a list of texts is needed, but it holds %s", shown(x))
	case f == formGates && !slices.Contains(featureGates(), s):
		return fmt.Sprintf("there is no feature gate %q, only %s", s, diagnostic.List(featureGates()))
	}
	return ""
}

// featureGates are those of the inference extension, v1.2 to v1.5.
func featureGates() []string {
	return []string{"dataLayer", "enableLegacyMetrics", "flowControl", "prepareDataPlugins"}
}

// wrongExpression follows Kubernetes' label selectors.
func wrongExpression(x any) string {
	m, ok := x.(map[string]any)
	if !ok {
		return fmt.Sprintf("a list of objects is needed, but it holds %s", shown(x))
	}
	key, operator, values := textAt(m, "key"), textAt(m, "operator"), listAt(m, "values")
	switch {
	case key == "":
		return "an expression needs a key"
	case operator == "In" || operator == "NotIn":
		if len(values) == 0 {
			return fmt.Sprintf("the operator %s needs values", operator)
		}
	case operator == "Exists" || operator == "DoesNotExist":
		if len(values) > 0 {
			return fmt.Sprintf("the operator %s takes no values", operator)
		}
	default:
		return fmt.Sprintf("%q is no operator; there are In, NotIn, Exists and DoesNotExist", operator)
	}
	return formTexts.wrong(append([]any{}, values...))
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
