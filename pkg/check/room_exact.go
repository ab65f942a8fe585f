package check

import "fmt"

func roomExact() Check {
	return Check{
		Code: "MIF110", About: "room for a surge", Title: "No room for a rollout's surge", Severity: doubt,
		Why: "A rollout with maxSurge starts a new instance before it ends an old one; with every device taken the new one stays Pending and the rollout stands still.",
		Fix: "Roll out without surge (maxSurge = 0), or leave one instance's devices free.",
		Look: func(m *Model, w *World) (o Outcome) {
			list, ok := w.greedyDemands(m, &o)
			if !ok {
				return o
			}
			l := survey(w, list, m.Stack)
			for _, n := range l.place() {
				if n > 0 {
					o.skip("the pods themselves find no room (MIF109)")
					return o
				}
			}
			for _, d := range l.open {
				if surges(d.surge) && l.tightest(d) < 0 {
					o.find(d.at(fmt.Sprintf("%s rolls out with maxSurge = %v, and with its pods placed no node has %s left.", d.name, d.surge, resourceList(d.size))))
					continue
				}
				if surges(d.surge) {
					o.seen("%s has room for it", d.name)
				}
			}
			if len(o.Seen)+len(o.Findings) == 0 {
				o.seen("no rollout asks for one")
			}
			return o
		},
	}
}

func surges(v any) bool {
	n, isNumber := count(v)
	return v != nil && (!isNumber || n > 0) && v != "0%"
}
