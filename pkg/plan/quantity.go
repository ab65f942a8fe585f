package plan

import (
	"math/big"
	"regexp"
	"slices"
	"strconv"
)

// quantityForm is a Kubernetes quantity: number, then a decimal or binary suffix or an exponent.
// Source: the grammar in the API's documentation of Quantity.
var quantityForm = regexp.MustCompile(`^([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))(?:(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)|[eE]([+-]?[0-9]{1,2}))?$`)

// suffixes are the multipliers as base and exponent.
//
//nolint:gochecknoglobals // a table that nothing changes
var suffixes = map[string][2]int64{
	"n": {10, -9}, "u": {10, -6}, "m": {10, -3}, "k": {10, 3}, "M": {10, 6}, "G": {10, 9}, "T": {10, 12},
	"P": {10, 15}, "E": {10, 18}, "Ki": {2, 10}, "Mi": {2, 20}, "Gi": {2, 30}, "Ti": {2, 40}, "Pi": {2, 50}, "Ei": {2, 60},
}

// quantityParents are the field names below which the Kubernetes API keeps quantities. Elsewhere
// "1Gi" and "1073741824" are two texts (an environment variable, say) and differ.
//
//nolint:gochecknoglobals // a table that nothing changes
var quantityParents = []string{
	"limits", "requests", "capacity", "allocatable", "hard", "used", "overhead", "sizeLimit", "divisor",
	"averageValue", "storage", "default", "defaultRequest", "maxLimitRequestRatio",
}

func holdsQuantity(steps []string) bool {
	n := len(steps)
	return n > 0 && slices.Contains(quantityParents, steps[n-1]) ||
		n > 1 && slices.Contains(quantityParents, steps[n-2])
}

// quantity parses a string or number as a quantity.
func quantity(v any) (*big.Rat, bool) {
	text, ok := scalarText(v)
	if !ok {
		return nil, false
	}
	m := quantityForm.FindStringSubmatch(text)
	if m == nil {
		return nil, false
	}
	r, ok := new(big.Rat).SetString(m[1])
	if !ok {
		return nil, false
	}
	base, exp := int64(10), int64(0)
	if s, found := suffixes[m[2]]; found {
		base, exp = s[0], s[1]
	} else if m[3] != "" {
		e, err := strconv.ParseInt(m[3], 10, 64)
		if err != nil {
			return nil, false
		}
		exp = e
	}
	return r.Mul(r, power(base, exp)), true
}

func power(base, exp int64) *big.Rat {
	p := new(big.Int).Exp(big.NewInt(base), big.NewInt(max(exp, -exp)), nil)
	if exp < 0 {
		return new(big.Rat).SetFrac(big.NewInt(1), p)
	}
	return new(big.Rat).SetInt(p)
}

// scalarText is the shortest text of a number or string.
func scalarText(v any) (string, bool) {
	switch t := v.(type) {
	case string:
		return t, true
	case int:
		return strconv.Itoa(t), true
	case int64:
		return strconv.FormatInt(t, 10), true
	case float64:
		return strconv.FormatFloat(t, 'f', -1, 64), true
	}
	return "", false
}
