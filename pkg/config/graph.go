package config

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mifbench/mifbench/internal/dag"
	"github.com/mifbench/mifbench/pkg/resource"
)

// node is a definition on its way from source to value.
type node struct {
	id  nodeID
	mod *module
	rng hcl.Range
	// refs are the references in the module's own scope; outer those in the caller's, for
	// variables that a module block sets; after are dependencies without a value.
	refs, outer, after []ref
	// holes are references that failed, of refs and of outer.
	holes, outerHoles [][]string
	run               func(*evaluator, *node)

	// value is what resources may see; final is the same with values known after apply.
	value, final cty.Value
	// flawed blocks have wrong names inside, so their kind is not asked to judge the rest.
	flawed bool
	// bad nodes had errors, or refer to nodes that had: nothing that follows from their
	// unknown values is held against the author.
	bad bool
	// blocks are the resource nodes that the value comes from, directly or not.
	blocks []nodeID
	// resources, and what else the node produced.
	resources []Resource
}

// graph is all nodes, in the order of the sources and in the order of evaluation.
type graph struct {
	language *language
	nodes    map[nodeID]*node
	source   []nodeID
	order    []nodeID
	root     *module
}

func (g *graph) add(n *node) {
	g.nodes[n.id] = n
	g.source = append(g.source, n.id)
}

func (n *node) dependencies() []nodeID {
	out := make([]nodeID, 0, len(n.refs)+len(n.outer)+len(n.after))
	for _, list := range [][]ref{n.refs, n.outer, n.after} {
		for _, r := range list {
			out = append(out, r.node)
		}
	}
	return out
}

// maxCycles bounds how many cycles are shown.
const maxCycles = 10

// sort orders the nodes; each cycle is a diagnostic, and cut open so that the rest of the
// configuration is checked too. After maxCycles there is no order and nothing is evaluated.
func (g *graph) sort() hcl.Diagnostics {
	var diags hcl.Diagnostics
	cut := map[[2]nodeID]bool{}
	for len(diags) < maxCycles {
		d := dag.New[nodeID]()
		for _, id := range g.resourcesFirst() {
			d.Add(id)
		}
		for _, id := range g.source {
			for _, dep := range g.nodes[id].dependencies() {
				if !cut[[2]nodeID{id, dep}] {
					d.Edge(id, dep)
				}
			}
		}
		path := d.Cycle()
		if path == nil {
			order, err := d.TopoOrder()
			if err != nil {
				panic(err) // Cycle found none
			}
			g.order = order
			return diags
		}
		diags = append(diags, g.cycle(path))
		for _, id := range path {
			g.nodes[id].bad = true
		}
		cut[[2]nodeID{path[len(path)-2], path[len(path)-1]}] = true
	}
	return append(diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Too many cycles",
		Detail: fmt.Sprintf("After %d cycles the rest of the configuration was not checked.", maxCycles)})
}

// resourcesFirst makes the creation order that of the resource blocks in the sources,
// whatever refers to them.
func (g *graph) resourcesFirst() []nodeID {
	var resources, others []nodeID
	for _, id := range g.source {
		if _, ok := g.language.kinds[id.class]; ok {
			resources = append(resources, id)
		} else {
			others = append(others, id)
		}
	}
	return append(resources, others...)
}

func (g *graph) cycle(path []nodeID) *hcl.Diagnostic {
	names := make([]string, len(path))
	var places []string
	for i, id := range path {
		names[i] = id.String()
		if r := g.nodes[id].rng; i < len(path)-1 {
			places = append(places, fmt.Sprintf("  %s at %s:%d", id, r.Filename, r.Start.Line))
		}
	}
	detail := fmt.Sprintf("%s: each refers to the next, so none can come first. Break the chain by passing one of the values from a variable or a local.\n%s",
		strings.Join(names, " → "), strings.Join(places, "\n"))
	if len(path) == 2 {
		detail = fmt.Sprintf("%s refers to itself.", names[0])
	}
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Cycle", Subject: g.nodes[path[0]].rng.Ptr(), Detail: detail}
}

// address is the address of a node's block, without an instance key.
func (id nodeID) address() resource.Address {
	return resource.Address{Module: id.module, Kind: id.class, Name: id.name}
}
