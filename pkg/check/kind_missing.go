package check

import (
	"fmt"
	"strings"
)

func kindMissing() Check {
	return Check{
		Code: "MIF102", About: "kinds and their versions", Title: "Kind that the cluster does not serve", Severity: fault,
		Why: "Objects of a kind that the API server does not know are refused.",
		Fix: "Install what brings the kind, or add it to this configuration before what uses it.",
		Look: func(m *Model, w *World) (o Outcome) {
			n := 0
			for _, k := range neededKinds(m) {
				s := w.kinds[k.kindName]
				switch coming := m.mayCome(w); {
				case !s.ok:
					o.skip("%s", s.missing())
				case s.is.Version:
					n++
				case brought(m, k.kindName):
					o.seen("%s comes with this configuration", k.kind)
				case coming != "" && len(s.is.Others) == 0:
					o.skip("%s is not there: %s", k, coming)
				default:
					o.find(finding(k.by, "", k.sentence(s.is)))
				}
			}
			if n > 0 {
				o.seen("%d kinds are served", n)
			}
			return o
		},
	}
}

func (k neededKind) sentence(s Served) string {
	need := ""
	if k.why != "" {
		need = " (" + k.why + ")"
	}
	if len(s.Others) > 0 {
		return fmt.Sprintf("%s needs %s%s; the cluster serves the kind as %s only.", k.by.Address, k, need, strings.Join(s.Others, ", "))
	}
	return fmt.Sprintf("%s needs %s%s, which the cluster does not serve: %s.", k.by.Address, k, need, s.Supplier)
}
