package lang_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/mifbench/mifbench/pkg/config/diagnostic"
	"github.com/mifbench/mifbench/pkg/config/lang"
)

func TestFunctions(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.txt": "hello\n", "t.tpl": "%{ for x in xs ~}\n${x}-${upper(n)}\n%{ endfor ~}\n", "bin": "\xff", "outer.tpl": `<${templatefile("t.tpl", { xs = xs, n = "q" })}>`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	world := lang.World{
		Dir: dir, Read: os.ReadFile,
		Env: func(name string) (string, bool) { return "/home/me", name == "HOME" },
	}
	ctx := &hcl.EvalContext{Functions: lang.Map(lang.Functions(world)), Variables: map[string]cty.Value{
		"secret":  cty.StringVal("s3cret").Mark(diagnostic.Sensitive),
		"unknown": cty.UnknownVal(cty.String),
	}}
	for expr, want := range map[string]string{
		`file("a.txt")`:       `"hello\n"`,
		`file("bin")`:         "error: not UTF-8",
		`filebase64("bin")`:   `"/w=="`,
		`fileexists("a.txt")`: `true`,
		`fileexists("b.txt")`: `false`,
		`fileexists(".")`:     "error: not a regular file",
		`templatefile("t.tpl", { xs = [1, 2], n = "y" })`: `"1-Y\n2-Y\n"`,
		`templatefile("outer.tpl", { xs = [1] })`:         `"\u003c1-Q\n\u003e"`,
		`templatefile("t.tpl", { xs = [1] })`:             `error: uses "n"`,
		`templatefile("t.tpl", 1)`:                        "error: object",
		`env("HOME")`:                                     `"/home/me"`,
		`env("NOPE")`:                                     "error: not set",
		`env("NOPE", "x")`:                                `"x"`,
		`env("NOPE", null)`:                               `null`,
		`pathexpand("~/x")`:                               `"/home/me/x"`,
		`replace("a1b2", "/[0-9]/", "-")`:                 `"a-b-"`,
		`replace("a.b", ".", "-")`:                        `"a-b"`,
		`length("héllo")`:                                 `5`,
		`length([1, 2])`:                                  `2`,
		`length({ a = 1 })`:                               `1`,
		`length(1)`:                                       "error: ",
		`alltrue([true, "true"])`:                         `true`,
		`anytrue([])`:                                     `false`,
		`alltrue([1])`:                                    "error: not a bool",
		`sum([1, 2.5])`:                                   `3.5`,
		`sum(["x"])`:                                      "error: not a number",
		`one([])`:                                         `null`,
		`one(["a"])`:                                      `"a"`,
		`one(["a", "b"])`:                                 "error: at most one",
		`index(["a", "b"], "b")`:                          `1`,
		`index(["a"], "c")`:                               "error: does not hold",
		`startswith("abc", "ab")`:                         `true`,
		`endswith("abc", "ab")`:                           `false`,
		`strcontains("abc", "b")`:                         `true`,
		`base64decode(base64encode("x"))`:                 `"x"`,
		`base64decode("%")`:                               "error: Base64",
		`base64decode("/w==")`:                            "error: UTF-8",
		`sha256("")`:                                      `"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"`,
		`md5("")`:                                         `"d41d8cd98f00b204e9800998ecf8427e"`,
		`sha1("")`:                                        `"da39a3ee5e6b4b0d3255bfef95601890afd80709"`,
		`urlencode("a b&c")`:                              `"a+b%26c"`,
		`yamldecode("a: [1, null, yes]")`:                 `{"a":[1,null,true]}`,
		`yamldecode("a: 1\na: 2")`:                        "error: already set",
		`yamldecode("# nothing")`:                         `null`,
		`yamldecode("---\na: 1\n---\n# end")`:             `{"a":1}`,
		`yamldecode("a: 1\n---\nb: 2")`:                   "error: 2 YAML documents",
		`yamlencode({ b = null, a = ["x"] })`:             `"a:\n- x\nb: null\n"`,
		`yamldecode(yamlencode(12345678901234567890)) == 12345678901234567890`: `true`,
		`issensitive(secret)`:        `true`,
		`issensitive("x")`:           `false`,
		`nonsensitive(secret)`:       `"s3cret"`,
		`nonsensitive("x")`:          "error: not sensitive",
		`issensitive(upper(secret))`: `true`,
		`issensitive(templatefile("t.tpl", { xs = [secret], n = "" }))`: `true`,
		`issensitive(yamldecode(secret))`:                               `true`,
		`try(jsondecode("{"), "no")`:                                    `"no"`,
		`can(tonumber("x"))`:                                            `false`,
		`tolist(toset(["b", "a"]))`:                                     `["a","b"]`,
		`range(8000, 8003)`:                                             `[8000,8001,8002]`,
		`merge({ a = 1 }, { a = null })`:                                `{"a":null}`,
		`format("%5.1f", 2)`:                                            `"  2.0"`,
		`format("%99999d", 2)`:                                          "error: not possible",
		`setproduct(range(1000), range(1000), range(1000))`:             "error: combinations",
		`strrev("abc")`:                                                 `"cba"`,
		`dirname("a/b")`:                                                `"a"`,
		`basename("a/b")`:                                               `"b"`,
	} {
		if got := evaluate(t, ctx, expr); got != want && !(strings.HasPrefix(want, "error: ") && strings.HasPrefix(got, "error: ") && strings.Contains(got, strings.TrimPrefix(want, "error: "))) {
			t.Errorf("%s = %s, want %s", expr, got, want)
		}
	}
}

func evaluate(t *testing.T, ctx *hcl.EvalContext, expr string) string {
	t.Helper()
	e, diags := hclsyntax.ParseExpression([]byte(expr), "x", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	v, diags := e.Value(ctx)
	if diags.HasErrors() {
		return "error: " + diags.Error()
	}
	v, _ = v.UnmarkDeep()
	b, err := ctyjson.Marshal(v, v.Type())
	if err != nil {
		return fmt.Sprint(err)
	}
	return string(b)
}
