package config

import (
	"sort"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// GraphNode is a definition of the configuration.
type GraphNode struct {
	// ID is the address without instance keys: module.x.gateway.mif, var.x, local.y.
	ID string
	// Class is "var", "local", "output", "cluster", "dataset", "scenario" or a resource kind.
	Class string
	// Module is the dotted path, "" for the root.
	Module string
	// Resource tells whether the class is a resource kind.
	Resource bool
	Range    hcl.Range
}

// GraphEdge says that From refers to To.
type GraphEdge struct{ From, To string }

// GraphView is the reference graph of a configuration, for rendering.
type GraphView struct {
	// Nodes are in the order of the sources, Edges sorted.
	Nodes []GraphNode
	Edges []GraphEdge
}

// Graph is the reference graph of a configuration. It holds names only, no values.
func Graph(c *Config) GraphView {
	var v GraphView
	for _, id := range c.graph.source {
		n := c.graph.nodes[id]
		_, isResource := c.graph.language.kinds[id.class]
		v.Nodes = append(v.Nodes, GraphNode{ID: id.String(), Class: id.class, Module: id.module, Resource: isResource, Range: n.rng})
		seen := map[nodeID]bool{}
		for _, dep := range n.dependencies() {
			if !seen[dep] && c.graph.nodes[dep] != nil {
				seen[dep] = true
				v.Edges = append(v.Edges, GraphEdge{id.String(), dep.String()})
			}
		}
	}
	sort.Slice(v.Edges, func(i, j int) bool {
		a, b := v.Edges[i], v.Edges[j]
		return a.From < b.From || a.From == b.From && a.To < b.To
	})
	return v
}

// Eval evaluates an expression in the scope of the root module, after Load. The value may
// be unknown in parts and is marked where it is sensitive (see diagnostic.IsSensitive).
func Eval(c *Config, expr string) (cty.Value, hcl.Diagnostics) {
	const name = "<expression>"
	c.Files[name] = &hcl.File{Bytes: []byte(expr)}
	if d := checkDepth([]byte(expr), name, DefaultLimits().Depth); d != nil {
		return cty.DynamicVal, hcl.Diagnostics{d}
	}
	parsed, diags := hclsyntax.ParseExpression([]byte(expr), name, hcl.InitialPos)
	if diags.HasErrors() {
		return cty.DynamicVal, explainSyntax([]byte(expr), name, diags)
	}
	r := newResolver(c.graph.language, c.graph.root, symbols{})
	r.expression(parsed)
	if r.diags.HasErrors() {
		return cty.DynamicVal, r.diags
	}
	e := &evaluator{graph: c.graph, o: Options{Limits: DefaultLimits()}}
	v, _ := e.value(parsed, e.context(c.graph.root, r.refs, nil, true))
	return v, tidy(e.diags)
}
