package dag

import (
	"fmt"
	"strings"
)

// CycleError says that nodes depend on each other.
type CycleError[K comparable] struct {
	// Path is the cycle as dependencies: each node depends on the next, and the last one is
	// the first again.
	Path []K
}

// Error shows the path, e.g. "cycle: a → b → a".
func (e *CycleError[K]) Error() string {
	parts := make([]string, len(e.Path))
	for i, n := range e.Path {
		parts[i] = fmt.Sprint(n)
	}
	return "cycle: " + strings.Join(parts, " → ")
}

// TopoOrder lists every node after all of its dependencies; free choices go by the order of
// addition. The error is a *CycleError[K] when there is no such order.
func (g *Graph[K]) TopoOrder() ([]K, error) {
	if path := g.Cycle(); path != nil {
		return nil, &CycleError[K]{Path: path}
	}
	done := make([]bool, len(g.nodes))
	out := make([]K, 0, len(g.nodes))
	for root := range g.nodes {
		g.finish(root, done, func(i int) { out = append(out, g.nodes[i]) })
	}
	return out, nil
}

// frame is one step of a depth-first search without recursion: a long chain must not
// exhaust the stack.
type frame struct{ node, next int }

// finish visits the dependencies of root, then root, skipping what is done. The graph has
// no cycle.
func (g *Graph[K]) finish(root int, done []bool, visit func(int)) {
	if done[root] {
		return
	}
	stack := []frame{{node: root}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if top.next < len(g.deps[top.node]) {
			d := g.deps[top.node][top.next]
			top.next++
			if !done[d] {
				stack = append(stack, frame{node: d})
			}
			continue
		}
		if !done[top.node] {
			done[top.node] = true
			visit(top.node)
		}
		stack = stack[:len(stack)-1]
	}
}

// Cycle is one cycle's path (each node depends on the next, the last equals the first), nil
// when the graph is acyclic. The first cycle by order of addition is found.
func (g *Graph[K]) Cycle() []K {
	const open, closed = 1, 2
	state := make([]byte, len(g.nodes))
	for root := range g.nodes {
		if state[root] != 0 {
			continue
		}
		stack := []frame{{node: root}}
		state[root] = open
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if top.next == len(g.deps[top.node]) {
				state[top.node] = closed
				stack = stack[:len(stack)-1]
				continue
			}
			d := g.deps[top.node][top.next]
			top.next++
			switch state[d] {
			case open:
				return g.cyclePath(stack, d)
			case 0:
				state[d] = open
				stack = append(stack, frame{node: d})
			}
		}
	}
	return nil
}

func (g *Graph[K]) cyclePath(stack []frame, back int) []K {
	start := 0
	for stack[start].node != back {
		start++
	}
	var path []K
	for _, f := range stack[start:] {
		path = append(path, g.nodes[f.node])
	}
	return append(path, g.nodes[back])
}
