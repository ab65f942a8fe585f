package check

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/mifbench/mifbench/pkg/resource"
)

// readers is how many questions are asked at a time.
const readers = 8

// reader fills a World.
type reader struct {
	ctx     context.Context
	cluster Cluster
	mu      sync.Mutex
	world   *World
	jobs    []func()
}

// Read asks the cluster what the checks of a configuration need to know: each list once, each
// single object once, nothing that the configuration gives no reason for. What may not be read
// is remembered as such; what fails otherwise is in World.Broken, too.
func Read(ctx context.Context, c Cluster, m *Model, id Identity, now time.Time) *World {
	w := &World{
		Identity: id, Now: now, kinds: map[kindName]got[Served]{}, objects: map[resource.ID]got[map[string]any]{},
		templates: map[string]got[map[string]map[string]any]{}, secrets: map[place]got[*pullContent]{}, releases: map[place]got[*Release]{},
	}
	r := &reader{ctx: ctx, cluster: c, world: w}
	for _, k := range neededKinds(m) {
		r.kind(k.kindName)
	}
	r.namespaces(m)
	r.run() // the rest asks by the names that discovery gave, and only where there is a namespace
	r.gateways(m)
	r.stack(m)
	r.workloads(m)
	r.rights(neededRights(m, w))
	r.run()
	return w
}

// run does the jobs collected so far, a few at a time.
func (r *reader) run() {
	var wg sync.WaitGroup
	slot := make(chan struct{}, readers)
	for _, job := range r.jobs {
		wg.Go(func() {
			slot <- struct{}{}
			defer func() { <-slot }()
			job()
		})
	}
	wg.Wait()
	r.jobs = nil
}

// ask adds one question; keep stores the answer under the world's lock.
func ask[T any](r *reader, what string, question func() (T, error), keep func(got[T])) {
	r.jobs = append(r.jobs, func() {
		is, err := question()
		r.mu.Lock()
		defer r.mu.Unlock()
		if err != nil && !errors.Is(err, ErrForbidden) {
			r.world.broken = append(r.world.broken, fmt.Sprintf("%s: %v", what, err))
		}
		keep(answer(is, what, err))
	})
}

func answer[T any](is T, what string, err error) got[T] {
	switch {
	case err == nil:
		return got[T]{is: is, ok: true}
	case errors.Is(err, ErrForbidden):
		return got[T]{why: "no right to read " + what}
	}
	return got[T]{why: fmt.Sprintf("%s could not be read: %v", what, err)}
}

func (r *reader) kind(k kindName) {
	ask(r, "what the cluster serves (discovery)", func() (Served, error) { return r.cluster.Kind(r.ctx, k.apiVersion, k.kind) },
		func(g got[Served]) { r.world.kinds[k] = g })
}

// absent tells whether a namespace is known not to exist: nothing is in it then.
func (r *reader) absent(namespace string) bool {
	ns := r.world.object(namespaceID(namespace))
	return namespace != "" && ns.ok && ns.is == nil
}

func (r *reader) get(id resource.ID) {
	if _, again := r.world.objects[id]; again {
		return
	}
	r.world.objects[id] = got[map[string]any]{ok: r.absent(id.Namespace)}
	if r.absent(id.Namespace) {
		return
	}
	ask(r, id.String(), func() (map[string]any, error) { return r.cluster.Get(r.ctx, id) },
		func(g got[map[string]any]) { r.world.objects[id] = g })
}

// list collects what visit makes of each object of a kind.
func list[T any](r *reader, what string, l List, visit func(map[string]any) (T, bool), keep func(got[[]T])) {
	ask(r, what, func() ([]T, error) {
		var out []T
		err := r.cluster.Each(r.ctx, l, func(o map[string]any) {
			if x, ok := visit(o); ok {
				out = append(out, x)
			}
		})
		return out, err
	}, keep)
}

func whole(o map[string]any) (map[string]any, bool) { return o, true }

// namespaces reads the namespaces that the configuration works in.
func (r *reader) namespaces(m *Model) {
	for _, ns := range m.usedNamespaces() {
		r.get(namespaceID(ns))
	}
}

func namespaceID(name string) resource.ID {
	return resource.ID{Driver: resource.DriverKube, APIVersion: "v1", Kind: "Namespace", Name: name}
}

func classID(name string) resource.ID {
	return resource.ID{Driver: resource.DriverKube, APIVersion: "gateway.networking.k8s.io/v1", Kind: "GatewayClass", Name: name}
}

func crdID(name string) resource.ID {
	return resource.ID{Driver: resource.DriverKube, APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: name}
}

func claimID(namespace, name string) resource.ID {
	return resource.ID{Driver: resource.DriverKube, APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: namespace, Name: name}
}

func secretID(p place) resource.ID {
	return resource.ID{Driver: resource.DriverKube, APIVersion: "v1", Kind: "Secret", Namespace: p.namespace, Name: p.name}
}

