package config

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"

	"github.com/mifbench/mifbench/pkg/config/block"
	"github.com/mifbench/mifbench/pkg/config/diagnostic"
)

// EnvPrefix begins the names of environment variables that set variables.
const EnvPrefix = "MIFBENCH_VAR_"

// varValue is a value from outside, before the variable's type is applied.
type varValue struct {
	source string
	// expr is set for values from files; text for -var and the environment, where a
	// variable of a simple type takes the text as it is.
	expr hcl.Expression
	text *string
}

// subject is the range to blame: the value's own, else the variable's.
func (in varValue) subject(variable hcl.Range) hcl.Range {
	if in.expr != nil {
		return in.expr.Range()
	}
	return variable
}

// value converts to the variable's type.
func (in varValue) value(e *evaluator, v *variable) (cty.Value, bool) {
	expr, raw := in.expr, cty.NilVal
	if in.text != nil {
		if v.typ.IsPrimitiveType() || !v.hasType {
			raw = cty.StringVal(*in.text)
		} else {
			parsed, diags := parseArgument(*in.text, "<value for var."+v.name+">")
			if diags.HasErrors() {
				e.fail(in.unparsable(v, diags))
				return cty.NilVal, false
			}
			expr = parsed
		}
	}
	if expr != nil {
		var diags hcl.Diagnostics
		if raw, diags = expr.Value(nil); diags.HasErrors() {
			e.fail(fileValuesOnly(diags, in.source)...)
			return cty.NilVal, false
		}
	}
	val, err := v.convert(raw)
	if err != nil {
		e.fail(in.unsuitable(v, raw, err))
		return cty.NilVal, false
	}
	return val, true
}

func parseArgument(text, name string) (hcl.Expression, hcl.Diagnostics) {
	if d := checkDepth([]byte(text), name, DefaultLimits().Depth); d != nil {
		return nil, hcl.Diagnostics{d}
	}
	return hclsyntax.ParseExpression([]byte(text), name, hcl.InitialPos)
}

func (in varValue) unparsable(v *variable, diags hcl.Diagnostics) *hcl.Diagnostic {
	why := ""
	if !v.fields.Sensitive {
		why = ": " + diags[0].Detail
	}
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Value is not an expression", Subject: v.block.DefRange().Ptr(),
		Detail: fmt.Sprintf("The value of var.%s from %s must be an expression of its type%s\nQuote texts inside it, and the whole of it for the shell: -var '%s=[\"a\", \"b\"]'.", v.name, in.source, why, v.name)}
}

func (in varValue) unsuitable(v *variable, raw cty.Value, err error) *hcl.Diagnostic {
	rng := in.subject(v.block.DefRange())
	if in.expr != nil {
		d := block.Inappropriate(v.name, in.expr, nil, raw, err)
		d.Summary = "Invalid value for variable"
		d.Detail = fmt.Sprintf("The value of var.%s from %s does not fit its type (%s:%d): %s.", v.name, in.source, v.block.DefRange().Filename, v.block.DefRange().Start.Line, strings.TrimSuffix(err.Error(), "."))
		return d
	}
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Invalid value for variable", Subject: &rng,
		Detail: fmt.Sprintf("The value of var.%s from %s does not fit its type: %s.", v.name, in.source, strings.TrimSuffix(err.Error(), "."))}
}

func fileValuesOnly(diags hcl.Diagnostics, source string) hcl.Diagnostics {
	for _, d := range diags {
		if d.Summary == "Variables not allowed" || d.Summary == "Function calls not allowed" {
			d.Summary = "Plain value required"
			d.Detail = fmt.Sprintf("Values for variables (%s) are plain: no references and no functions. Put a text in quotes.", source)
		}
	}
	return diags
}

// variableValues gathers the values from everywhere; later sources win, as in Terraform:
// environment, mifbench.mifvars(.json), *.auto.mifvars(.json) by name, then -var and
// -var-file in the order given.
func (e *evaluator) variableValues(root *module, env map[string]string) {
	e.values = map[string]varValue{}
	for name, text := range env {
		if v, ok := strings.CutPrefix(name, EnvPrefix); ok && root.variables[v] != nil {
			e.values[v] = varValue{source: "environment variable " + name, text: &text}
		}
	}
	for _, file := range autoFiles(root.dir) {
		e.varFile(root, filepath.Join(root.dir, file), file)
	}
	for _, arg := range e.o.Vars {
		if arg.File != "" {
			e.varFile(root, arg.File, arg.File)
			continue
		}
		e.assignment(root, arg.Assignment)
	}
}

