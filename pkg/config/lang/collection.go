package lang

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mifbench/mifbench/pkg/config/diagnostic"
)

// elements unpacks a list, set or tuple argument.
func elements(v cty.Value) ([]cty.Value, error) {
	ty := v.Type()
	if !ty.IsListType() && !ty.IsSetType() && !ty.IsTupleType() {
		return nil, function.NewArgErrorf(0, "a list, set or tuple is required, not %s", ty.FriendlyName())
	}
	return v.AsValueSlice(), nil
}

// foldFunc is a function of one collection.
func foldFunc(result cty.Type, f func([]cty.Value) (cty.Value, error)) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{param("list", cty.DynamicPseudoType)},
		Type:   function.StaticReturnType(result),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if !args[0].IsWhollyKnown() {
				return cty.UnknownVal(result), nil
			}
			vs, err := elements(args[0])
			if err != nil {
				return cty.NilVal, err
			}
			return f(vs)
		},
	})
}

func allTrueFunc() function.Function {
	return foldFunc(cty.Bool, func(vs []cty.Value) (cty.Value, error) { return all(vs, true) })
}

func anyTrueFunc() function.Function {
	return foldFunc(cty.Bool, func(vs []cty.Value) (cty.Value, error) { return all(vs, false) })
}

// all is true when every element is true (neutral true), or any (neutral false).
func all(vs []cty.Value, neutral bool) (cty.Value, error) {
	for i, v := range vs {
		b, err := convert.Convert(v, cty.Bool)
		if err != nil || b.IsNull() {
			return cty.NilVal, function.NewArgErrorf(0, "element %d is not a bool", i)
		}
		if b.True() != neutral {
			return cty.BoolVal(!neutral), nil
		}
	}
	return cty.BoolVal(neutral), nil
}

func sumFunc() function.Function {
	return foldFunc(cty.Number, func(vs []cty.Value) (cty.Value, error) {
		total := cty.Zero
		for i, v := range vs {
			n, err := convert.Convert(v, cty.Number)
			if err != nil || n.IsNull() {
				return cty.NilVal, function.NewArgErrorf(0, "element %d is not a number", i)
			}
			total = total.Add(n)
		}
		return total, nil
	})
}

func indexFunc() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{param("list", cty.DynamicPseudoType), param("value", cty.DynamicPseudoType)},
		Type:   function.StaticReturnType(cty.Number),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			vs, err := elements(args[0])
			if err != nil {
				return cty.NilVal, err
			}
			for i, v := range vs {
				if v.RawEquals(args[1]) {
					return cty.NumberIntVal(int64(i)), nil
				}
			}
			return cty.NilVal, function.NewArgErrorf(1, "the list does not hold this value")
		},
	})
}

func oneFunc() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{param("list", cty.DynamicPseudoType)},
		Type:   func(args []cty.Value) (cty.Type, error) { return cty.DynamicPseudoType, nil },
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			vs, err := elements(args[0])
			if err != nil {
				return cty.NilVal, err
			}
			switch len(vs) {
			case 0:
				return cty.NullVal(cty.DynamicPseudoType), nil
			case 1:
				return vs[0], nil
			}
			return cty.NilVal, function.NewArgErrorf(0, "at most one element is expected, here are %d", len(vs))
		},
	})
}

// markFunc is a function of any value that changes or reads its marks.
func markFunc(result func(cty.Type) cty.Type, f func(cty.Value) (cty.Value, error)) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{
			Name: "value", Type: cty.DynamicPseudoType,
			AllowNull: true, AllowUnknown: true, AllowDynamicType: true, AllowMarked: true,
		}},
		Type: func(args []cty.Value) (cty.Type, error) { return result(args[0].Type()), nil },
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return f(args[0]) },
	})
}

func same(t cty.Type) cty.Type { return t }

func sensitiveFunc() function.Function {
	return markFunc(same, func(v cty.Value) (cty.Value, error) { return v.Mark(diagnostic.Sensitive), nil })
}

func nonSensitiveFunc() function.Function {
	return markFunc(same, func(v cty.Value) (cty.Value, error) {
		raw, marks := v.UnmarkDeep()
		if _, ok := marks[diagnostic.Sensitive]; !ok {
			return cty.NilVal, fmt.Errorf("the value is not sensitive, so this call does nothing; remove it")
		}
		return raw, nil
	})
}

func isSensitiveFunc() function.Function {
	return markFunc(func(cty.Type) cty.Type { return cty.Bool }, func(v cty.Value) (cty.Value, error) {
		return cty.BoolVal(diagnostic.IsSensitive(v)), nil
	})
}