// The CRDs of which one detail matters.
const (
	poolCRD    = "inferencepools.inference.networking.k8s.io"
	serviceCRD = "inferenceservices.odin.moreh.io"
)

func (r *reader) gateways(m *Model) {
	for _, g := range m.gateways {
		r.get(classID(g.class))
	}
	if len(m.schedulers) > 0 {
		r.get(crdID(poolCRD))
	}
	if len(m.services) > 0 {
		r.get(crdID(serviceCRD))
	}
}

// stack reads pull secrets, releases and controllers.
func (r *reader) stack(m *Model) {
	for _, c := range m.credentials {
		id := c.Objects[0].ID
		r.secret(place{id.Namespace, id.Name})
		if replicated(c) {
			r.secret(place{systemNamespace, id.Name}) // the original
		}
	}
	if ns, ok := refresherNamespaces(m); ok {
		list(r, "the CronJobs of "+named(ns), List{APIVersion: "batch/v1", Kind: "CronJob", Namespace: ns}, whole,
			func(g got[[]map[string]any]) { r.world.refreshers = g })
	}
	for _, s := range m.releases() {
		at := place{s.Objects[0].ID.Namespace, s.Objects[0].ID.Name}
		if r.absent(at.namespace) {
			r.world.releases[at] = got[*Release]{ok: true}
			continue
		}
		ask(r, "the records of release "+at.namespace+"/"+at.name, func() (*Release, error) { return r.cluster.Release(r.ctx, at.namespace, at.name) },
			func(g got[*Release]) { r.world.releases[at] = g })
	}
	if names := controllers(m); len(names) > 0 {
		list(r, "the Deployments of all namespaces", List{APIVersion: "apps/v1", Kind: "Deployment", Labels: "app.kubernetes.io/name in (" + strings.Join(names, ",") + ")"},
			whole, func(g got[[]map[string]any]) { r.world.deployments = g })
	}
}

func (r *reader) secret(at place) {
	if _, again := r.world.secrets[at]; again {
		return
	}
	r.world.secrets[at] = got[*pullContent]{ok: r.absent(at.namespace)}
	if r.absent(at.namespace) {
		return
	}
	ask(r, secretID(at).String(), func() (*pullContent, error) {
		o, err := r.cluster.Get(r.ctx, secretID(at))
		return newPullContent(o), err
	}, func(g got[*pullContent]) { r.world.secrets[at] = g })
}

func named(namespace string) string {
	if namespace == "" {
		return "all namespaces"
	}
	return "namespace " + namespace
}

// workloads reads nodes, pods, services and templates.
func (r *reader) workloads(m *Model) {
	if len(m.services) > 0 {
		for _, ns := range m.templateNamespaces() {
			r.templates(ns)
		}
		list(r, "the InferenceServices of all namespaces", List{APIVersion: odinVersion, Kind: "InferenceService"}, whole,
			func(g got[[]map[string]any]) { r.world.services = g })
	}
	for _, e := range m.services {
		for _, name := range e.claims() {
			r.get(claimID(e.namespace, name))
		}
	}
	if !m.needsNodes() {
		return
	}
	list(r, "the nodes", List{APIVersion: "v1", Kind: "Node"}, func(o map[string]any) (node, bool) { return newNode(o), true },
		func(g got[[]node]) { r.world.nodes = g })
	list(r, "the pods of all namespaces", List{APIVersion: "v1", Kind: "Pod", Fields: "status.phase!=Succeeded,status.phase!=Failed"}, newLivePod,
		func(g got[[]livePod]) { r.world.pods = g })
}

// odinVersion is the group and version of Odin's kinds.
const odinVersion = "odin.moreh.io/v1alpha1"

func (r *reader) templates(namespace string) {
	if r.absent(namespace) {
		r.world.templates[namespace] = got[map[string]map[string]any]{ok: true}
		return
	}
	ask(r, "the InferenceServiceTemplates of "+named(namespace), func() (map[string]map[string]any, error) {
		out := map[string]map[string]any{}
		err := r.cluster.Each(r.ctx, List{APIVersion: odinVersion, Kind: "InferenceServiceTemplate", Namespace: namespace},
			func(o map[string]any) { out[textAt(o, "metadata", "name")] = o })
		return out, err
	}, func(g got[map[string]map[string]any]) { r.world.templates[namespace] = g })
}

func (r *reader) rights(needs []need) {
	if len(needs) == 0 {
		r.world.rights.ok = true
		return
	}
	rights := make([]Right, len(needs))
	for i, n := range needs {
		rights[i] = n.Right
	}
	ask(r, "the user's own rights", func() ([]verdict, error) {
		yes, err := r.cluster.Allowed(r.ctx, rights)
		var out []verdict
		for i := range yes {
			out = append(out, verdict{needs[i], yes[i]})
		}
		return out, err
	}, func(g got[[]verdict]) { r.world.rights = g })
}
