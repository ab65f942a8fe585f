package check

import (
	"fmt"
	"strings"
	"time"

	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/resource/kinds"
)

func secretStale() Check {
	return Check{
		Code: "MIF113", About: "life of the pull secrets", Title: "Pull secret that will not last", Severity: doubt, Measures: true,
		Why: "ECR tokens live 12 hours: a pod that starts later, also one that restarts in the middle of a run, cannot pull its image.",
		Fix: "See that the refresher runs (kubectl -n mif get cronjob), or let apply renew the token with mode = \"aws\".",
		Look: func(m *Model, w *World) (o Outcome) {
			need := runTime(m)
			for _, c := range m.credentials {
				judgeLife(w, c, need, &o)
				judgeRefresher(w, c, &o)
			}
			return o
		},
	}
}

// judgeLife: a Secret that apply renews anyway is its plan's business.
func judgeLife(w *World, c config.Resource, need time.Duration, o *Outcome) {
	at := place{c.Objects[0].ID.Namespace, c.Objects[0].ID.Name}
	secret := w.secrets[at]
	left := time.Duration(0)
	if secret.ok && secret.is != nil {
		left = secret.is.expires.Sub(w.Now)
	}
	switch {
	case !secret.ok:
		o.skip("%s", secret.missing())
	case secret.is == nil:
	case secret.is.expires.IsZero():
		o.skip("Secret %s/%s: nothing tells when its credential expires", at.namespace, at.name)
	case c.Options.(*kinds.ECRCredentials).Mode == resource.CredentialAWS && left <= need:
		o.seen("Secret %s/%s has %s left; apply renews it", at.namespace, at.name, shortTime(max(left, 0)))
	case left > 0 && left <= need:
		o.find(finding(c, "mode", fmt.Sprintf("The token in the Secret %s/%s expires in %s; the scenarios take at least %s.", at.namespace, at.name, shortTime(left), shortTime(need))))
	case left > 0:
		o.seen("Secret %s/%s is good for %s", at.namespace, at.name, shortTime(left))
	}
}

// refreshEvery is how often the framework's CronJob mints a token.
const refreshEvery = 6 * time.Hour

func judgeRefresher(w *World, c config.Resource, o *Outcome) {
	options := c.Options.(*kinds.ECRCredentials)
	if !replicated(c) && options.Refresh == nil {
		return
	}
	if !w.refreshers.ok {
		o.skip("%s", w.refreshers.missing())
		return
	}
	found := false
	for _, job := range w.refreshers.is {
		name := textAt(job, "metadata", "name")
		if !strings.Contains(name, "refresher") {
			continue
		}
		found = true
		at := "The CronJob " + textAt(job, "metadata", "namespace") + "/" + name
		last, err := time.Parse(time.RFC3339, textAt(job, "status", "lastSuccessfulTime"))
		age := w.Now.Sub(last)
		switch suspended, _ := dig(job, "spec", "suspend").(bool); {
		case suspended:
			o.find(finding(c, "mode", at+", which refreshes the token, is suspended."))
		case err != nil && dig(job, "status", "lastScheduleTime") == nil:
			o.seen("%s has not been due yet", name)
		case err != nil:
			o.find(finding(c, "mode", at+", which refreshes the token, has never succeeded."))
		case age > refreshEvery+refreshEvery/6:
			o.find(finding(c, "mode", fmt.Sprintf("%s, which refreshes the token every %s, last succeeded %s ago.", at, shortTime(refreshEvery), shortTime(age))))
		default:
			o.seen("%s succeeded %s ago", name, shortTime(age))
		}
	}
	if !found && replicated(c) {
		o.skip("the refresher of %s: namespace %s has no CronJob of that name", c.Address, systemNamespace)
	}
}

// runTime is how long the configuration's scenarios take at least, one after the other.
func runTime(m *Model) time.Duration {
	var sum time.Duration
	for _, s := range m.Scenarios {
		switch l := s.Load; {
		case l.Duration > 0:
			sum += l.Duration
		case l.RequestRate > 0:
			sum += time.Duration(float64(l.Requests) / l.RequestRate * float64(time.Second))
		}
	}
	return sum
}
