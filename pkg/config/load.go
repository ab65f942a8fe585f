package config

import (
	"path/filepath"
	"slices"
	"sort"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mifbench/mifbench/pkg/config/block"
)

// Load reads the configuration in a directory. The Config is never nil: with errors it
// holds what could be read, and the Files for the snippets of the diagnostics; it must not
// be planned with.
func Load(dir string, o Options) (*Config, hcl.Diagnostics) {
	o.Limits = o.Limits.filled()
	l := newLanguage(o.Kinds)
	r := newReader(o.Limits)
	root := newModule("", filepath.Clean(dir), nil)
	c := &collector{language: l, reader: r, flawed: map[*hclsyntax.Block]bool{}}
	c.module(root)

	p := &pass{o: o, collector: c, root: root, env: environment(o.Env)}
	for left := o.Limits.Modules + 1; ; left-- {
		config, diags, again := p.evaluate(dir)
		if again && left == 0 {
			diags = append(diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Repeated modules do not settle",
				Detail: "The keys of the modules with for_each or count still changed after each was known once. Take them from variables and locals."})
		}
		if !again || left == 0 {
			return config, tidy(diags)
		}
	}
}

// pass is what every pass over a configuration begins with.
type pass struct {
	o         Options
	collector *collector
	root      *module
	env       map[string]string
}

// evaluate builds and evaluates the graph; again tells that modules were unfolded, so that
// only another pass says how things are.
func (p *pass) evaluate(dir string) (config *Config, diags hcl.Diagnostics, again bool) {
	r := p.collector.reader
	config = &Config{Dir: dir, Files: r.files}
	e := &evaluator{o: p.o, reader: r, config: config, diags: slices.Clone(p.collector.diags)}
	b := &builder{
		language: p.collector.language, env: p.env, root: p.root, flawed: p.collector.flawed, reader: r, tables: map[string]map[string]function.Function{},
		graph: &graph{language: p.collector.language, nodes: map[nodeID]*node{}, root: p.root},
	}
	e.graph, config.graph = b.graph, b.graph
	b.module(p.root)
	if r.broken {
		// Blocks may have been lost or swallowed: what does not fit together now, will.
		config.Hash = e.hash()
		return config, r.outsideBroken(e.diags), false
	}
	e.fail(b.diags...)
	e.fail(b.graph.sort()...)
	if !onlyFiles(p.collector.diags) {
		e.settings(p.root)
		e.variableValues(p.root, p.env)
		e.all()
		e.gather()
		e.moved(p.root)
	}
	config.Hash = e.hash()
	return config, e.diags, e.unfolded
}

// onlyFiles is true when nothing could be read at all, so that further findings (no value
// for a variable, …) would only be noise.
func onlyFiles(diags hcl.Diagnostics) bool {
	for _, d := range diags {
		if d.Summary == "Unreadable directory" || d.Summary == "No configuration files" || d.Summary == "Too many configuration files" {
			return true
		}
	}
	return false
}

// tidy sorts diagnostics by place and drops repetitions; those without a place come first.
func tidy(in hcl.Diagnostics) hcl.Diagnostics {
	out := block.Paired(dedupe(maskAll(in)))
	sort.SliceStable(out, func(i, j int) bool {
		a, b := out[i].Subject, out[j].Subject
		switch {
		case a == nil || b == nil:
			return a == nil && b != nil
		case a.Filename != b.Filename:
			return a.Filename < b.Filename
		}
		return a.Start.Byte < b.Start.Byte
	})
	return out
}

// builder turns a module tree into nodes.
type builder struct {
	language *language
	graph    *graph
	root     *module
	reader   *reader
	env      map[string]string
	tables   map[string]map[string]function.Function
	flawed   map[*hclsyntax.Block]bool
	diags    hcl.Diagnostics
}

func (b *builder) module(m *module) {
	m.eval = baseContext(m, b.root, b.reader, b.env, b.tables)
	if m.cluster != nil {
		n := &node{id: m.id(classCluster, ""), mod: m, rng: m.cluster.DefRange()}
		b.references(n, symbols{}, func(r *resolver) { r.body(m.cluster.Body, nil) })
		n.run = (&clusterNode{b.language.root[classCluster].schemas[0], m.cluster}).run
		b.graph.add(n)
	}
	if m.call != nil {
		b.arguments(m)
	}
	for _, id := range m.order {
		b.node(m, id)
	}
	for _, name := range sorted(keys(m.modules)) {
		child := m.modules[name]
		if child.repeats() {
			b.repeated(child)
			if len(child.instances) == 0 {
				b.namesOnly(child)
			}
		}
		for _, x := range child.uses() {
			b.module(x)
		}
	}
}

// maxSuggested is how many mistakes get suggestions.
const maxSuggested = 200

