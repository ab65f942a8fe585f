package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mifbench/mifbench/pkg/resource"
)

// metaBlock are the arguments that every resource block takes.
type metaBlock struct {
	ForEach        hcl.Expression  `hcl:"for_each,optional" doc:"A map, object or set of texts: one instance for each element, with each.key and each.value."`
	Count          hcl.Expression  `hcl:"count,optional" doc:"The number of instances, with count.index."`
	DependsOn      hcl.Expression  `hcl:"depends_on,optional" doc:"Blocks that come first without being referred to."`
	ForceConflicts bool            `hcl:"force_conflicts,optional" doc:"Take fields over that another manager owns." default:"false"`
	Adopt          bool            `hcl:"adopt,optional" doc:"Take over objects that exist and are not ours." default:"false"`
	Lifecycle      *lifecycleBlock `hcl:"lifecycle,block" doc:"What may happen to the objects."`
	Timeouts       *timeoutsBlock  `hcl:"timeouts,block" doc:"How long to wait."`
	Wait           *waitBlock      `hcl:"wait,block" doc:"When the objects count as ready, in place of the kind's rule."`
}

// repetition is the part of metaBlock that datasets and scenarios take.
type repetition struct {
	ForEach hcl.Expression `hcl:"for_each,optional" doc:"A map, object or set of texts: one instance for each element, with each.key and each.value."`
	Count   hcl.Expression `hcl:"count,optional" doc:"The number of instances, with count.index."`
}

type lifecycleBlock struct {
	PreventDestroy bool           `hcl:"prevent_destroy,optional" doc:"Refuse plans that would delete the objects." default:"false"`
	KeepOnDestroy  bool           `hcl:"keep_on_destroy,optional" doc:"Leave the objects in the cluster when the stack is destroyed." default:"false"`
	IgnoreChanges  hcl.Expression `hcl:"ignore_changes,optional" doc:"Fields whose changes are left alone: [spec.replicas, \"/metadata/labels/x\"], or all."`
}

type timeoutsBlock struct {
	Create time.Duration `hcl:"create,optional" doc:"Until the new objects are ready."`
	Update time.Duration `hcl:"update,optional" doc:"Until the changed objects are ready."`
	Delete time.Duration `hcl:"delete,optional" doc:"Until the objects are gone."`
}

type waitBlock struct {
	Conditions map[string]string `hcl:"conditions,optional" doc:"Status conditions and the status that they must have."`
	Fields     map[string]string `hcl:"fields,optional" doc:"Dotted paths of fields and the values that they must have."`
	None       bool              `hcl:"none,optional" doc:"Existing is enough." default:"false"`
}

// options are the meta-arguments as objects carry them.
func (m *metaBlock) options() (resource.Options, hcl.Diagnostics) {
	o := resource.Options{ForceConflicts: m.ForceConflicts, Adopt: m.Adopt}
	if t := m.Timeouts; t != nil {
		o.CreateTimeout, o.UpdateTimeout, o.DeleteTimeout = t.Create, t.Update, t.Delete
	}
	if w := m.Wait; w != nil {
		o.Wait = &resource.Wait{Conditions: w.Conditions, Fields: w.Fields, None: w.None}
	}
	if m.Lifecycle == nil {
		return o, nil
	}
	o.PreventDestroy, o.KeepOnDestroy = m.Lifecycle.PreventDestroy, m.Lifecycle.KeepOnDestroy
	var diags hcl.Diagnostics
	o.IgnoreChanges, diags = ignoreChanges(m.Lifecycle.IgnoreChanges)
	return o, diags
}

// ignoreChanges turns a list of fields into JSON pointers. Fields are written as references
// (spec.replicas), as texts with dots, or as JSON pointers; the word all means everything.
func ignoreChanges(e hcl.Expression) ([]string, hcl.Diagnostics) {
	if e == nil {
		return nil, nil
	}
	if hcl.ExprAsKeyword(e) == "all" {
		return []string{"/*"}, nil
	}
	list, diags := hcl.ExprList(e)
	if diags.HasErrors() {
		return nil, hcl.Diagnostics{badIgnore(e)}
	}
	var out []string
	for _, item := range list {
		p, ok := pointer(item)
		if !ok {
			diags = append(diags, badIgnore(item))
			continue
		}
		out = append(out, p)
	}
	return out, diags
}

func badIgnore(e hcl.Expression) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Invalid ignore_changes", Subject: e.Range().Ptr(),
		Detail: "ignore_changes is a list of the object's fields, for example [spec.replicas, \"/metadata/annotations/example.com~1x\"], or the word all."}
}

func pointer(e hcl.Expression) (string, bool) {
	if t, diags := hcl.AbsTraversalForExpr(e); !diags.HasErrors() {
		return traversalPointer(t), true
	}
	v, diags := e.Value(nil)
	if diags.HasErrors() || v.IsNull() || v.Type() != cty.String || v.AsString() == "" {
		return "", false
	}
	text := v.AsString()
	if strings.HasPrefix(text, "/") {
		return text, true
	}
	return "/" + strings.ReplaceAll(text, ".", "/"), true
}

func traversalPointer(t hcl.Traversal) string {
	var b strings.Builder
	for i, s := range t {
		switch s := s.(type) {
		case hcl.TraverseRoot:
			b.WriteString("/" + escapePointer(s.Name))
		case hcl.TraverseAttr:
			b.WriteString("/" + escapePointer(s.Name))
		case hcl.TraverseIndex:
			if name, ok := step(t, i); ok {
				b.WriteString("/" + escapePointer(name))
			} else if s.Key.Type() == cty.Number {
				n, _ := s.Key.AsBigFloat().Int64()
				b.WriteString("/" + strconv.FormatInt(n, 10))
			}
		}
	}
	return b.String()
}

func escapePointer(s string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(s)
}

// unknownValue answers a value that only apply will tell, in a place that plan must know.
func unknownValue(header string) func(a *hcl.Attribute, ctx *hcl.EvalContext) *hcl.Diagnostic {
	return func(a *hcl.Attribute, ctx *hcl.EvalContext) *hcl.Diagnostic {
		culprit, subject := "", a.Expr.Range()
		for _, t := range a.Expr.Variables() {
			if v, diags := t.TraverseAbs(ctx); !diags.HasErrors() && !v.IsWhollyKnown() {
				culprit, subject = fmt.Sprintf(" %s is known only after apply.", traversalText(t)), t.SourceRange()
				break
			}
		}
		return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Value known only after apply", Subject: &subject, Context: a.Range.Ptr(),
			Detail:     fmt.Sprintf("The argument %q of %s must be known when the plan is made.%s Such values may be used in outputs and as the target of scenarios; here use a name or an address that does not depend on apply.", a.Name, header, culprit),
			Expression: a.Expr, EvalContext: ctx}
	}
}

func traversalText(t hcl.Traversal) string {
	var b strings.Builder
	b.WriteString(t.RootName())
	for i := range t[1:] {
		if name, ok := step(t, i+1); ok {
			b.WriteString("." + name)
		} else {
			b.WriteString("[…]")
		}
	}
	return b.String()
}
