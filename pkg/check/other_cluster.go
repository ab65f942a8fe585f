package check

import "fmt"

func otherCluster() Check {
	return Check{
		Code: "MIF101", About: "cluster", Title: "Another cluster than the state's", Severity: fault, Planned: true,
		Why: "What the state remembers lives on another cluster: apply would make the stack a second time and lose sight of the first.",
		Fix: "Choose the right context in the cluster block, or another backend path for this cluster.",
		Look: func(m *Model, w *World) (o Outcome) {
			switch {
			case w.UID == "":
				o.skip("no right to read the namespace kube-system, whose UID tells clusters apart")
			case w.StateGap != "":
				o.skip("%s", w.StateGap)
			case w.StateUID == "":
				o.seen("no state yet; cluster %s at %s", w.UID, w.Server)
			case w.StateUID == w.UID:
				o.seen("the state's cluster (%s)", w.UID)
			default:
				o.find(Finding{At: m.Cluster.Range, Block: m.Cluster.Range, Detail: fmt.Sprintf(
					"The state was made on the cluster %s; context %q leads to %s at %s (UIDs of the namespace kube-system).", w.StateUID, w.Context, w.UID, w.Server)})
			}
			return o
		},
	}
}
