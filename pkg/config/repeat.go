package config

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mifbench/mifbench/pkg/resource"
)

// A module block with for_each or count stands for several modules, and how many is known
// only by evaluating. So Load evaluates what is there, unfolds the blocks whose keys came
// out, and begins again until there is nothing left to unfold: one more pass for each level
// of repeated modules in repeated modules.

// repeats tells whether a module block has for_each or count.
func (m *module) repeats() bool {
	return m.call != nil && m.own == nil && (m.call.Body.Attributes["for_each"] != nil || m.call.Body.Attributes["count"] != nil)
}

// uses are the modules that a module block stands for.
func (m *module) uses() []*module {
	if m.repeats() {
		return m.instances
	}
	return []*module{m}
}

// symbols are the names that the arguments of a module block see beside the module's own.
func (m *module) symbols() symbols {
	attrs := m.call.Body.Attributes
	return symbols{each: attrs["for_each"] != nil, count: attrs["count"] != nil}
}

// copyTo is the module's definitions under another path.
func (m *module) copyTo(parent *module, path string) *module {
	c := *m
	c.path, c.parent, c.eval, c.instances, c.unfolded = path, parent, nil, nil, false
	c.order = slices.Clone(m.order)
	for i := range c.order {
		c.order[i].module = path
	}
	c.modules = make(map[string]*module, len(m.modules))
	for name, child := range m.modules {
		c.modules[name] = child.copyTo(&c, c.child(name))
	}
	return &c
}

// repeated makes the two nodes of a module block with for_each or count: its instances, and
// the value that its outputs have together.
func (b *builder) repeated(m *module) {
	call, name := m.call, m.call.Labels[0]
	instances := &node{id: m.parent.id(classInstances, name), mod: m.parent, rng: call.DefRange()}
	for _, a := range []*hclsyntax.Attribute{call.Body.Attributes["for_each"], call.Body.Attributes["count"]} {
		if a != nil {
			b.references(instances, symbols{}, func(r *resolver) { r.expression(a.Expr) })
		}
	}
	instances.run = func(e *evaluator, n *node) { e.unfold(n, m) }
	b.graph.add(instances)

	value := &node{id: m.parent.id(classModule, name), mod: m.parent, rng: call.DefRange(), after: []ref{{node: instances.id}}}
	for _, x := range m.instances {
		for _, out := range sorted(keys(x.outputs)) {
			value.after = append(value.after, ref{node: x.id(classOutput, out)})
		}
	}
	value.run = func(e *evaluator, n *node) { e.moduleValue(n, m) }
	b.graph.add(value)
}

// namesOnly checks a module that has no instance (yet), without evaluating it.
func (b *builder) namesOnly(m *module) {
	scratch := *b
	scratch.graph = &graph{language: b.language, nodes: map[nodeID]*node{}, root: b.root}
	scratch.module(m)
	b.diags = scratch.diags
}

// unfold computes the instances of a module block.
func (e *evaluator) unfold(n *node, m *module) {
	_, list, ok := e.instances(m.call, e.scope(n, false), n.bad)
	if !ok {
		n.bad = true
		return
	}
	if e.modules += len(list); e.modules > e.o.Limits.Instances {
		e.fail(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Too many modules", Subject: m.call.DefRange().Ptr(),
			Detail: fmt.Sprintf("With this block there are more than %d modules, counting those in modules.", e.o.Limits.Instances)})
		n.bad = true
		return
	}
	keys := make([]string, len(list))
	for i, inst := range list {
		keys[i] = m.parent.child(resource.Keyed(m.call.Labels[0], inst.key))
	}
	if known := paths(m.instances); !m.unfolded || !slices.Equal(known, keys) {
		m.unfolded, m.instances = true, nil
		for _, path := range keys {
			m.instances = append(m.instances, m.copyTo(m.parent, path))
		}
		e.unfolded, n.bad = true, true
	}
	for i, inst := range list {
		m.instances[i].own = inst.ctx.Variables
	}
}

func paths(modules []*module) []string {
	out := make([]string, len(modules))
	for i, m := range modules {
		out[i] = m.path
	}
	return out
}

// moduleValue is the outputs of all instances of a module block.
func (e *evaluator) moduleValue(n *node, m *module) {
	if n.bad {
		return
	}
	mode := byKey
	if m.call.Body.Attributes["count"] != nil {
		mode = byCount
	}
	var keys []string
	var values, finals []cty.Value
	for _, x := range m.instances {
		value, final := map[string]cty.Value{}, map[string]cty.Value{}
		for out := range x.outputs {
			o := e.graph.nodes[x.id(classOutput, out)]
			value[out], final[out] = o.value, o.final
		}
		keys = append(keys, x.key())
		values, finals = append(values, cty.ObjectVal(value)), append(finals, cty.ObjectVal(final))
	}
	n.value, n.final = together(mode, keys, values), together(mode, keys, finals)
}
