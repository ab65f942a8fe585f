package config

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mifbench/mifbench/pkg/config/diagnostic"
	"github.com/mifbench/mifbench/pkg/resource"
)

// nodeID names a definition: its module's path, its class or block type, its name.
type nodeID struct{ module, class, name string }

// String is the address as an author writes it, with the module in front.
func (n nodeID) String() string {
	prefix := resource.ModulePrefix(n.module)
	switch n.class {
	case classCluster:
		return prefix + n.class
	case classInstances:
		return prefix + classModule + "." + n.name + " (its instances)"
	}
	return prefix + n.class + "." + n.name
}

// ref is one reference: where its value goes in the evaluation context, and whose it is.
type ref struct {
	path []string // e.g. "var", "x"
	node nodeID
}

// symbols are the names that only some blocks have.
type symbols struct{ each, count bool }

// resolver finds the definitions that traversals mean.
type resolver struct {
	language *language
	m        *module
	symbols  symbols
	diags    hcl.Diagnostics
	refs     []ref
	seen     map[nodeID]bool
	// holes are paths of references that failed; they evaluate to an unknown value, so that
	// one mistake is told once.
	holes [][]string
	// terse leaves suggestions out, which cost time when there are thousands of mistakes.
	terse bool
}

func newResolver(l *language, m *module, s symbols) *resolver {
	return &resolver{language: l, m: m, symbols: s, seen: map[nodeID]bool{}}
}

func (r *resolver) expression(e hcl.Expression) {
	for _, t := range e.Variables() {
		r.traversal(t)
	}
}

// body visits every expression of a body at any depth. Iterators of dynamic blocks are
// names of their own inside content; what is a list of names rather than of values is left
// to its owner.
func (r *resolver) body(b *hclsyntax.Body, own []string) {
	for _, name := range sorted(keys(b.Attributes)) {
		if name == "depends_on" || name == "ignore_changes" || name == "iterator" {
			continue
		}
		for _, t := range b.Attributes[name].Expr.Variables() {
			if !slices.Contains(own, t.RootName()) {
				r.traversal(t)
			}
		}
	}
	for _, nested := range b.Blocks {
		r.body(nested.Body, append(own[:len(own):len(own)], iterator(nested)...))
	}
}

// iterator is the name that a dynamic block brings.
func iterator(b *hclsyntax.Block) []string {
	if b.Type != "dynamic" || len(b.Labels) == 0 {
		return nil
	}
	if a := b.Body.Attributes["iterator"]; a != nil {
		if t, diags := hcl.AbsTraversalForExpr(a.Expr); !diags.HasErrors() {
			return []string{t.RootName()}
		}
	}
	return []string{b.Labels[0]}
}

func (r *resolver) traversal(t hcl.Traversal) {
	switch root := t.RootName(); root {
	case "path":
		r.path(t)
	case "each":
		r.symbol(t, r.symbols.each, "for_each", []string{"key", "value"})
	case "count":
		r.symbol(t, r.symbols.count, "count", []string{"index"})
	case classVariable, classLocal:
		r.named(t, root)
	case classModule:
		r.moduleOutput(t)
	default:
		if _, ok := r.language.kinds[root]; ok || root == classDataset {
			r.named(t, root)
			return
		}
		r.unknown(t)
	}
}

func (r *resolver) add(node nodeID, path ...string) {
	if !r.seen[node] {
		r.seen[node] = true
		r.refs = append(r.refs, ref{path, node})
	}
}

// step is the name in a traversal's step, ok when it is one: .name or ["name"].
func step(t hcl.Traversal, i int) (string, bool) {
	if i >= len(t) {
		return "", false
	}
	switch s := t[i].(type) {
	case hcl.TraverseAttr:
		return s.Name, true
	case hcl.TraverseIndex:
		if s.Key.Type() == cty.String {
			return s.Key.AsString(), true
		}
	}
	return "", false
}

func (r *resolver) named(t hcl.Traversal, class string) {
	name, ok := step(t, 1)
	if !ok {
		r.fail(t, "Incomplete reference", fmt.Sprintf("%q must be followed by a name: %s.NAME.%s", class, class, r.existing(class)))
		return
	}
	if !r.exists(class, name) {
		word := map[string]string{classVariable: "an input variable", classLocal: "a local value"}[class]
		if word == "" {
			word = fmt.Sprintf("a %s block", class)
		}
		hint := ""
		if !r.terse {
			hint = diagnostic.DidYouMean(name, r.m.names(class))
		}
		if hint == "" {
			hint = r.existing(class)
		}
		r.fail(t, "Reference to something undeclared", fmt.Sprintf("There is no %s named %q%s.%s", word[indexAfterArticle(word):], name, r.where(), hint))
		return
	}
	r.add(r.m.id(class, name), class, name)
}

// indexAfterArticle is where the noun begins in "a noun" or "an noun".
func indexAfterArticle(s string) int {
	for i, c := range s {
		if c == ' ' {
			return i + 1
		}
	}
	return 0
}

func (r *resolver) existing(class string) string {
	if r.terse {
		return ""
	}
	if names := r.m.names(class); len(names) > 0 {
		return fmt.Sprintf(" Declared are: %s.", diagnostic.List(names))
	}
	return ""
}

func (r *resolver) where() string {
	if r.m.path == "" {
		return ""
	}
	return fmt.Sprintf(" in module %s (%s); a module sees its own definitions only", r.m.call.Labels[0], r.m.dir)
}

func (r *resolver) exists(class, name string) bool {
	return r.m.has(class, name)
}

