package dag

import (
	"context"
	"fmt"
)

// SkippedError is the result of a node that was not visited because something it depends
// on, directly or not, failed. errors.Is and errors.As see the failure through it.
type SkippedError[K comparable] struct {
	// Failed is the node whose visit failed.
	Failed K
	// Err is that failure.
	Err error
}

// Error names the failed node.
func (e *SkippedError[K]) Error() string {
	return fmt.Sprintf("skipped: %v failed: %v", e.Failed, e.Err)
}

// Unwrap is the failure.
func (e *SkippedError[K]) Unwrap() error { return e.Err }

// Walk visits every node after all of its dependencies, at most parallelism at a time (at
// least one), and returns one result for each node:
//
//   - nil: visited without error;
//   - the error of visit;
//   - *SkippedError[K]: not visited, since a node it depends on failed;
//   - the context's cause: not visited, since the context was done first.
//
// A failure stops only what depends on it. When the context is done no new visit starts;
// Walk waits for those in flight, which got the same context. The second result is a
// *CycleError[K], before any visit, or nil. Each visit runs in a goroutine of its own and
// none outlives Walk; among ready nodes the one added first goes first.
func (g *Graph[K]) Walk(ctx context.Context, parallelism int, visit func(context.Context, K) error) (map[K]error, error) {
	if path := g.Cycle(); path != nil {
		return nil, &CycleError[K]{Path: path}
	}
	w := newWalker(g)
	finished := make(chan visited)
	running := 0
	for {
		for running < max(parallelism, 1) && w.ready.Len() > 0 && ctx.Err() == nil {
			i := w.next()
			running++
			go func() { finished <- visited{i, visit(ctx, g.nodes[i])} }()
		}
		if running == 0 {
			break
		}
		r := <-finished
		running--
		w.settle(r.node, r.err)
	}
	return w.outcome(ctx), nil
}

// visited is the end of one visit.
type visited struct {
	node int
	err  error
}
