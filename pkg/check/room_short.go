package check

import (
	"fmt"
	"strings"
)

func roomShort() Check {
	return Check{
		Code: "MIF109", About: "room for the pods", Title: "No room for the pods", Severity: fault,
		Why: "A pod's devices must be free on one node; pods without room stay Pending, and apply would wait until its timeout.",
		Fix: "Wait for the pods that hold them or move them, bring back nodes that are out, lower replicas, or take other nodes; where nodes are added on demand, switch this check off.",
		Look: func(m *Model, w *World) (o Outcome) {
			list, ok := w.greedyDemands(m, &o)
			if !ok {
				return o
			}
			l := survey(w, list, m.Stack)
			before := l.freeNow()
			short := l.place()
			said := false
			for i, n := range short {
				if n == 0 {
					continue
				}
				d := l.open[i]
				text := fmt.Sprintf("%d of %s of %s %s no room: each needs %s free on one node.", n, counted(d.count+l.running[i], "pod"), d.name, have(n), resourceList(d.size))
				if !said {
					text += block(l.stock(d, before))
				}
				said = true
				o.find(d.at(text))
			}
			if !said {
				o.seen("%s", l.summary(list))
			}
			return o
		},
	}
}

// greedyDemands are the demands for extended resources; ok is false when nothing can be said.
func (w *World) greedyDemands(m *Model, o *Outcome) ([]demand, bool) {
	if !m.needsNodes() {
		return nil, false
	}
	if !w.nodes.ok || !w.pods.ok {
		o.skip("%s", firstMissing(w.nodes.missing(), w.pods.missing(), w.nodes.ok))
		return nil, false
	}
	list, unknown := demands(m, w)
	for _, u := range unknown {
		o.skip("%s", u)
	}
	var out []demand
	for _, d := range list {
		if d.greedy() && (d.count == 0 || len(w.matching(d.placement)) > 0) { // MIF108 tells the others
			out = append(out, d)
		}
	}
	return out, len(out) > 0
}

func have(n int64) string {
	if n == 1 {
		return "has"
	}
	return "have"
}

func counted(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// freeNow is what is free on each node before anything is placed.
func (l land) freeNow() []map[string]int64 {
	out := make([]map[string]int64, len(l.plots))
	for i, p := range l.plots {
		out[i] = map[string]int64{}
		add(out[i], p.free)
	}
	return out
}

// stock says of each node that takes such pods what is free and who holds the rest; full nodes
// and those that are out come first.
func (l land) stock(d demand, free []map[string]int64) []string {
	var full, out, open []string
	refused := 0
	for i, p := range l.plots {
		switch {
		case d.refusal(p.node) != "":
			refused++
		case p.out() != "":
			out = append(out, fmt.Sprintf("  %s: %s", p.name, p.out()))
		case plot{free: free[i]}.takes(d.size):
			open = append(open, fmt.Sprintf("  %s: free, and needed for other pods of this stack", p.name))
		default:
			full = append(full, fmt.Sprintf("  %s: %s", p.name, p.account(d, free[i])))
		}
	}
	lines := append(append(out, full...), open...)
	if refused > 0 {
		lines = append(lines, fmt.Sprintf("  %s not match its selector, affinity or tolerations", counted(int64(refused), "other node")+map[bool]string{true: " does", false: " do"}[refused == 1]))
	}
	return lines
}

// account is "0 of 8 amd.com/gpu free; held by team-b/train-0 (8)".
func (p plot) account(d demand, free map[string]int64) string {
	var parts []string
	for _, name := range sortedKeys(d.size) {
		if d.size[name] > free[name] {
			parts = append(parts, fmt.Sprintf("%d of %d %s free%s", free[name], p.allocatable[name], name, p.heldBy(name)))
		}
	}
	return strings.Join(parts, ", ")
}

func (p plot) heldBy(name string) string {
	var names []string
	for _, h := range p.holders {
		if n := h.requests[name]; n > 0 {
			leaving := ""
			if h.leaving {
				leaving = ", being deleted"
			}
			names = append(names, fmt.Sprintf("%s (%d%s)", h, n, leaving))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "; held by " + some(names)
}

// summary is what is said when all fits, after everything was placed.
func (l land) summary(list []demand) string {
	var pods, running int64
	for i, d := range list {
		pods += d.count
		running += l.running[i]
	}
	spare := "room for more is left"
	if l.exact() {
		spare = "an exact fit: nothing is left for one more"
	}
	if running > 0 {
		return fmt.Sprintf("%s, of which %d have their node already; %s", counted(pods, "pod"), running, spare)
	}
	return fmt.Sprintf("%s find room; %s", counted(pods, "pod"), spare)
}

// exact tells whether, with everything placed, no node takes one more pod of any demand.
func (l land) exact() bool {
	for _, d := range l.open {
		if l.tightest(d) >= 0 {
			return false
		}
	}
	return true
}
