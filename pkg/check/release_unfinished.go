package check

import (
	"fmt"
	"strings"
)

func releaseUnfinished() Check {
	return Check{
		Code: "MIF117", About: "state of the releases", Title: "Release in an unfinished state", Severity: doubt, Planned: true,
		Why: "Helm refuses to work on a release whose last operation did not end, and a failed one is not what its chart says.",
		Fix: "Wait if somebody is at work on it; otherwise apply brings it back first and shows that in its plan.",
		Look: func(m *Model, w *World) (o Outcome) {
			for _, r := range m.releases() {
				live := w.liveRelease(r, &o)
				if live == nil {
					continue
				}
				switch at := fmt.Sprintf("Revision %d of the release %s/%s", live.Revision, r.Objects[0].ID.Namespace, r.Objects[0].ID.Name); {
				case strings.HasPrefix(live.Status, "pending-") || live.Status == "uninstalling":
					o.find(finding(r, "name", fmt.Sprintf("%s is %s since %s.", at, live.Status, shortTime(w.Now.Sub(live.Updated)))))
				case live.Status == "failed":
					o.find(finding(r, "name", at+" failed."))
				default:
					o.seen("%s is %s", r.Objects[0].ID.Name, live.Status)
				}
			}
			return o
		},
	}
}
