package block_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mifbench/mifbench/pkg/config/block"
	"github.com/mifbench/mifbench/pkg/config/diagnostic"
)

type options struct {
	Text    string            `hcl:"text" doc:"Text." enum:"a,b"`
	Number  *int64            `hcl:"number,optional" doc:"Number." default:"7"`
	Share   float64           `hcl:"share,optional" doc:"Share."`
	Wait    time.Duration     `hcl:"wait,optional" doc:"Wait." default:"5s"`
	Modes   []string          `hcl:"modes,optional" doc:"Modes." enum:"x,y"`
	Labels  map[string]string `hcl:"labels,optional" doc:"Labels."`
	Any     cty.Value         `hcl:"any,optional" doc:"Any."`
	Raw     hcl.Expression    `hcl:"raw,optional" doc:"Raw."`
	One     *inner            `hcl:"one,block" doc:"At most one."`
	Many    []inner           `hcl:"many,block" doc:"Any number."`
	Skipped string
}

type inner struct {
	Label string `hcl:"label,label" doc:"Label."`
	Value int64  `hcl:"value" doc:"Value."`
}

func decode(t *testing.T, src string) (options, *block.Decoded, hcl.Diagnostics) {
	t.Helper()
	f, diags := hclsyntax.ParseConfig([]byte(src), "x", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	s := block.Of("thing", "A thing.", options{})
	body := f.Body.(*hclsyntax.Body)
	names := block.CheckNames("thing", body, s)
	var o options
	ctx := &hcl.EvalContext{Variables: map[string]cty.Value{
		"secret": cty.StringVal("s3cret").Mark(diagnostic.Sensitive), "later": cty.UnknownVal(cty.String),
	}}
	d, diags := s.Decode(block.Source{
		Header: "thing", Body: body, Ctx: ctx,
		Unknown: func(a *hcl.Attribute, _ cty.Value) *hcl.Diagnostic {
			return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "unknown " + a.Name}
		},
	}, &o)
	return o, d, append(names, diags...)
}

func TestDecode(t *testing.T) {
	o, d, diags := decode(t, `
text   = "a"
share  = "0.5"
modes  = ["x", "y"]
labels = { a = 1, b = secret }
any    = { x = null }
raw    = not.evaluated
one "l" { value = 1 }
many "p" { value = 2 }
many "q" { value = "3" }
`)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if *o.Number != 7 || o.Wait != 5*time.Second || o.Share != 0.5 || o.Raw == nil || o.One.Label != "l" {
		t.Errorf("%+v", o)
	}
	if diff := cmp.Diff([]inner{{"p", 2}, {"q", 3}}, o.Many); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"a": "1", "b": "s3cret"}, o.Labels); diff != "" {
		t.Error(diff)
	}
	if !o.Any.GetAttr("x").IsNull() {
		t.Errorf("%#v", o.Any)
	}
	if diff := cmp.Diff([]string{"s3cret"}, d.Secrets); diff != "" {
		t.Error(diff)
	}
	if !diagnostic.IsSensitive(d.Values["labels"]) || d.Values["number"].AsBigFloat().String() != "7" {
		t.Errorf("%#v", d.Values)
	}
}

func TestDecodeTellsAllMistakes(t *testing.T) {
	_, _, diags := decode(t, `
txt    = "a"
number = 1.5
wait   = "soon"
modes  = ["x", "z"]
labels = { a = [1] }
any    = later
one "l" { value = 1 }
one "m" { value = 1 }
many { value = 2 }
one = 1
`)
	var got []string
	for _, d := range diags {
		got = append(got, d.Summary)
	}
	for _, want := range []string{
		"Unsupported argument", "Invalid value", "Unsupported value", "Incorrect attribute value type",
		"unknown any", "Duplicate block", "Wrong number of labels", "Missing required argument",
	} {
		if !strings.Contains(strings.Join(got, "; "), want) {
			t.Errorf("%q is missing from %q", want, got)
		}
	}
}
