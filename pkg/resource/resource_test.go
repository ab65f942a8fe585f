package resource

import (
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"
)

func TestJSON(t *testing.T) {
	big64, _ := new(big.Float).SetString("9223372036854775808")
	for _, c := range []struct {
		name string
		in   cty.Value
		want any
		err  string
	}{
		{"null in an object survives", cty.ObjectVal(map[string]cty.Value{"limits": cty.NullVal(cty.DynamicPseudoType)}), map[string]any{"limits": nil}, ""},
		{"whole number", cty.NumberIntVal(8000), int64(8000), ""},
		{"largest int64", cty.NumberIntVal(1<<63 - 1), int64(1<<63 - 1), ""},
		{"fraction", cty.NumberFloatVal(0.25), 0.25, ""},
		{"beyond 64 bits", cty.ObjectVal(map[string]cty.Value{"n": cty.NumberVal(big64)}), nil, ".n: the whole number 9223372036854775808"},
		{"unknown", cty.ObjectVal(map[string]cty.Value{"a": cty.TupleVal([]cty.Value{cty.UnknownVal(cty.String)})}), nil, ".a[0]: known only after apply"},
		{"text that looks like a number stays text", cty.StringVal("1"), "1", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := JSON(c.in)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("error %v, want %q", err, c.err)
				}
				return
			}
			if d := cmp.Diff(c.want, got); d != "" || err != nil {
				t.Error(d, err)
			}
			if !Value(got).RawEquals(c.in) {
				t.Errorf("Value(JSON(v)) is %#v", Value(got))
			}
		})
	}
}

func TestIDKeyIgnoresVersion(t *testing.T) {
	a := ID{Driver: "kube", APIVersion: "apps/v1", Kind: "Deployment", Namespace: "n", Name: "x"}
	b := a
	b.APIVersion, b.Driver = "apps/v1beta1", "helm"
	if a.Key() != b.Key() || a.Group() != "apps" || (ID{APIVersion: "v1"}).Group() != "" {
		t.Errorf("keys %q, %q", a.Key(), b.Key())
	}
}
