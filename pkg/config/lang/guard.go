package lang

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// Bounds of what one call may produce: beyond them a typing mistake or a hostile file would
// exhaust the memory before anyone could say why.
const (
	maxText     = 16 << 20 // bytes
	maxElements = 1 << 20
	maxNesting  = 500
	maxWidth    = 10_000
)

// guarded is a function that refuses arguments before it works on them. The check sees
// known, unmarked values only; where there are others it is not asked.
func guarded(f function.Function, check func(args []cty.Value) error) function.Function {
	return function.New(&function.Spec{
		Description: f.Description(), Params: f.Params(), VarParam: f.VarParam(),
		Type: func(args []cty.Value) (cty.Type, error) {
			if err := checkKnown(args, check); err != nil {
				return cty.NilType, err
			}
			return f.ReturnTypeForValues(args)
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return f.Call(args) },
	})
}

func checkKnown(args []cty.Value, check func(args []cty.Value) error) error {
	plain := make([]cty.Value, len(args))
	for i, a := range args {
		if !a.IsWhollyKnown() {
			return nil
		}
		if plain[i], _ = a.UnmarkDeep(); plain[i].IsNull() {
			return nil
		}
	}
	return check(plain)
}

// indentCheck bounds the number of spaces.
func indentCheck(args []cty.Value) error {
	if n, _ := args[0].AsBigFloat().Float64(); n > maxWidth {
		return function.NewArgErrorf(0, "at most %d spaces are possible", maxWidth)
	}
	return nil
}

// formatCheck bounds widths and precisions in a format.
func formatCheck(args []cty.Value) error {
	if args[0].Type() != cty.String {
		return nil
	}
	for _, m := range regexp.MustCompile(`%[-+# 0]*(\d*)(?:\.(\d*))?`).FindAllStringSubmatch(args[0].AsString(), -1) {
		for _, digits := range m[1:] {
			if n, err := strconv.Atoi(digits); digits != "" && (err != nil || n > maxWidth) {
				return function.NewArgErrorf(0, "widths and precisions of more than %d are not possible", maxWidth)
			}
		}
	}
	return nil
}

// productCheck bounds the number of combinations.
func productCheck(args []cty.Value) error {
	n := 1
	for i, a := range args {
		if !a.CanIterateElements() {
			return nil // the function says it
		}
		if n *= max(a.LengthInt(), 1); n > maxElements {
			return function.NewArgErrorf(i, "there would be more than %d combinations", maxElements)
		}
	}
	return nil
}

// joinCheck bounds the length of the result.
func joinCheck(args []cty.Value) error {
	sep, total := len(args[0].AsString()), 0
	for _, list := range args[1:] {
		for it := list.ElementIterator(); it.Next(); {
			_, e := it.Element()
			if e.Type() == cty.String && !e.IsNull() {
				total += len(e.AsString())
			}
			if total += sep; total > maxText {
				return fmt.Errorf("the result would be longer than %d MiB", maxText>>20)
			}
		}
	}
	return nil
}

// jsonCheck bounds the nesting of a JSON text, which is read recursively.
func jsonCheck(args []cty.Value) error {
	depth, inText := 0, false
	text := args[0].AsString()
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case !inText && (c == '[' || c == '{'):
			depth++
		case !inText && (c == ']' || c == '}'):
			depth--
		}
		if depth > maxNesting {
			return function.NewArgErrorf(0, "the text is nested more than %d deep", maxNesting)
		}
	}
	return nil
}
