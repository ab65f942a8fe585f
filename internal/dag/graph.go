package dag

// Graph is a directed graph of comparable nodes; the zero value is not usable, see New.
type Graph[K comparable] struct {
	nodes []K       // in order of addition
	index map[K]int // position in nodes
	deps  [][]int   // deps[i]: what node i depends on, in order of addition
	seen  map[edge]struct{}
}

type edge struct{ from, to int }

// New is an empty graph.
func New[K comparable]() *Graph[K] {
	return &Graph[K]{index: map[K]int{}, seen: map[edge]struct{}{}}
}

// Add adds a node; a second time it does nothing.
func (g *Graph[K]) Add(node K) { g.add(node) }

func (g *Graph[K]) add(node K) int {
	if i, ok := g.index[node]; ok {
		return i
	}
	i := len(g.nodes)
	g.index[node] = i
	g.nodes = append(g.nodes, node)
	g.deps = append(g.deps, nil)
	return i
}

// Edge says that from depends on dependsOn, adding both when they are new. An edge that
// exists is not added again; an edge from a node to itself is a cycle.
func (g *Graph[K]) Edge(from, dependsOn K) {
	e := edge{g.add(from), g.add(dependsOn)}
	if _, ok := g.seen[e]; ok {
		return
	}
	g.seen[e] = struct{}{}
	g.deps[e.from] = append(g.deps[e.from], e.to)
}

// Has tells whether the node was added.
func (g *Graph[K]) Has(node K) bool {
	_, ok := g.index[node]
	return ok
}

// Len is the number of nodes.
func (g *Graph[K]) Len() int { return len(g.nodes) }

// Nodes are all nodes in order of addition.
func (g *Graph[K]) Nodes() []K { return append([]K(nil), g.nodes...) }

// DependsOn are the direct dependencies of a node in order of addition, nil for an
// unknown node.
func (g *Graph[K]) DependsOn(node K) []K {
	i, ok := g.index[node]
	if !ok {
		return nil
	}
	return g.pick(g.deps[i])
}

// Dependents are the nodes that depend on the node directly, in order of addition.
func (g *Graph[K]) Dependents(node K) []K { return g.Reverse().DependsOn(node) }

// Reverse is the graph with every edge turned round, the nodes in the same order: the
// graph for taking things down.
func (g *Graph[K]) Reverse() *Graph[K] {
	r := New[K]()
	for _, n := range g.nodes {
		r.add(n)
	}
	for from, deps := range g.deps {
		for _, to := range deps {
			r.Edge(g.nodes[to], g.nodes[from])
		}
	}
	return r
}

// Reachable is the set of the given nodes and of everything that they depend on, directly
// or not: what a --target option selects. Unknown nodes are left out.
func (g *Graph[K]) Reachable(from ...K) map[K]bool {
	out := make(map[K]bool, len(from))
	var queue []int
	for _, n := range from {
		if i, ok := g.index[n]; ok && !out[n] {
			out[n] = true
			queue = append(queue, i)
		}
	}
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		for _, d := range g.deps[i] {
			if n := g.nodes[d]; !out[n] {
				out[n] = true
				queue = append(queue, d)
			}
		}
	}
	return out
}

func (g *Graph[K]) pick(indexes []int) []K {
	out := make([]K, len(indexes))
	for i, x := range indexes {
		out[i] = g.nodes[x]
	}
	return out
}
