package check

import (
	"maps"
	"sort"
)

// plot is a node with what is left of it.
type plot struct {
	node
	free map[string]int64
	// holders are the pods that hold extended resources on it and stay.
	holders []livePod
}

// takes tells whether a pod of that size still fits.
func (p plot) takes(size map[string]int64) bool {
	for name, n := range size {
		if n > p.free[name] {
			return false
		}
	}
	return true
}

func (p plot) give(size map[string]int64) {
	for name, n := range size {
		p.free[name] -= n
	}
}

func (p plot) takeBack(size map[string]int64) {
	for name, n := range size {
		p.free[name] += n
	}
}

// land is the room of the cluster for the pods of a configuration.
type land struct {
	plots []plot
	// open are the demands, counting only pods that have no node yet.
	open []demand
	// running counts the pods of each demand that have their node already.
	running []int64
}

// survey takes stock: pods that run already keep their place; what the stack will give back
// (pods beyond the wanted number, services that are not in the configuration any more) is free.
func survey(w *World, list []demand, stack string) land {
	var l land
	at := map[string]int{}
	for _, n := range w.nodes.is {
		at[n.name] = len(l.plots)
		l.plots = append(l.plots, plot{node: n, free: maps.Clone(n.allocatable)})
	}
	l.open = append(l.open, list...)
	l.running = make([]int64, len(list))
	given := abandoned(w, list, stack)
	pods := append([]livePod(nil), w.pods.is...)
	sort.Slice(pods, func(i, j int) bool { return pods[i].String() < pods[j].String() })
	for _, p := range pods {
		i, ok := at[p.node]
		if !ok || given(p) || !l.keeps(p) {
			continue
		}
		l.plots[i].give(p.requests)
		if (demand{size: p.requests}).greedy() {
			l.plots[i].holders = append(l.plots[i].holders, p)
		}
	}
	return l
}

// keeps tells whether a scheduled pod keeps its room; a pod of the configuration fills one place
// of its demand, and one too many, or one that leaves, gives its room back.
func (l *land) keeps(p livePod) bool {
	for i, d := range l.open {
		if !d.mine(p) {
			continue
		}
		if p.leaving || d.count == 0 {
			return false
		}
		l.open[i].count--
		l.running[i]++
		return true
	}
	return true
}

// abandoned tells the pods of services that carry the stack's mark and are not wanted any more.
func abandoned(w *World, list []demand, stack string) func(livePod) bool {
	gone := map[place]bool{}
	for _, s := range w.services.is {
		if owner := textAt(s, "metadata", "annotations", "mifbench.dev/stack"); owner == stack {
			gone[place{textAt(s, "metadata", "namespace"), textAt(s, "metadata", "name")}] = true
		}
	}
	return func(p livePod) bool {
		for _, d := range list {
			if d.mine(p) {
				return false
			}
		}
		return gone[place{p.namespace, p.service()}]
	}
}

// candidates are the indexes of the nodes that take such pods now, whatever room they have.
func (l land) candidates(d demand) []int {
	var out []int
	for i, p := range l.plots {
		if p.out() == "" && d.refusal(p.node) == "" {
			out = append(out, i)
		}
	}
	return out
}

// maxSteps bounds the search for a place for every pod. Where it is not enough, the pods are
// taken to fit: a wrong alarm would stop an apply.
const maxSteps = 50_000

// place gives every open pod a node, so far as there are any, and returns how many pods of each
// demand found none. The plots are left with what remains.
func (l land) place() (short []int64) {
	short = make([]int64, len(l.open))
	order := l.order()
	steps := 0
	if l.search(order, 0, 0, 0, &steps) {
		return short
	}
	if steps >= maxSteps {
		return short
	}
	for _, i := range order {
		d := l.open[i]
		for range d.count {
			if j := l.tightest(d); j >= 0 {
				l.plots[j].give(d.size)
				continue
			}
			short[i]++
		}
	}
	return short
}

// order puts first the demands with the fewest nodes to choose from, then the largest.
func (l land) order() []int {
	var order []int
	choices := make([]int, len(l.open))
	for i, d := range l.open {
		if d.greedy() && d.count > 0 {
			order = append(order, i)
			choices[i] = len(l.candidates(d))
		}
	}
	sort.SliceStable(order, func(a, b int) bool {
		i, j := order[a], order[b]
		if choices[i] != choices[j] {
			return choices[i] < choices[j]
		}
		return total(l.open[i].size) > total(l.open[j].size)
	})
	return order
}

// search places pod after pod and goes back where it gets stuck. Equal pods are placed on nodes
// in ascending order, so that their permutations are not tried.
func (l land) search(order []int, k int, done int64, from int, steps *int) bool {
	if k == len(order) {
		return true
	}
	d := l.open[order[k]]
	if done == d.count {
		return l.search(order, k+1, 0, 0, steps)
	}
	for i := from; i < len(l.plots); i++ {
		if *steps++; *steps > maxSteps {
			return false
		}
		p := l.plots[i]
		if p.out() != "" || !p.takes(d.size) || d.refusal(p.node) != "" {
			continue
		}
		p.give(d.size)
		if l.search(order, k, done+1, i, steps) {
			return true
		}
		p.takeBack(d.size)
	}
	return false
}

// tightest is the node with the least room left that still takes the pod, -1 for none.
func (l land) tightest(d demand) int {
	best := -1
	for _, i := range l.candidates(d) {
		if p := l.plots[i]; p.takes(d.size) && (best < 0 || total(p.free) < total(l.plots[best].free)) {
			best = i
		}
	}
	return best
}

func total(size map[string]int64) (sum int64) {
	for _, n := range size {
		sum += n
	}
	return sum
}
