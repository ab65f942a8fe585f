package check

import (
	"fmt"
	"strings"
)

func nodeOut() Check {
	return Check{
		Code: "MIF111", About: "state of the nodes", Title: "Node cordoned or not ready", Severity: doubt, Measures: true,
		Why: "The node takes no new pods: one that ends there does not come back, and a benchmark on fewer nodes than meant is not the one that was meant.",
		Fix: "Uncordon or repair the node (kubectl uncordon <node>; kubectl describe node <node>), or exclude it on purpose.",
		Look: func(m *Model, w *World) (o Outcome) {
			if !m.needsNodes() {
				return o
			}
			if !w.nodes.ok {
				o.skip("%s", w.nodes.missing())
				return o
			}
			list, unknown := demands(m, w)
			for _, u := range unknown {
				o.skip("%s", u)
			}
			short := w.shortages(m)
			for _, d := range list {
				var bad []string
				nodes := w.matching(d.placement)
				for _, n := range nodes {
					if why := n.out(); why != "" {
						bad = append(bad, n.name+" is "+why)
					}
				}
				switch {
				case len(bad) == 0:
					o.seen("%s for %s", counted(int64(len(nodes)), "node"), d.name)
				case short[d.name]:
					o.seen("%d of %s for %s out, which MIF109 tells", len(bad), counted(int64(len(nodes)), "node"), d.name)
				case !told(o, bad):
					o.find(d.at(fmt.Sprintf("Of the %s that match %s, %s.", counted(int64(len(nodes)), "node"), d.name, some(bad))))
				}
			}
			return o
		},
	}
}

// shortages are the demands of which MIF109 tells that they find no room, and why.
func (w *World) shortages(m *Model) map[string]bool {
	out := map[string]bool{}
	list, ok := w.greedyDemands(m, &Outcome{})
	if !ok {
		return out
	}
	l := survey(w, list, m.Stack)
	for i, n := range l.place() {
		if n > 0 {
			for j := range l.open { // the same nodes, told once
				out[l.open[j].name] = out[l.open[j].name] || i == j || sameNodes(w, l.open[i], l.open[j])
			}
		}
	}
	return out
}

func sameNodes(w *World, a, b demand) bool {
	for _, n := range w.nodes.is {
		if (a.refusal(n) == "") != (b.refusal(n) == "") {
			return false
		}
	}
	return true
}

// told tells whether another block's finding named the same nodes already.
func told(o Outcome, bad []string) bool {
	for _, f := range o.Findings {
		if strings.HasSuffix(f.Detail, ", "+some(bad)+".") {
			return true
		}
	}
	return false
}
