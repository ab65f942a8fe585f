package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mifbench/mifbench/pkg/config/block"
	"github.com/mifbench/mifbench/pkg/config/lang"
)

// evaluator computes the nodes of a graph once each.
type evaluator struct {
	o      Options
	graph  *graph
	reader *reader
	stack  string
	values map[string]varValue
	diags  hcl.Diagnostics
	config *Config
	// modules counts the instances of module blocks; unfolded is set when there are new ones.
	modules  int
	unfolded bool
}

func (e *evaluator) fail(d ...*hcl.Diagnostic) { e.diags = append(e.diags, d...) }

// all evaluates every node in dependency order.
func (e *evaluator) all() {
	for _, id := range e.graph.order {
		n := e.graph.nodes[id]
		n.inherit(e.graph)
		n.value, n.final = cty.DynamicVal, cty.DynamicVal
		n.run(e, n)
	}
}

// inherit takes over what follows from the dependencies alone.
func (n *node) inherit(g *graph) {
	seen := map[nodeID]bool{}
	add := func(id nodeID) {
		if !seen[id] {
			seen[id] = true
			n.blocks = append(n.blocks, id)
		}
	}
	for _, id := range n.dependencies() {
		dep, ok := g.nodes[id]
		if !ok {
			continue
		}
		n.bad = n.bad || dep.bad
		if _, isResource := g.language.kinds[id.class]; isResource {
			add(id)
			continue
		}
		for _, b := range dep.blocks {
			add(b)
		}
	}
}

// scope is the context of a node's own module.
func (e *evaluator) scope(n *node, final bool) *hcl.EvalContext {
	return e.context(n.mod, n.refs, n.holes, final)
}

// context is an evaluation context with the values of the given references.
func (e *evaluator) context(m *module, refs []ref, holes [][]string, final bool) *hcl.EvalContext {
	tree := map[string]any{}
	for _, h := range holes {
		place(tree, h, cty.DynamicVal)
	}
	for _, r := range refs {
		n := e.graph.nodes[r.node]
		if n == nil || len(r.path) == 0 {
			continue
		}
		v := n.value
		if final {
			v = n.final
		}
		if v == cty.NilVal { // a cycle that was cut
			v = cty.DynamicVal
		}
		place(tree, r.path, v)
	}
	ctx := m.eval.NewChild()
	ctx.Variables = map[string]cty.Value{}
	for name, v := range tree {
		ctx.Variables[name] = objectOf(v)
	}
	return ctx
}

func place(tree map[string]any, path []string, v cty.Value) {
	for _, p := range path[:len(path)-1] {
		next, ok := tree[p].(map[string]any)
		if !ok {
			next = map[string]any{}
			tree[p] = next
		}
		tree = next
	}
	last := path[len(path)-1]
	if _, deeper := tree[last].(map[string]any); !deeper {
		tree[last] = v
	}
}

func objectOf(x any) cty.Value {
	switch x := x.(type) {
	case cty.Value:
		return x
	case map[string]any:
		attrs := make(map[string]cty.Value, len(x))
		for k, v := range x {
			attrs[k] = objectOf(v)
		}
		return cty.ObjectVal(attrs)
	}
	panic(fmt.Sprintf("config: %T in a context", x))
}

// hasFinal tells whether any reference has another value after apply.
func (e *evaluator) hasFinal(refs []ref) bool {
	if len(e.o.Known) == 0 {
		return false
	}
	for _, r := range refs {
		if n := e.graph.nodes[r.node]; n != nil && n.value != cty.NilVal && !n.value.RawEquals(n.final) {
			return true
		}
	}
	return false
}

// value evaluates an expression in a context and improves the diagnostics.
func (e *evaluator) value(expr hcl.Expression, ctx *hcl.EvalContext) (cty.Value, bool) {
	v, diags := expr.Value(ctx)
	e.fail(improve(diags)...)
	if diags.HasErrors() {
		return cty.DynamicVal, false
	}
	if block.Infinite(v) {
		e.fail(block.DivisionByZero(expr, ctx))
		return cty.DynamicVal, false
	}
	if size(v, e.o.Limits.ValueSize) > e.o.Limits.ValueSize {
		e.fail(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Value too large", Subject: expr.Range().Ptr(),
			Detail: fmt.Sprintf("The value is larger than %d MiB.", e.o.Limits.ValueSize>>20)})
		return cty.DynamicVal, false
	}
	return v, true
}

// elementSize is what an element counts beside its text.
const elementSize = 64

// size counts elements and bytes of text, giving up beyond the limit.
func size(v cty.Value, limit int) int {
	v, _ = v.Unmark()
	if v.IsNull() || !v.IsKnown() {
		return 1
	}
	if v.Type() == cty.String {
		return 1 + len(v.AsString())
	}
	n := elementSize
	if v.CanIterateElements() {
		for it := v.ElementIterator(); it.Next() && n <= limit; {
			_, x := it.Element()
			n += size(x, limit-n)
		}
	}
	return n
}

// both evaluates an expression for value and final.
func (e *evaluator) both(n *node, expr hcl.Expression) bool {
	v, ok := e.value(expr, e.scope(n, false))
	n.value, n.final = v, v
	if ok && e.hasFinal(n.refs) {
		n.final, ok = e.value(expr, e.scope(n, true))
	}
	n.bad = n.bad || !ok
	return ok
}

// baseContext is the root of a module's contexts: functions and paths.
func baseContext(m *module, root *module, r *reader, env map[string]string, tables map[string]map[string]function.Function) *hcl.EvalContext {
	funcs, ok := tables[m.dir]
	if !ok {
		funcs = lang.Map(lang.Functions(lang.World{
			Dir:  m.dir,
			Read: r.bytes,
			Env:  func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		}))
		tables[m.dir] = funcs
	}
	cwd, err := os.Getwd()
	if err != nil {
		cwd = "."
	}
	return &hcl.EvalContext{
		Functions: funcs,
		Variables: map[string]cty.Value{"path": cty.ObjectVal(map[string]cty.Value{
			"module": cty.StringVal(filepath.ToSlash(m.dir)),
			"root":   cty.StringVal(filepath.ToSlash(root.dir)),
			"cwd":    cty.StringVal(filepath.ToSlash(cwd)),
		})},
	}
}

func environment(env func() []string) map[string]string {
	out := map[string]string{}
	if env == nil {
		return out
	}
	for _, kv := range env() {
		if k, v, ok := strings.Cut(kv, "="); ok {
			out[k] = v
		}
	}
	return out
}
