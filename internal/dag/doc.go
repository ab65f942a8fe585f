// Package dag is a generic acyclic graph: ordering, the path of a cycle, and a
// bounded parallel walk. It knows nothing of resources or configuration.
//
// An edge says "from depends on to": to comes first. All orders are
// deterministic: among nodes that are free to come in any order, the one added
// first comes first. A Graph is not safe for concurrent changes; concurrent
// reads are fine.
//
// Order and Walk answer a cyclic graph with *CycleError, which holds the path,
// so that the author of the nodes can be shown how they got there. Edges to
// nodes that were never added are added with the edge.
package dag
