package check

import (
	"fmt"
	"testing"
)

func gpuNodes(free ...int64) []plot {
	var out []plot
	for i, n := range free {
		out = append(out, plot{node: node{name: fmt.Sprintf("n%d", i)}, free: map[string]int64{"amd.com/gpu": n}})
	}
	return out
}

func want(count, size int64) demand {
	return demand{name: fmt.Sprintf("%dx%d", count, size), count: count, size: map[string]int64{"amd.com/gpu": size}}
}

func on(d demand, host string) demand {
	d.placement = placement{terms: []any{map[string]any{"matchFields": []any{
		map[string]any{"key": "metadata.name", "operator": "In", "values": []any{host}},
	}}}}
	return d
}

func TestPlace(t *testing.T) {
	for _, c := range []struct {
		name  string
		plots []plot
		open  []demand
		short []int64
	}{
		{"whole nodes", gpuNodes(8, 8, 8, 8, 8), []demand{want(3, 8), want(2, 8)}, []int64{0, 0}},
		{"one too many", gpuNodes(8, 8, 8, 8, 8), []demand{want(3, 8), want(3, 8)}, []int64{0, 1}},
		{"the sum is enough, no node is", gpuNodes(4, 4, 4), []demand{want(1, 8)}, []int64{1}},
		{"several on a node", gpuNodes(8), []demand{want(4, 2)}, []int64{0}},
		{"the picky one first", gpuNodes(8, 8), []demand{want(1, 8), on(want(1, 8), "n0")}, []int64{0, 0}},
		{"tightest fit is not enough: 5+3 and 4+4", gpuNodes(8, 8), []demand{want(1, 5), want(2, 4), want(1, 3)}, []int64{0, 0, 0}},
		{"nothing asked", gpuNodes(0), []demand{{name: "cpu", count: 3, size: map[string]int64{}}}, []int64{0}},
		{"nothing left to place", gpuNodes(0), []demand{want(0, 8)}, []int64{0}},
		{"a resource that no node has", gpuNodes(8), []demand{{name: "x", count: 1, size: map[string]int64{"nvidia.com/gpu": 1}}}, []int64{1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := land{plots: c.plots, open: c.open, running: make([]int64, len(c.open))}
			if got := l.place(); fmt.Sprint(got) != fmt.Sprint(c.short) {
				t.Errorf("without room: %v, want %v", got, c.short)
			}
		})
	}
}

// TestPlaceIsBounded: a hard puzzle ends, and a puzzle that was not solved raises no alarm.
func TestPlaceIsBounded(t *testing.T) {
	var open []demand
	for i := range 40 {
		open = append(open, want(3, int64(3+i%4)))
	}
	free := make([]int64, 60)
	for i := range free {
		free[i] = 8
	}
	l := land{plots: gpuNodes(free...), open: open, running: make([]int64, len(open))}
	if got := l.place(); len(got) != 40 {
		t.Error(got)
	}
}

// TestSurvey: pods that run keep their place, what the stack gives back is free.
func TestSurvey(t *testing.T) {
	gpu := map[string]int64{"amd.com/gpu": 8}
	mine := func(service string) func(livePod) bool {
		return func(p livePod) bool { return p.service() == service }
	}
	live := func(service, name, on string, leaving bool) livePod {
		return livePod{place: place{"ns", name}, labels: map[string]any{"mif.moreh.io/inferenceservice": service}, node: on, requests: gpu, leaving: leaving}
	}
	w := &World{}
	for i := range 4 {
		w.nodes.is = append(w.nodes.is, node{name: fmt.Sprintf("n%d", i), allocatable: gpu, cordoned: i == 0})
	}
	w.services.is = []map[string]any{{"metadata": map[string]any{
		"namespace": "ns", "name": "former", "annotations": map[string]any{"mifbench.dev/stack": "test"},
	}}}
	w.pods.is = []livePod{
		live("decode", "decode-0", "n0", false),  // keeps its place although the node is cordoned
		live("decode", "decode-1", "n1", true),   // leaves
		live("decode", "decode-2", "", false),    // not scheduled: holds nothing
		live("former", "former-0", "n2", false),  // of this stack, not wanted any more
		live("foreign", "foreign-0", "n3", true), // holds its room until it is gone
	}
	d := want(2, 8)
	d.mine = mine("decode")
	l := survey(w, []demand{d}, "test")
	if l.running[0] != 1 || l.open[0].count != 1 {
		t.Errorf("running %v, open %d", l.running, l.open[0].count)
	}
	var free []int64
	for _, p := range l.plots {
		free = append(free, p.free["amd.com/gpu"])
	}
	if fmt.Sprint(free) != "[0 8 8 0]" {
		t.Errorf("free: %v", free)
	}
	if got := l.place(); got[0] != 0 || l.exact() {
		t.Errorf("without room: %v, exact: %v", got, l.exact())
	}
}
