package lang

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mifbench/mifbench/pkg/config/diagnostic"
)

// maxTemplateDepth bounds templates that render templates.
const maxTemplateDepth = 32

func templateFileFunc(w World) function.Function { return templateFile(w, nil) }

// templateFile knows the files that are being rendered above it, so that a template that
// renders itself is answered with the path instead of an exhausted stack.
func templateFile(w World, above []string) function.Function {
	render := func(args []cty.Value) (cty.Value, error) {
		path := args[0].AsString()
		for _, p := range above {
			if p == w.path(path) {
				return cty.NilVal, function.NewArgErrorf(0, "the template %s renders itself: %s", path, strings.Join(append(above, w.path(path)), " → "))
			}
		}
		if len(above) >= maxTemplateDepth {
			return cty.NilVal, function.NewArgErrorf(0, "templates are nested more than %d deep", maxTemplateDepth)
		}
		return renderTemplate(w, path, args[1], above)
	}
	return function.New(&function.Spec{
		Params: []function.Parameter{param("path", cty.String), {Name: "variables", Type: cty.DynamicPseudoType, AllowMarked: true}},
		Type: func(args []cty.Value) (cty.Type, error) {
			if !args[0].IsKnown() || !args[1].IsKnown() {
				return cty.DynamicPseudoType, nil
			}
			v, err := render(args)
			if err != nil {
				return cty.NilType, err
			}
			return v.Type(), nil
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return render(args) },
	})
}

func renderTemplate(w World, path string, vars cty.Value, above []string) (cty.Value, error) {
	src, err := w.Read(w.path(path))
	if err != nil {
		return cty.NilVal, function.NewArgError(0, err)
	}
	expr, diags := hclsyntax.ParseTemplate(src, path, hcl.InitialPos)
	if diags.HasErrors() {
		return cty.NilVal, function.NewArgError(0, diags)
	}
	raw, marks := vars.Unmark()
	if ty := raw.Type(); !ty.IsObjectType() && !ty.IsMapType() {
		return cty.NilVal, function.NewArgErrorf(1, "an object with the template's variables is required, not %s", ty.FriendlyName())
	}
	values := raw.AsValueMap()
	for name, v := range values {
		values[name] = v.WithMarks(marks)
	}
	for _, t := range expr.Variables() {
		if _, ok := values[t.RootName()]; !ok {
			return cty.NilVal, function.NewArgErrorf(1, "the template %s uses %q at line %d, which is not among the variables given%s",
				path, t.RootName(), t.SourceRange().Start.Line, meant(t.RootName(), keys(values)))
		}
	}
	funcs := Map(pureAndFiles(w, append(append([]string(nil), above...), w.path(path))))
	v, diags := expr.Value(&hcl.EvalContext{Variables: values, Functions: funcs})
	if diags.HasErrors() {
		return cty.NilVal, fmt.Errorf("in template %s: %s", path, strings.TrimSuffix(diags.Error(), "."))
	}
	return v, nil
}

// meant is the suggestion as an aside, since what calls functions ends the sentence.
func meant(name string, known []string) string {
	if n := diagnostic.Nearest(name, known); n != "" {
		return fmt.Sprintf(" (did you mean %q?)", n)
	}
	return ""
}

// pureAndFiles is the table for the inside of a template.
func pureAndFiles(w World, above []string) []Function {
	table := Functions(w)
	for i := range table {
		if table[i].Name == "templatefile" {
			table[i].Func = templateFile(w, above)
		}
	}
	return table
}

func keys(m map[string]cty.Value) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	return out
}
