package diagnostic

import (
	"bytes"
	"fmt"
	"sort"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// HideSource in a diagnostic's Extra keeps the source line out of every presentation: the
// line holds a secret.
const HideSource = mark("hide source")

// snippet is a diagnostic's source, ready to be presented.
type snippet struct {
	// context is the header of the block around the place, "" at the top level.
	context string
	// code are the whole lines of the subject, startLine the number of the first.
	code      string
	startLine int
	// from and to are byte offsets of the subject in code.
	from, to int
	values   []valueOf
	// call is the signature of the function that was called wrongly.
	call string
}

type valueOf struct{ traversal, statement string }

// maxSnippetLines bounds a snippet; long subjects are cut.
const maxSnippetLines = 6

func snippetOf(files map[string]*hcl.File, d *hcl.Diagnostic) *snippet {
	if d.Subject == nil || d.Extra == HideSource {
		return nil
	}
	file := files[d.Subject.Filename]
	if file == nil || file.Bytes == nil {
		return nil
	}
	s := &snippet{values: values(d), call: call(d), context: enclosing(file, d.Subject.Start)}
	src, rng := file.Bytes, *d.Subject
	start := min(rng.Start.Byte, len(src))
	end := min(max(rng.End.Byte, start), len(src))
	lineStart := bytes.LastIndexByte(src[:start], '\n') + 1
	var lineEnd int
	if end > start && src[end-1] == '\n' {
		lineEnd = end - 1
	} else if i := bytes.IndexByte(src[end:], '\n'); i >= 0 {
		lineEnd = end + i
	} else {
		lineEnd = len(src)
	}
	lines := strings.Split(string(src[lineStart:max(lineEnd, lineStart)]), "\n")
	if len(lines) > maxSnippetLines {
		lines = lines[:maxSnippetLines]
	}
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	s.code = strings.Join(lines, "\n")
	s.startLine = rng.Start.Line
	s.from = min(start-lineStart, len(s.code))
	s.to = min(end-lineStart, len(s.code))
	return s
}

// enclosing is the header of the outermost block around a position.
func enclosing(file *hcl.File, pos hcl.Pos) string {
	body, ok := file.Body.(*hclsyntax.Body)
	if !ok {
		return ""
	}
	for _, b := range body.Blocks {
		if r := b.Range(); r.Start.Byte <= pos.Byte && pos.Byte <= r.End.Byte {
			out := b.Type
			for _, l := range b.Labels {
				out += fmt.Sprintf(" %q", l)
			}
			return out
		}
	}
	return ""
}

// values are the values of the references in the diagnostic's expression.
func values(d *hcl.Diagnostic) []valueOf {
	if d.Expression == nil || d.EvalContext == nil {
		return nil
	}
	seen := map[string]bool{}
	var out []valueOf
	for _, t := range d.Expression.Variables() {
		for len(t) > 0 {
			v, diags := t.TraverseAbs(d.EvalContext)
			if diags.HasErrors() {
				t = t[:len(t)-1] // show what there is up to the mistake
				continue
			}
			name := traversal(t)
			if text := statement(v); text != "" && !seen[name] {
				seen[name] = true
				out = append(out, valueOf{name, text})
			}
			break
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].traversal < out[j].traversal })
	return out
}

func traversal(t hcl.Traversal) string {
	var b strings.Builder
	for _, s := range t {
		switch s := s.(type) {
		case hcl.TraverseRoot:
			b.WriteString(s.Name)
		case hcl.TraverseAttr:
			b.WriteString("." + s.Name)
		case hcl.TraverseIndex:
			b.WriteString("[" + Value(s.Key) + "]")
		}
	}
	return b.String()
}

// statement is "is 5" or "has a sensitive value".
func statement(v cty.Value) string {
	if v.IsMarked() && IsSensitive(v) {
		return "has a sensitive value"
	}
	if v.Type() == cty.DynamicPseudoType && !v.IsKnown() {
		return "" // follows from another mistake
	}
	if !v.IsKnown() {
		return fmt.Sprintf("is a %s, known only after apply", v.Type().FriendlyName())
	}
	return "is " + Value(v)
}

// maxText is the longest text that is shown in full.
const maxText = 80

// Value is a value in few words for messages: scalars as they are written, collections by
// their size. Sensitive values are not shown.
func Value(v cty.Value) string {
	if v.IsMarked() {
		if IsSensitive(v) {
			return "(sensitive value)"
		}
		v, _ = v.Unmark()
	}
	switch ty := v.Type(); {
	case !v.IsKnown():
		return "(known after apply)"
	case v.IsNull():
		return "null"
	case ty == cty.Bool:
		return fmt.Sprint(v.True())
	case ty == cty.Number:
		return v.AsBigFloat().Text('f', -1)
	case ty == cty.String:
		s := []rune(v.AsString())
		if len(s) > maxText {
			return fmt.Sprintf("%q… (%d characters)", string(s[:maxText]), len(s))
		}
		return fmt.Sprintf("%q", string(s))
	case ty.IsObjectType():
		return counted("object", v.LengthInt(), "attribute")
	case v.CanIterateElements():
		return counted(ty.FriendlyName(), v.LengthInt(), "element")
	default:
		return ty.FriendlyName()
	}
}

func counted(what string, n int, unit string) string {
	switch n {
	case 0:
		return fmt.Sprintf("%s without %ss", what, unit)
	case 1:
		return fmt.Sprintf("%s with 1 %s", what, unit)
	}
	return fmt.Sprintf("%s with %d %ss", what, n, unit)
}

// call is the signature of the function whose call failed, "" otherwise.
func call(d *hcl.Diagnostic) string {
	extra, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallDiagExtra](d)
	if !ok || d.EvalContext == nil {
		return ""
	}
	name := extra.CalledFunctionName()
	for ctx := d.EvalContext; ctx != nil; ctx = ctx.Parent() {
		f, ok := ctx.Functions[name]
		if !ok {
			continue
		}
		var params []string
		for _, p := range f.Params() {
			params = append(params, p.Name)
		}
		if p := f.VarParam(); p != nil {
			params = append(params, p.Name+"…")
		}
		return fmt.Sprintf("%s(%s)", name, strings.Join(params, ", "))
	}
	return ""
}
