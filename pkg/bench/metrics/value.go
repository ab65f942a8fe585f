package metrics

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Value is a figure that may be missing: NaN is "n/a" in text and null in JSON.
type Value float64

// NA is the missing value.
func NA() Value { return Value(math.NaN()) }

// Known tells whether v is a figure.
func (v Value) Known() bool { return !math.IsNaN(float64(v)) && !math.IsInf(float64(v), 0) }

// String is v in the shortest form, or "n/a".
func (v Value) String() string {
	if !v.Known() {
		return "n/a"
	}
	return strconv.FormatFloat(float64(v), 'g', -1, 64)
}

// Fixed is v with the given number of decimals, or "n/a".
func (v Value) Fixed(decimals int) string {
	if !v.Known() {
		return "n/a"
	}
	return strconv.FormatFloat(float64(v), 'f', decimals, 64)
}

// MarshalJSON writes null for a missing value.
func (v Value) MarshalJSON() ([]byte, error) {
	if !v.Known() {
		return []byte("null"), nil
	}
	return json.Marshal(float64(v))
}

// UnmarshalJSON reads null as a missing value.
func (v *Value) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*v = NA()
		return nil
	}
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return fmt.Errorf("not a number: %s", b)
	}
	*v = Value(f)
	return nil
}

// ratio is a/b, or n/a when b is 0.
func ratio(a, b float64) Value {
	if b == 0 || math.IsNaN(a) || math.IsNaN(b) {
		return NA()
	}
	return Value(a / b)
}