func (b *builder) references(n *node, s symbols, visit func(*resolver)) {
	r := newResolver(b.language, n.mod, s)
	r.terse = len(b.diags) > maxSuggested
	visit(r)
	n.refs, n.holes = append(n.refs, r.refs...), append(n.holes, r.holes...)
	n.bad = n.bad || r.diags.HasErrors()
	b.diags = append(b.diags, r.diags...)
}

func (b *builder) node(m *module, id nodeID) {
	n := &node{id: id, mod: m}
	switch id.class {
	case classVariable:
		b.variable(n, m.variables[id.name])
	case classLocal:
		a := m.locals[id.name]
		n.rng = a.NameRange
		b.references(n, symbols{}, func(r *resolver) { r.expression(a.Expr) })
		n.run = func(e *evaluator, n *node) { e.both(n, a.Expr) }
	case classOutput:
		b.output(n, m.outputs[id.name])
	default:
		b.block(n, m.blocks[id.class][id.name])
	}
	b.graph.add(n)
}

func (b *builder) variable(n *node, v *variable) {
	n.rng = v.block.DefRange()
	n.run = v.run
	for _, row := range v.validations {
		b.references(n, symbols{}, func(r *resolver) {
			for _, e := range []hcl.Expression{row.Condition, row.ErrorMessage} {
				if e != nil {
					r.expression(e)
				}
			}
		})
	}
	n.refs = without(n.refs, n.id) // a rule speaks of its own variable
	if m := n.mod; m.parent != nil {
		if a := m.call.Body.Attributes[v.name]; a != nil {
			r := newResolver(b.language, m.parent, m.symbols())
			r.expression(a.Expr)
			n.outer, n.outerHoles, n.bad = r.refs, r.holes, n.bad || r.diags.HasErrors()
			b.diags = append(b.diags, r.diags...)
		}
		if m.own != nil {
			n.after = append(n.after, ref{node: m.parent.id(classInstances, m.call.Labels[0])})
		}
	}
}

func without(refs []ref, id nodeID) []ref {
	var out []ref
	for _, r := range refs {
		if r.node != id {
			out = append(out, r)
		}
	}
	return out
}

func (b *builder) output(n *node, blk *hclsyntax.Block) {
	n.rng = blk.DefRange()
	r, diags := readOutput(b.language, blk)
	b.diags = append(b.diags, diags...)
	n.bad = diags.HasErrors()
	n.run = r.run
	if r.fields.Value != nil {
		b.references(n, symbols{}, func(res *resolver) { res.expression(r.fields.Value) })
	}
	if r.fields.DependsOn != nil {
		b.after(n, n.mod, r.fields.DependsOn)
	}
}

// block makes the node of a resource, dataset or scenario.
func (b *builder) block(n *node, blk *hclsyntax.Block) {
	n.rng, n.flawed = blk.DefRange(), b.flawed[blk]
	attrs := blk.Body.Attributes
	s := symbols{each: attrs["for_each"] != nil, count: attrs["count"] != nil}
	b.references(n, s, func(r *resolver) { r.body(blk.Body, nil) })
	schemas := b.language.root[blk.Type].schemas
	switch blk.Type {
	case classDataset:
		n.run = (&datasetNode{schemas[0], blk}).run
		return
	case classScenario:
		n.run = (&scenarioNode{schemas[0], schemas[1], blk}).run
		return
	}
	n.run = (&resourceNode{b.language.kinds[blk.Type], schemas[1], blk}).run
	if a := attrs["depends_on"]; a != nil {
		b.after(n, n.mod, a.Expr)
	}
	for m := n.mod; m.parent != nil; m = m.parent {
		if a := m.call.Body.Attributes["depends_on"]; a != nil {
			b.after(n, m.parent, a.Expr)
		}
	}
}

func (b *builder) after(n *node, m *module, e hcl.Expression) {
	r := newResolver(b.language, m, symbols{})
	r.dependsOn(e)
	for _, x := range r.refs {
		n.after = append(n.after, ref{node: x.node})
	}
	b.diags = append(b.diags, r.diags...)
}

// arguments holds a module block's arguments against the module's variables.
func (b *builder) arguments(m *module) {
	s := &block.Schema{Attributes: []block.Attribute{{Name: "source"}, {Name: "depends_on"}, {Name: "for_each"}, {Name: "count"}}}
	for _, name := range sorted(keys(m.variables)) {
		s.Attributes = append(s.Attributes, block.Attribute{Name: name})
	}
	given := hclsyntax.Attributes{}
	for name, a := range m.call.Body.Attributes {
		if !slices.Contains(refusedModuleArguments(), name) { // said while collecting
			given[name] = a
		}
	}
	b.diags = append(b.diags, block.CheckNames(header(m.call), &hclsyntax.Body{Attributes: given}, s)...)
}
