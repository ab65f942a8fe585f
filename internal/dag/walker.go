package dag

import (
	"container/heap"
	"context"
	"errors"
)

// walker is the bookkeeping of one walk: which nodes are ready, which are settled. Only
// the goroutine of Walk touches it.
type walker[K comparable] struct {
	g          *Graph[K]
	dependents [][]int
	waiting    []int // unsettled dependencies of each node
	failed     []*SkippedError[K]
	results    map[K]error
	ready      readyQueue
}

func newWalker[K comparable](g *Graph[K]) *walker[K] {
	w := &walker[K]{
		g:          g,
		dependents: make([][]int, len(g.nodes)),
		waiting:    make([]int, len(g.nodes)),
		failed:     make([]*SkippedError[K], len(g.nodes)),
		results:    make(map[K]error, len(g.nodes)),
	}
	for i, deps := range g.deps {
		w.waiting[i] = len(deps)
		for _, d := range deps {
			w.dependents[d] = append(w.dependents[d], i)
		}
		if len(deps) == 0 {
			heap.Push(&w.ready, i)
		}
	}
	return w
}

func (w *walker[K]) next() int {
	i, ok := heap.Pop(&w.ready).(int)
	if !ok {
		panic("dag: the queue holds something that is not a node")
	}
	return i
}

// settle records a node's end and frees, or skips, what waited for it.
func (w *walker[K]) settle(node int, err error) {
	queue := []visited{{node, err}}
	for len(queue) > 0 {
		v := queue[0]
		queue = queue[1:]
		w.results[w.g.nodes[v.node]] = v.err
		for _, d := range w.dependents[v.node] {
			w.waiting[d]--
			if v.err != nil && w.failed[d] == nil {
				w.failed[d] = cause(w.g.nodes[v.node], v.err)
			}
			if w.waiting[d] > 0 {
				continue
			}
			if w.failed[d] != nil {
				queue = append(queue, visited{d, w.failed[d]})
			} else {
				heap.Push(&w.ready, d)
			}
		}
	}
}

// cause keeps the first failure through a chain of skipped nodes.
func cause[K comparable](node K, err error) *SkippedError[K] {
	var s *SkippedError[K]
	if errors.As(err, &s) {
		return s
	}
	return &SkippedError[K]{Failed: node, Err: err}
}

// outcome fills in the nodes that the end of the context left unvisited.
func (w *walker[K]) outcome(ctx context.Context) map[K]error {
	for i, n := range w.g.nodes {
		if _, ok := w.results[n]; ok {
			continue
		}
		if w.failed[i] != nil {
			w.results[n] = w.failed[i]
			continue
		}
		w.results[n] = context.Cause(ctx)
	}
	return w.results
}

// readyQueue is a heap of node numbers: the node added first comes out first.
type readyQueue []int

// Len, Less and Swap are sort.Interface.
func (q readyQueue) Len() int           { return len(q) }
func (q readyQueue) Less(i, j int) bool { return q[i] < q[j] }
func (q readyQueue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }

// Push and Pop are heap.Interface.
func (q *readyQueue) Push(x any) {
	i, ok := x.(int)
	if !ok {
		panic("dag: the queue takes node numbers only")
	}
	*q = append(*q, i)
}

func (q *readyQueue) Pop() any {
	old := *q
	last := old[len(old)-1]
	*q = old[:len(old)-1]
	return last
}
