package check

import (
	"fmt"
	"slices"
)

// controllerName is what the label app.kubernetes.io/name says on a controller's Deployment.
type controllerName string

const (
	istiod       controllerName = "istiod"
	odin         controllerName = "odin"
	certManager  controllerName = "cert-manager"
	workerGroups controllerName = "lws"
	replicator   controllerName = "kubernetes-replicator"
)

// controllers are those that the configuration's objects need.
func controllers(m *Model) []string {
	var out []string
	for _, g := range m.gateways {
		if g.class == "istio" {
			out = append(out, string(istiod))
			break
		}
	}
	if len(m.services) > 0 {
		out = append(out, string(odin), string(certManager))
	}
	if slices.ContainsFunc(m.services, service.grouped) {
		out = append(out, string(workerGroups))
	}
	if slices.ContainsFunc(m.credentials, replicated) {
		out = append(out, string(replicator))
	}
	return out
}

// controller are the Deployments of a controller. gap says why there is none to judge: the list
// may not be read, or holds none, which proves nothing, since a controller may run under another
// label or outside of the cluster.
func (w *World) controller(m *Model, name controllerName) (list []map[string]any, gap string) {
	if !w.deployments.ok {
		return nil, fmt.Sprintf("%s: %s", name, w.deployments.missing())
	}
	for _, d := range w.deployments.is {
		if textAt(d, "metadata", "labels", "app.kubernetes.io/name") == string(name) {
			list = append(list, d)
		}
	}
	if len(list) > 0 {
		return list, ""
	}
	if coming := m.mayCome(w); coming != "" {
		return nil, fmt.Sprintf("%s: no Deployment carries app.kubernetes.io/name=%s: %s", name, name, coming)
	}
	return nil, fmt.Sprintf("%s: no Deployment carries app.kubernetes.io/name=%s, so whether it runs is not known", name, name)
}
