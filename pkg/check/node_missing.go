package check

import (
	"fmt"
	"strings"

	"github.com/mifbench/mifbench/pkg/config"
)

func nodeMissing() Check {
	return Check{
		Code: "MIF108", About: "nodes for the pods", Title: "No node for the pods", Severity: fault,
		Why: "The scheduler leaves the pods Pending for ever: no node has the labels that they ask for, or all have taints that they do not tolerate.",
		Fix: "Correct the node's name or label, add the toleration, or label the nodes (the chart node-feature-discovery labels them).",
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
			for _, d := range list {
				if n := len(w.matching(d.placement)); n > 0 || d.count == 0 {
					o.seen("%d of %d nodes match %s", n, len(w.nodes.is), d.name)
					continue
				}
				o.find(d.at(fmt.Sprintf("None of the %d nodes takes the pods of %s:%s", len(w.nodes.is), d.name, w.refusals(d.placement))))
			}
			for _, s := range m.Scenarios {
				w.clientNodes(s, &o)
			}
			return o
		},
	}
}

// matching are the nodes that would take a pod, whatever their room and state.
func (w *World) matching(p placement) []node {
	var out []node
	for _, n := range w.nodes.is {
		if p.refusal(n) == "" {
			out = append(out, n)
		}
	}
	return out
}

// clientNodes checks where a scenario's client pods go.
func (w *World) clientNodes(s config.Scenario, o *Outcome) {
	selector := clientSelector(s)
	if len(selector) == 0 {
		return
	}
	p := placement{selector: map[string]any{}}
	for k, v := range selector {
		p.selector[k] = v
	}
	for _, n := range w.nodes.is {
		n.taints = nil // the block's tolerations are held against them when the pods are made
		if p.refusal(n) == "" {
			o.seen("a node for the client of scenario %s", s.Name)
			return
		}
	}
	o.find(scenarioFinding(s, "client.node_selector", fmt.Sprintf("None of the %d nodes is one for the client of scenario %q:%s", len(w.nodes.is), s.Name, w.refusals(p))))
}

// maxNodes bounds how many nodes, or groups of nodes, a finding lists.
const maxNodes = 12

// refusals lists why each node refuses, nodes with the same reason together.
func (w *World) refusals(p placement) string {
	byReason := map[string][]string{}
	for _, n := range w.nodes.is {
		why := p.refusal(n)
		byReason[why] = append(byReason[why], n.name)
	}
	var lines []string
	for _, why := range sortedKeys(byReason) {
		lines = append(lines, "  "+some(byReason[why])+": "+why)
	}
	return block(lines)
}

// some is a list of names, cut when it is long.
func some(names []string) string {
	const most = 6
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// block is a list below a sentence, cut when it is long.
func block(lines []string) string {
	if n := len(lines); n > maxNodes {
		lines = append(lines[:maxNodes:maxNodes], fmt.Sprintf("  … and %d more", n-maxNodes))
	}
	return "\n" + strings.Join(lines, "\n") + "\n"
}
