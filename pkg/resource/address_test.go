package resource

import (
	"strings"
	"testing"
)

func TestAddressesRoundTrip(t *testing.T) {
	for text, want := range map[string]Address{
		`gateway.mif`:                        {Kind: "gateway", Name: "mif"},
		`gateway.mif["a"]`:                   {Kind: "gateway", Name: "mif", Key: `"a"`},
		`gateway.mif["a \"quoted].[\" key"]`: {Kind: "gateway", Name: "mif", Key: StringKey(`a "quoted].[" key`)},
		`gateway.mif[0]`:                     {Kind: "gateway", Name: "mif", Key: "0"},
		`module.x.gateway.mif`:               {Module: "x", Kind: "gateway", Name: "mif"},
		`module.x["v1.2"].gateway.mif`:       {Module: `x["v1.2"]`, Kind: "gateway", Name: "mif"},
		`module.x["a].module.y"].module.z[1].gateway.mif["b"]`: {Module: `x["a].module.y"].z[1]`, Kind: "gateway", Name: "mif", Key: `"b"`},
		`module.x["q\"u.o"].a.b`:                               {Module: `x["q\"u.o"]`, Kind: "a", Name: "b"},
	} {
		got, err := ParseAddress(text)
		if err != nil || got != want || want.String() != text {
			t.Errorf("%s: %+v %v, printed %s", text, got, err, want)
		}
	}
}

func TestBadAddressesSayWhy(t *testing.T) {
	for text, want := range map[string]string{
		``:                   "not of the form",
		`gateway`:            "not of the form",
		`gateway.`:           "not of the form",
		`gateway.a.`:         "not of the form",
		`gateway["a"].b`:     "not of the form",
		`module.x`:           `not of the form`,
		`module["a"].x.b.c`:  "not of the form",
		`gateway.a[`:         "not closed",
		`gateway.a[x]`:       "neither a number",
		"gateway.a[`x`]":     "neither a number",
		`module.x[y].b.c`:    "neither a number",
		`module.m.x.b.c.d.e`: "not of the form",
	} {
		if _, err := ParseAddress(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func FuzzParseAddress(f *testing.F) {
	f.Add(`module.x.gateway.mif["a"]`)
	f.Fuzz(func(t *testing.T, s string) {
		a, err := ParseAddress(s)
		if err != nil {
			return
		}
		if b, err := ParseAddress(a.String()); err != nil || b != a {
			t.Errorf("%q: %+v reads back as %+v, %v", s, a, b, err)
		}
	})
}
