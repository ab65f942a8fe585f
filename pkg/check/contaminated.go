package check

import (
	"fmt"
	"slices"
)

func contaminated() Check {
	return Check{
		Code: "MIF121", About: "others on pool and nodes", Title: "Others share the pool or the nodes", Severity: doubt, Measures: true,
		Why: "They take a share of the requests, the GPUs or the network: what is measured is not this stack alone.",
		Fix: "Move or stop them for the time of the benchmark, or give the stack nodes and a pool of its own.",
		Look: func(m *Model, w *World) (o Outcome) {
			if len(m.services) == 0 {
				return o
			}
			foreignServices(m, w, &o)
			foreignPods(m, w, &o)
			neighbours(m, w, &o)
			return o
		},
	}
}

// foreignServices are other InferenceServices that join one of our pools.
func foreignServices(m *Model, w *World, o *Outcome) {
	if !w.services.ok {
		o.skip("%s", w.services.missing())
		return
	}
	for _, s := range w.services.is {
		ns, name := textAt(s, "metadata", "namespace"), textAt(s, "metadata", "name")
		for _, ref := range listAt(s, "spec", "inferencePoolRefs") {
			engines := m.byPool[place{ns, textAt(ref, "name")}]
			if len(engines) > 0 && !m.ours(ns, name) && textAt(s, "metadata", "annotations", "mifbench.dev/stack") != m.Stack {
				o.find(engines[0].finding("pool", fmt.Sprintf("The InferenceService %s/%s, which is not of this configuration, joins the pool %q, too.", ns, name, textAt(ref, "name"))))
			}
		}
	}
	o.seen("%s in the cluster", counted(int64(len(w.services.is)), "InferenceService"))
}

func (m *Model) ours(namespace, name string) bool {
	return slices.ContainsFunc(m.services, func(e service) bool { return e.namespace == namespace && e.name == name })
}

// foreignPods are pods with the pool's label that no service of ours made.
func foreignPods(m *Model, w *World, o *Outcome) {
	if !w.pods.ok {
		o.skip("%s", w.pods.missing())
		return
	}
	seen := map[place][]string{}
	for _, p := range w.pods.is {
		at := place{p.namespace, textOf(p.labels["mif.moreh.io/pool"])}
		if len(m.byPool[at]) > 0 && at.name != "" && p.service() == "" {
			seen[at] = append(seen[at], p.name)
		}
	}
	for _, e := range m.services {
		at := place{e.namespace, e.pool()}
		if names := seen[at]; len(names) > 0 {
			slices.Sort(names)
			o.find(e.finding("pool", fmt.Sprintf("Pods that no InferenceService made carry the label of the pool %q: %s.", at.name, some(names))))
			delete(seen, at)
		}
	}
}

// neighbours are pods of others with devices on nodes where our pods are or could come.
func neighbours(m *Model, w *World, o *Outcome) {
	list, ok := w.greedyDemands(m, &Outcome{})
	if !ok {
		return
	}
	l := survey(w, list, m.Stack)
	shared := map[string][]string{}
	at := map[string]demand{}
	for i := range l.plots {
		p := &l.plots[i]
		d, ours := l.stake(*p, list)
		if d == nil || p.out() != "" {
			continue
		}
		for _, h := range p.holders {
			if !slices.ContainsFunc(list, func(d demand) bool { return d.mine(h) }) && (ours || p.takes(d.size)) {
				shared[d.name] = append(shared[d.name], fmt.Sprintf("%s on %s (%s)", h, p.name, resourceList(h.requests)))
				at[d.name] = *d
			}
		}
	}
	for _, name := range sortedKeys(shared) {
		o.find(at[name].at(fmt.Sprintf("Pods of others work on nodes of %s: %s.", name, some(shared[name]))))
	}
	if len(shared) == 0 {
		o.seen("no pod of others with devices on the stack's nodes")
	}
}

// stake is the demand whose pods are on the node already (ours), or else may come to it.
func (l land) stake(p plot, list []demand) (d *demand, ours bool) {
	for i := range list {
		if slices.ContainsFunc(p.holders, list[i].mine) {
			return &list[i], true
		}
	}
	for i := range l.open {
		if l.open[i].count > 0 && l.open[i].refusal(p.node) == "" {
			return &l.open[i], false
		}
	}
	return nil, false
}