func (r *resolver) moduleOutput(t hcl.Traversal) {
	name, ok := step(t, 1)
	if !ok || !r.exists(classModule, name) {
		r.named(t, classModule)
		return
	}
	child := r.m.modules[name]
	if child.repeats() {
		r.instanceOutput(t, child)
		return
	}
	out, ok := step(t, 2)
	if !ok {
		for _, o := range sorted(keys(child.outputs)) {
			r.add(child.id(classOutput, o), classModule, name, o)
		}
		if len(child.outputs) == 0 {
			r.fail(t, "Module without outputs", fmt.Sprintf("The module %q has no output blocks, so there is nothing to refer to.", name))
		}
		return
	}
	if r.output(t, child, out) {
		r.add(child.id(classOutput, out), classModule, name, out)
	}
}

// output tells whether a module has an output.
func (r *resolver) output(t hcl.Traversal, child *module, out string) bool {
	if child.outputs[out] != nil {
		return true
	}
	names := keys(child.outputs)
	r.fail(t, "Reference to something undeclared", fmt.Sprintf("The module %q has no output named %q.%s Its outputs: %s.", child.call.Labels[0], out, diagnostic.DidYouMean(out, names), orNone(names)))
	return false
}

// instanceOutput is a reference to a module block with for_each or count.
func (r *resolver) instanceOutput(t hcl.Traversal, child *module) {
	name := child.call.Labels[0]
	if len(t) > 2 {
		if attr, ok := t[2].(hcl.TraverseAttr); ok {
			one, all := fmt.Sprintf("module.%s[KEY].%s", name, attr.Name), fmt.Sprintf("values(module.%s)[*].%s", name, attr.Name)
			if child.call.Body.Attributes["count"] != nil {
				one, all = fmt.Sprintf("module.%s[0].%s", name, attr.Name), fmt.Sprintf("module.%s[*].%s", name, attr.Name)
			}
			r.fail(t, "Module has several instances", fmt.Sprintf("module.%s is repeated, so say which instance is meant: %s, or %s for all of them.", name, one, all))
			return
		}
	}
	if len(t) > 3 {
		if attr, ok := t[3].(hcl.TraverseAttr); ok && !r.output(t, child, attr.Name) {
			return
		}
	}
	r.add(r.m.id(classModule, name), classModule, name)
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return diagnostic.List(names)
}

func (r *resolver) symbol(t hcl.Traversal, available bool, meta string, members []string) {
	root := t.RootName()
	if !available {
		r.fail(t, fmt.Sprintf("Invalid %q attribute", root), fmt.Sprintf("%s.%s is there only in blocks that have %s; this one does not.", root, members[0], meta))
		return
	}
	if name, ok := step(t, 1); !ok || !slices.Contains(members, name) {
		r.fail(t, fmt.Sprintf("Invalid %q attribute", root), fmt.Sprintf("%q has %s only.%s", root, diagnostic.List(members), diagnostic.DidYouMean(name, members)))
	}
}

func (r *resolver) path(t hcl.Traversal) {
	members := []string{"cwd", "module", "root"}
	if name, ok := step(t, 1); !ok || !slices.Contains(members, name) {
		r.fail(t, "Invalid \"path\" attribute", fmt.Sprintf("\"path\" has %s only.%s", diagnostic.List(members), diagnostic.DidYouMean(name, members)))
	}
}

// unknown answers a first word that means nothing: usually a text without quotes, a
// variable without var. or a misspelt kind.
func (r *resolver) unknown(t hcl.Traversal) {
	root := t.RootName()
	if len(t) == 1 {
		r.fail(t, "Invalid reference", r.bare(root))
		return
	}
	if name, ok := step(t, 1); ok && (root == "vars" || root == "variable" || root == "variables" || root == "locals" || root == "modules") {
		class := map[byte]string{'v': classVariable, 'l': classLocal, 'm': classModule}[root[0]]
		r.fail(t, "Invalid reference", fmt.Sprintf("There is no %q here. Did you mean %s.%s?", root, class, name))
		return
	}
	roots := append(keys(r.language.kinds), classVariable, classLocal, classModule, classDataset, "path", "each", "count")
	if root == classScenario || root == classOutput {
		r.fail(t, "Invalid reference", fmt.Sprintf("Nothing can refer to %s blocks; put what both places need into a local.", root))
		return
	}
	if root == "data" || root == "resource" || root == "terraform" || root == "self" {
		r.fail(t, "Invalid reference", fmt.Sprintf("There is no %q here; references are kind.name.attribute, var.name, local.name, module.name.output, dataset.name and path.module.", root))
		return
	}
	r.fail(t, "Reference to something undeclared", fmt.Sprintf("Nothing is called %q here.%s A reference begins with one of: %s.", root, diagnostic.DidYouMean(root, roots), diagnostic.List(roots)))
}

func (r *resolver) bare(root string) string {
	for _, class := range []string{classVariable, classLocal} {
		if r.exists(class, root) {
			return fmt.Sprintf("A reference to the name %q needs its class in front: %s.%s. If you meant text, put it in quotes: %q.", root, class, root, root)
		}
	}
	hint := ""
	for _, class := range []string{classVariable, classLocal} {
		if n := diagnostic.Nearest(root, r.m.names(class)); n != "" && hint == "" {
			hint = fmt.Sprintf(" Did you mean %s.%s?", class, n)
		}
	}
	return fmt.Sprintf("A single word is not a reference. If you meant text, put it in quotes: %q.%s", root, hint)
}

func (r *resolver) fail(t hcl.Traversal, summary, detail string) {
	hole := []string{t.RootName()}
	for i := 1; i < 3; i++ {
		if name, ok := step(t, i); ok && len(hole) == i {
			hole = append(hole, name)
		}
	}
	r.holes = append(r.holes, hole)
	r.diags = append(r.diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: t.SourceRange().Ptr()})
}
