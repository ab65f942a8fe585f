package ecr

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
)

// Observe implements deploy.Driver: one read of the Secret. The two sides of the diff hold its
// type and the registry, never its content; freshness is Renew's matter.
func (d *Driver) Observe(ctx context.Context, q deploy.Query) (plan.Observation, error) {
	var id resource.ID
	switch {
	case q.Want != nil:
		id = q.Want.ID
	case q.Prior != nil:
		id = q.Prior.ID
	default:
		panic("ecr: a query without Want and Prior")
	}
	obs := plan.Observation{ID: id}
	live, err := d.secrets.Get(ctx, secretID(id))
	if err != nil {
		return obs, err
	}
	if live != nil {
		obs.Exists = true
		obs.UID, obs.Version = metaText(live, "uid"), metaText(live, "resourceVersion")
		obs.Owner, _ = annotations(live)[ownerAnnotation].(string)
		obs.Terminating = metaText(live, "deletionTimestamp") != ""
	}
	if q.Want == nil {
		obs.Borrowed = q.Prior.Borrowed
		obs.Live = side(live, "")
		return obs, nil
	}
	s := spec(q.Want)
	obs.Live = side(live, s.Registry)
	obs.Predicted = map[string]any{"type": secretType, "registry": s.Registry}
	obs.Ready = ready(live, s)
	obs.Borrowed = s.Mode == resource.CredentialReplicated
	if live == nil && slices.Contains(q.Provided.Namespaces, id.Namespace) {
		obs.Offline = "namespace comes from this plan"
	}
	d.freshness(&obs, live, s)
	writers(&obs, live, s)
	return obs, nil
}

// side is what is shown of a live Secret.
func side(live map[string]any, registry string) map[string]any {
	if live == nil {
		return nil
	}
	hosts, err := registries(live)
	shown := strings.Join(hosts, ", ")
	if err != nil {
		shown = ""
	}
	for _, h := range hosts {
		if sameHost(h, registry) {
			shown = registry
		}
	}
	return map[string]any{"type": live["type"], "registry": shown}
}

// freshness says when the credential dies and whether apply will renew it.
func (d *Driver) freshness(obs *plan.Observation, live map[string]any, s resource.CredentialSpec) {
	obs.Facts = facts(s, time.Time{})
	if live == nil || !obs.Ready.Ready {
		return
	}
	expires := expiry(live, s.Registry)
	if expires.IsZero() {
		return
	}
	obs.Facts = facts(s, expires)
	left, least := expires.Sub(d.now()), minValid(s)
	switch {
	case s.Mode == resource.CredentialReplicated && left <= 0:
		obs.Warnings = append(obs.Warnings, fmt.Sprintf("%s: the replicated token expired %s ago: look at the CronJob of the ecr-token-refresher", obs.ID, short(-left)))
	case s.Mode != resource.CredentialAWS:
		obs.Notes = append(obs.Notes, "expires in "+short(left))
	case left <= 0:
		obs.Renew = fmt.Sprintf("token expired %s ago", short(-left))
	case left < least:
		obs.Renew = fmt.Sprintf("token expires in %s, sooner than min_valid %s", short(left), short(least))
	default:
		obs.Notes = append(obs.Notes, fmt.Sprintf("renews in %s (token expires in %s)", short(left-least), short(left)))
	}
}

// writers warns when somebody else writes the Secret that we would write.
func writers(obs *plan.Observation, live map[string]any, s resource.CredentialSpec) {
	if live == nil || s.Mode == resource.CredentialReplicated {
		return
	}
	for k := range annotations(live) {
		if strings.HasPrefix(k, replicatorPrefix+"replicated-") {
			obs.Warnings = append(obs.Warnings, fmt.Sprintf("%s: a replicator writes this Secret, too; use mode = \"replicated\", or drop the label mif=enabled from the namespace", obs.ID))
			return
		}
	}
}

// minValid is the block's own limit or the default; kinds have checked its syntax.
func minValid(s resource.CredentialSpec) time.Duration {
	if s.MinValid == "" {
		return DefaultMinValid
	}
	t, err := time.ParseDuration(s.MinValid)
	if err != nil {
		panic("ecr: minValid " + s.MinValid)
	}
	return t
}

// short is a duration for people: 3h10m, 6h, 20m, 45s.
func short(t time.Duration) string {
	if t < time.Minute {
		return t.Round(time.Second).String()
	}
	s := strings.TrimSuffix(t.Round(time.Minute).String(), "0s")
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
