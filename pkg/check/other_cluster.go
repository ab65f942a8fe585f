package check

import "strings"

func otherCluster() Check {
	return Check{
		Code: "MIF101", About: "cluster", Title: "Another cluster than the state's", Severity: fault, Planned: true,
		Why: "What the state remembers lives on another cluster: apply would make the stack a second time and lose sight of the first.",
		Fix: "Choose the right context in the cluster block, or another backend path for this cluster.",
		Look: func(m *Model, w *World) (o Outcome) {
			switch {
			case w.Cluster == "":
				o.skip("no right to read the namespace kube-system or a ConfigMap kube-root-ca.crt, which tell clusters apart")
			case w.StateGap != "":
				o.skip("%s", w.StateGap)
			case w.Stranger != "":
				o.find(Finding{At: m.Cluster.Range, Block: m.Cluster.Range, Detail: sentence(w.Stranger)})
			case w.State == "":
				o.seen("no state yet; cluster %s at %s", w.Cluster, w.Server)
			default:
				o.seen("the state's cluster: %s", w.Cluster)
			}
			return o
		},
	}
}

// sentence makes a clause a sentence.
func sentence(clause string) string { return strings.ToUpper(clause[:1]) + clause[1:] + "." }
