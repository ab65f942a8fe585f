package check

import (
	"slices"
	"strings"

	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/resource/kinds"
)

// usedNamespaces are those in which the configuration has objects, in the order of use.
func (m *Model) usedNamespaces() []string {
	var out []string
	for _, o := range m.Objects() {
		ns := o.ID.Namespace
		if o.ID.Kind == "Namespace" && o.ID.APIVersion == "v1" {
			ns = o.ID.Name
		}
		if ns != "" && !slices.Contains(out, ns) {
			out = append(out, ns)
		}
	}
	return out
}

// templateNamespaces are where Odin looks for the services' templates.
func (m *Model) templateNamespaces() []string {
	out := []string{systemNamespace}
	for _, e := range m.services {
		if !slices.Contains(out, e.namespace) {
			out = append(out, e.namespace)
		}
	}
	return out
}

// needsNodes tells whether the configuration puts pods on nodes.
func (m *Model) needsNodes() bool {
	return len(m.services) > 0 || len(manifestDemands(m)) > 0 || slices.ContainsFunc(m.Scenarios, func(s config.Scenario) bool { return len(clientSelector(s)) > 0 })
}

func clientSelector(s config.Scenario) map[string]string {
	if s.Client == nil || s.Client.Mode != "cluster" {
		return nil
	}
	return s.Client.NodeSelector
}

// releases are the blocks that stand for a Helm release.
func (m *Model) releases() []config.Resource {
	var out []config.Resource
	for _, r := range m.Resources {
		if len(r.Objects) > 0 && r.Objects[0].ID.Driver == resource.DriverHelm {
			out = append(out, r)
		}
	}
	return out
}

// bringers are the releases of other charts that are not installed yet: what is absent now
// may come with them, and only the plan, which renders them, can tell.
func (m *Model) bringers(w *World) []string {
	var out []string
	for _, r := range m.releases() {
		if _, ok := newScheduler(r); ok {
			continue
		}
		live := w.releases[place{r.Objects[0].ID.Namespace, r.Objects[0].ID.Name}]
		if !live.ok || live.is == nil || live.is.Status != "deployed" {
			out = append(out, r.Address.String())
		}
	}
	return out
}

// mayCome is a phrase for what is absent now, "" where nothing of the configuration can bring it.
func (m *Model) mayCome(w *World) string {
	if list := m.bringers(w); len(list) > 0 {
		return "it may come with " + strings.Join(list, " or ") + ", which is not installed yet"
	}
	return ""
}

// madeHere tells whether the configuration itself has an object.
func (m *Model) madeHere(kind, namespace, name string) bool {
	return slices.ContainsFunc(m.Objects(), func(o resource.Object) bool {
		return o.ID.Kind == kind && o.ID.Namespace == namespace && o.ID.Name == name
	})
}

// claims are the claims that the service's utility templates mount.
func (e service) claims() []string {
	if slices.ContainsFunc(e.options.TemplateRefs, func(ref string) bool { return strings.HasSuffix(ref, "hf-hub-offline") }) {
		return []string{"models"}
	}
	return nil
}

// refresherNamespaces says where CronJobs that refresh pull secrets are looked for: the system
// namespace for replicated ones, that of the block for its own. ok is false when there are none.
func refresherNamespaces(m *Model) (namespace string, ok bool) {
	var list []string
	for _, c := range m.credentials {
		o := c.Options.(*kinds.ECRCredentials)
		ns := ""
		switch {
		case o.Mode == resource.CredentialReplicated:
			ns = systemNamespace
		case o.Refresh != nil:
			ns = o.Namespace
		}
		if ns != "" && !slices.Contains(list, ns) {
			list = append(list, ns)
		}
	}
	switch len(list) {
	case 0:
		return "", false
	case 1:
		return list[0], true
	}
	return "", true
}
