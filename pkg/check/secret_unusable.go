package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/resource/kinds"
)

func secretUnusable() Check {
	return Check{
		Code: "MIF112", About: "pull secrets", Title: "Pull secret that pulls nothing", Severity: fault, Measures: true,
		Why: "Nodes that do not have the image yet cannot pull it, and the pods end in ImagePullBackOff.",
		Fix: "Look at the framework's CronJob ecr-token-refresher in mif and at the replicator, or use mode = \"aws\".",
		Look: func(m *Model, w *World) (o Outcome) {
			for _, c := range m.credentials {
				if !replicated(c) {
					o.seen("%s is made by apply", c.Address)
					continue
				}
				judgeCopy(m, w, c, &o)
			}
			return o
		},
	}
}

// replicated tells whether somebody else makes the Secret.
func replicated(c config.Resource) bool {
	return c.Options.(*kinds.ECRCredentials).Mode == resource.CredentialReplicated
}

// judgeSource: a copy that is not there is made when the original is there; apply waits for it.
func (w *World) judgeSource(name, registry string, o *Outcome, fail func(string, ...any)) {
	source := w.secrets[place{systemNamespace, name}]
	switch s := source.is; {
	case !source.ok:
		o.skip("%s, of which the copy is not there yet", source.missing())
	case s == nil:
		fail("does not exist, and neither does the original, %s/%s, that the replicator would copy.", systemNamespace, name)
	case !slices.Contains(s.hosts, registry):
		fail("does not exist, and the original, %s/%s, has no entry for %s.", systemNamespace, name, registry)
	case !s.expires.IsZero() && !s.expires.After(w.Now):
		fail("does not exist, and the token of the original, %s/%s, expired %s ago.", systemNamespace, name, shortTime(w.Now.Sub(s.expires)))
	default:
		o.seen("the original %s/%s has %s; apply waits for the copy", systemNamespace, name, registry)
	}
}

func judgeCopy(m *Model, w *World, c config.Resource, o *Outcome) {
	at := place{c.Objects[0].ID.Namespace, c.Objects[0].ID.Name}
	registry := bareHost(c.Options.(*kinds.ECRCredentials).Registry)
	ns, secret := w.object(namespaceID(at.namespace)), w.secrets[at]
	labels := mapAt(ns.is, "metadata", "labels")
	fail := func(format string, args ...any) {
		o.find(finding(c, "mode", fmt.Sprintf("The Secret %s/%s %s", at.namespace, at.name, fmt.Sprintf(format, args...))))
	}
	switch s := secret.is; {
	case !secret.ok:
		o.skip("%s", secret.missing())
	case s == nil && ns.ok && ns.is == nil:
		w.judgeSource(at.name, registry, o, fail)
	case s == nil && textOf(labels["mif"]) != "enabled" && m.namespaces[at.namespace].Options == nil:
		fail("does not exist, and the namespace, which this configuration does not make, lacks the label mif=enabled.")
	case s == nil && textOf(labels["mif"]) != "enabled":
		w.judgeSource(at.name, registry, o, fail)
	case s == nil:
		w.judgeSource(at.name, registry, o, fail)
	case s.kind != pullKind:
		fail("has the type %q, not %s.", s.kind, pullKind)
	case s.trouble != "":
		fail("is of no use: %s.", s.trouble)
	case !slices.Contains(s.hosts, registry):
		fail("has no entry for %s; it has: %s.", registry, strings.Join(s.hosts, ", "))
	case !s.expires.IsZero() && !s.expires.After(w.Now):
		fail("holds a token that expired %s ago.", shortTime(w.Now.Sub(s.expires)))
	default:
		o.seen("Secret %s/%s has %s", at.namespace, at.name, registry)
	}
}
