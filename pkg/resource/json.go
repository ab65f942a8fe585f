package resource

import (
	"fmt"
	"math/big"

	"github.com/zclconf/go-cty/cty"
)

// JSON turns a wholly known, unmarked value into JSON values: nil, bool, int64, float64,
// string, []any, map[string]any. Null survives as nil, also inside objects. A number that
// neither an int64 nor a float64 holds exactly is an error that names its path.
func JSON(v cty.Value) (any, error) {
	return toJSON(v, "")
}

func toJSON(v cty.Value, path string) (any, error) {
	ty := v.Type()
	switch {
	case v.IsNull():
		return nil, nil
	case !v.IsKnown():
		return nil, fmt.Errorf("%s: known only after apply", orRoot(path))
	case ty == cty.String:
		return v.AsString(), nil
	case ty == cty.Bool:
		return v.True(), nil
	case ty == cty.Number:
		return numberJSON(v.AsBigFloat(), path)
	case ty.IsListType() || ty.IsTupleType() || ty.IsSetType():
		return listJSON(v, path)
	case ty.IsMapType() || ty.IsObjectType():
		return mapJSON(v, path)
	}
	return nil, fmt.Errorf("%s: a %s has no JSON form", orRoot(path), ty.FriendlyName())
}

func numberJSON(f *big.Float, path string) (any, error) {
	if i, acc := f.Int64(); acc == big.Exact {
		return i, nil
	}
	if f.IsInt() {
		return nil, fmt.Errorf("%s: the whole number %s does not fit into 64 bits; write it as a string", orRoot(path), f.Text('f', 0))
	}
	d, _ := f.Float64()
	return d, nil
}

func listJSON(v cty.Value, path string) (any, error) {
	out := make([]any, 0, v.LengthInt())
	for it := v.ElementIterator(); it.Next(); {
		_, e := it.Element()
		x, err := toJSON(e, fmt.Sprintf("%s[%d]", path, len(out)))
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

func mapJSON(v cty.Value, path string) (any, error) {
	out := make(map[string]any, v.LengthInt())
	for it := v.ElementIterator(); it.Next(); {
		k, e := it.Element()
		x, err := toJSON(e, path+"."+k.AsString())
		if err != nil {
			return nil, err
		}
		out[k.AsString()] = x
	}
	return out, nil
}

func orRoot(path string) string {
	if path == "" {
		return "value"
	}
	return path
}

// Value is the inverse of JSON for values that JSON produced: objects and tuples.
func Value(x any) cty.Value {
	switch x := x.(type) {
	case nil:
		return cty.NullVal(cty.DynamicPseudoType)
	case bool:
		return cty.BoolVal(x)
	case string:
		return cty.StringVal(x)
	case int64:
		return cty.NumberIntVal(x)
	case int:
		return cty.NumberIntVal(int64(x))
	case float64:
		return cty.NumberFloatVal(x)
	case []any:
		vs := make([]cty.Value, len(x))
		for i, e := range x {
			vs[i] = Value(e)
		}
		return cty.TupleVal(vs)
	case map[string]any:
		vs := make(map[string]cty.Value, len(x))
		for k, e := range x {
			vs[k] = Value(e)
		}
		return cty.ObjectVal(vs)
	}
	panic(fmt.Sprintf("resource.Value: %T is not a JSON value", x))
}