func autoFiles(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // the configuration's reader has said it
	}
	var first, auto []string
	for _, entry := range entries { // sorted by name
		switch name := entry.Name(); {
		case name == "mifbench.mifvars" || name == "mifbench.mifvars.json":
			first = append(first, name)
		case strings.HasSuffix(name, ".auto.mifvars") || strings.HasSuffix(name, ".auto.mifvars.json"):
			auto = append(auto, name)
		}
	}
	return append(first, auto...)
}

// varFile reads one file of values.
func (e *evaluator) varFile(root *module, path, shown string) {
	src, err := e.reader.bytes(path)
	e.reader.values[path] = true
	if err != nil {
		e.fail(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Unreadable variables file", Detail: sentence(err)})
		return
	}
	src = bytes.TrimPrefix(src, []byte("\xef\xbb\xbf"))
	attrs, diags := e.parseVars(src, e.reader.shown(path))
	hideSensitiveLines(root, src, diags)
	e.fail(diags...)
	for name, a := range attrs {
		if root.variables[name] == nil {
			e.fail(&hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: "Value for undeclared variable", Subject: a.NameRange.Ptr(), Context: a.Range.Ptr(),
				Detail: fmt.Sprintf("The file sets %q, but no variable block declares it.%s", name, diagnostic.DidYouMean(name, keys(root.variables)))})
			continue
		}
		e.values[name] = varValue{source: fmt.Sprintf("%s:%d", shown, a.NameRange.Start.Line), expr: a.Expr}
	}
}

// hideSensitiveLines hides the source of syntax errors in files that set a sensitive
// variable: where its value begins and ends is not certain.
func hideSensitiveLines(root *module, src []byte, diags hcl.Diagnostics) {
	for _, v := range root.variables {
		if v.fields.Sensitive && bytes.Contains(src, []byte(v.name)) {
			for _, d := range diags {
				d.Extra = diagnostic.HideSource
			}
			return
		}
	}
}

func (e *evaluator) parseVars(src []byte, name string) (hcl.Attributes, hcl.Diagnostics) {
	e.reader.files[name] = &hcl.File{Bytes: src}
	if d := varsDepth(src, name, e.o.Limits.Depth); d != nil {
		return nil, hcl.Diagnostics{d}
	}
	var file *hcl.File
	var diags hcl.Diagnostics
	if strings.HasSuffix(name, ".json") {
		file, diags = json.Parse(src, name)
	} else if file, diags = hclsyntax.ParseConfig(src, name, hcl.InitialPos); diags.HasErrors() {
		diags = explainSyntax(src, name, diags)
	}
	if file == nil || file.Body == nil {
		return nil, diags
	}
	e.reader.files[name] = file
	attrs, d := file.Body.JustAttributes()
	return attrs, append(diags, d...)
}

func varsDepth(src []byte, name string, limit int) *hcl.Diagnostic {
	if !strings.HasSuffix(name, ".json") {
		return checkDepth(src, name, limit)
	}
	depth, inText := 0, false
	for i := 0; i < len(src); i++ {
		switch c := src[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case !inText && (c == '[' || c == '{'):
			depth++
		case !inText && (c == ']' || c == '}'):
			depth--
		}
		if depth > limit {
			return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Nesting too deep",
				Detail: fmt.Sprintf("Brackets in %s are nested more than %d deep.", name, limit)}
		}
	}
	return nil
}

// assignment reads name=value of -var.
func (e *evaluator) assignment(root *module, arg string) {
	name, text, ok := strings.Cut(arg, "=")
	name = strings.TrimSpace(name)
	if !ok || name == "" {
		e.fail(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Invalid -var option",
			Detail: "A -var option has the form name=value, for example: -var 'client_node=worker-1'."})
		return
	}
	if root.variables[name] == nil {
		e.fail(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Value for undeclared variable",
			Detail: fmt.Sprintf("The option -var sets %q, but no variable block declares it.%s Declared are: %s.", name,
				diagnostic.DidYouMean(name, keys(root.variables)), orNone(keys(root.variables)))})
		return
	}
	e.values[name] = varValue{source: "-var", text: &text}
}
