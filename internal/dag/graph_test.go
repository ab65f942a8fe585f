package dag_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mifbench/mifbench/internal/dag"
)

// build reads "a:b,c d:" as a depends on b and c; d depends on nothing.
func build(text string) *dag.Graph[string] {
	g := dag.New[string]()
	for _, f := range strings.Fields(text) {
		n, deps, _ := strings.Cut(f, ":")
		g.Add(n)
		for _, d := range strings.Split(deps, ",") {
			if d != "" {
				g.Edge(n, d)
			}
		}
	}
	return g
}

func TestTopoOrder(t *testing.T) {
	for _, c := range []struct{ name, graph, want, cycle string }{
		{"nothing", "", "", ""},
		{"order of addition when free", "c b a", "c b a", ""},
		{"dependencies first", "a:b b:c c", "c b a", ""},
		{"diamond", "top:left,right left:base right:base base", "base left right top", ""},
		{"repeated edge counts once", "a:b,b b", "b a", ""},
		{"itself", "a:a", "", "cycle: a → a"},
		{"cycle path without the way to it", "x:a a:b b:c c:a", "", "cycle: a → b → c → a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := build(c.graph).TopoOrder()
			if c.cycle != "" {
				var ce *dag.CycleError[string]
				if !errors.As(err, &ce) || err.Error() != c.cycle {
					t.Fatalf("got %v, want %s", err, c.cycle)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReverseAndReachable(t *testing.T) {
	g := build("a:b b:c c d:c")
	order, err := g.Reverse().TopoOrder()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(order, " "); got != "a b d c" {
		t.Errorf("reverse order %s", got)
	}
	if diff := cmp.Diff(map[string]bool{"b": true, "c": true}, g.Reachable("b", "unknown")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"b", "d"}, g.Dependents("c")); diff != "" {
		t.Error(diff)
	}
}

func TestLongChainDoesNotExhaustTheStack(t *testing.T) {
	g := dag.New[int]()
	const n = 200_000
	for i := range n {
		g.Edge(i, i+1)
	}
	order, err := g.TopoOrder()
	if err != nil || order[0] != n || len(order) != n+1 {
		t.Fatalf("%v, %d nodes", err, len(order))
	}
}

func BenchmarkTopoOrder(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				g := dag.New[int]()
				for i := range n {
					g.Edge(i, i/2)
					g.Edge(i, i/3)
				}
				_, _ = g.TopoOrder()
			}
		})
	}
}
