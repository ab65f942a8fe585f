package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/resource"
)

// listers is how many kinds are listed at once.
const listers = 8

// found is the metadata of one object of one kind.
type found struct {
	gvk  schema.GroupVersionKind
	meta metav1.PartialObjectMetadata
}

func (f found) id() resource.ID {
	return resource.ID{Driver: resource.DriverKube, APIVersion: f.gvk.GroupVersion().String(), Kind: f.gvk.Kind, Namespace: f.meta.Namespace, Name: f.meta.Name}
}

// place is one list of a survey: a kind, in one namespace or ("") everywhere.
type place struct {
	gvk       schema.GroupVersionKind
	served    served
	namespace string
}

// gap is a list that could not be had.
type gap struct {
	kind schema.GroupKind
	text string
	// forbidden tells that the user lacks the right; such gaps are summed up in one sentence.
	forbidden bool
}

// survey lists the metadata of the objects at the places that keep wants. What could not be
// listed comes back, too.
func (d *Driver) survey(ctx context.Context, places []place, keep func(found) bool) ([]found, []gap, error) {
	var (
		mu   sync.Mutex
		out  []found
		gaps []gap
		wg   sync.WaitGroup
		slot = make(chan struct{}, listers)
	)
	for _, p := range places {
		wg.Go(func() {
			slot <- struct{}{}
			defer func() { <-slot }()
			part, err := d.surveyKind(ctx, p, keep)
			mu.Lock()
			defer mu.Unlock()
			out = append(out, part...)
			if err != nil && !isNotFound(err) {
				gaps = append(gaps, gap{p.gvk.GroupKind(), fmt.Sprintf("%s: not listed: %v", p.gvk.GroupKind(), err), apierrors.IsForbidden(err)})
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, nil, fmt.Errorf("list the cluster's objects: %w", err)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].id().Key() < out[j].id().Key() })
	sort.Slice(gaps, func(i, j int) bool { return gaps[i].text < gaps[j].text })
	return out, gaps, nil
}

// places are the lists of every kind, or of every kind that lives in the namespace, that wanted wants.
// Groups whose discovery failed are gaps. With anew the server is asked again what it serves.
func (d *Driver) places(ctx context.Context, namespace string, anew bool, wanted func(schema.GroupKind, served) bool) ([]place, []gap, error) {
	all, broken, err := d.kinds.all(ctx, anew)
	if err != nil {
		return nil, nil, d.unreachable(err)
	}
	var out []place
	for gvk, k := range all {
		if k.can("list") && !skipped(gvk) && (namespace == "" || k.namespaced) && wanted(gvk.GroupKind(), k) {
			out = append(out, place{gvk, k, namespace})
		}
	}
	var gaps []gap
	for gv, err := range broken {
		group, _, _ := strings.Cut(gv, "/")
		gaps = append(gaps, gap{kind: schema.GroupKind{Group: group}, text: fmt.Sprintf("%s: not listed: %v", gv, err)})
	}
	return out, gaps, nil
}

// skipped are kinds that describe others and are never made by a configuration.
func skipped(gvk schema.GroupVersionKind) bool {
	return gvk.Kind == "Event" || gvk.Group == "metrics.k8s.io" || gvk.Kind == "ComponentStatus"
}

func (d *Driver) surveyKind(ctx context.Context, p place, keep func(found) bool) ([]found, error) {
	opts := metav1.ListOptions{Limit: pageSize}
	var out []found
	for {
		var list *metav1.PartialObjectMetadataList
		err := d.retryRead(ctx, func(ctx context.Context) (err error) {
			if p.namespace != "" {
				list, err = d.metadata.Resource(p.served.gvr).Namespace(p.namespace).List(ctx, opts)
				return err
			}
			list, err = d.metadata.Resource(p.served.gvr).List(ctx, opts)
			return err
		})
		if err != nil {
			return out, err
		}
		for _, m := range list.Items {
			if f := (found{gvk: p.gvk, meta: m}); keep(f) {
				out = append(out, f)
			}
		}
		if opts.Continue = list.Continue; opts.Continue == "" {
			return out, nil
		}
	}
}

// List implements deploy.Lister: every object that carries the stack's owner annotation and is not
// owned by another object, and those that the scope names; what could not be listed comes back as
// entries with a Warning.
func (d *Driver) List(ctx context.Context, stack string, in deploy.Scope) ([]deploy.Found, error) {
	places, gaps, err := d.placesIn(ctx, in)
	if err != nil {
		return nil, err
	}
	list, more, err := d.survey(ctx, places, func(f found) bool {
		return in.Named[f.id().Key()] || f.meta.Annotations[StackAnnotation] == stack && len(f.meta.OwnerReferences) == 0
	})
	if err != nil {
		return nil, err
	}
	gaps = sumUp(append(gaps, more...))
	out := make([]deploy.Found, 0, len(list)+len(gaps))
	for _, f := range list {
		out = append(out, describe(f))
	}
	for _, g := range gaps {
		out = append(out, deploy.Found{ID: resource.ID{APIVersion: g.kind.Group + "/", Kind: g.kind.Kind}, Warning: g.text})
	}
	return out, nil
}

// maxGaps is how many kinds a sentence names.
const maxGaps = 5

// sumUp gives all gaps that a missing right leaves the same sentence: somebody with rights in one
// namespace may list little of a cluster.
func sumUp(gaps []gap) []gap {
	var kinds []string
	for _, g := range gaps {
		if name := g.kind.String(); g.forbidden && !slices.Contains(kinds, name) {
			kinds = append(kinds, name)
		}
	}
	if len(kinds) == 0 {
		return gaps
	}
	slices.Sort(kinds)
	names := strings.Join(kinds[:min(maxGaps, len(kinds))], ", ")
	if n := len(kinds) - maxGaps; n > 0 {
		names += fmt.Sprintf(" and %d more", n)
	}
	for i := range gaps {
		if gaps[i].forbidden {
			gaps[i].text = "no right to list " + names + ": of these only the objects that are known to be the stack's were looked at"
		}
	}
	return gaps
}

// placesIn are the lists that a scope asks for, each once.
func (d *Driver) placesIn(ctx context.Context, in deploy.Scope) ([]place, []gap, error) {
	named := func(k schema.GroupKind) bool {
		return in.Kinds == nil || slices.Contains(in.Kinds, k.Group+"/"+k.Kind)
	}
	out, gaps, err := d.places(ctx, "", in.Kinds == nil, func(k schema.GroupKind, s served) bool {
		return named(k) || !s.namespaced && slices.Contains(residue(), k.Group+"/"+k.Kind)
	})
	if err != nil || in.Kinds == nil {
		return out, gaps, err
	}
	for _, ns := range in.Namespaces {
		more, _, err := d.places(ctx, ns, false, func(k schema.GroupKind, _ served) bool { return !named(k) })
		if err != nil {
			return nil, nil, err
		}
		out = append(out, more...)
	}
	gaps = slices.DeleteFunc(gaps, func(g gap) bool {
		return len(in.Namespaces) == 0 && !slices.ContainsFunc(in.Kinds, func(k string) bool { return strings.HasPrefix(k, g.kind.Group+"/") })
	})
	return out, gaps, nil
}

// residue are kinds outside of namespaces that stacks and their charts make and that stay when a
// namespace goes.
func residue() []string {
	return []string{
		"/Namespace", "/PersistentVolume", "apiextensions.k8s.io/CustomResourceDefinition", "scheduling.k8s.io/PriorityClass",
		"rbac.authorization.k8s.io/ClusterRole", "rbac.authorization.k8s.io/ClusterRoleBinding",
		"admissionregistration.k8s.io/MutatingWebhookConfiguration", "admissionregistration.k8s.io/ValidatingWebhookConfiguration",
	}
}

func describe(f found) deploy.Found {
	notes := f.meta.Annotations
	out := deploy.Found{ID: f.id(), UID: string(f.meta.UID), Owner: notes[StackAnnotation], Created: notes[CreatedAnnotation] != "false"}
	if a, err := resource.ParseAddress(notes[AddressAnnotation]); err == nil {
		out.Address = a
	}
	if text := notes[DependsOnAnnotation]; text != "" {
		if err := json.Unmarshal([]byte(text), &out.DependsOn); err != nil {
			out.DependsOn = nil // an edited annotation: the order is then not known
		}
	}
	return out
}

// ForeignObjects lists what else lives in a namespace: not of the stack, not of the named Helm
// releases, not made by Kubernetes or by another object. Deleting the namespace would delete it.
// The second result says what could not be listed.
func (d *Driver) ForeignObjects(ctx context.Context, namespace, stack string, releases ...string) ([]resource.ID, []string, error) {
	list, gaps, err := d.within(ctx, namespace, func(f found) bool { return foreign(f, stack, releases) })
	if err != nil {
		return nil, nil, err
	}
	out := make([]resource.ID, 0, len(list))
	for _, f := range list {
		out = append(out, f.id())
	}
	return out, gaps, nil
}

// within surveys a namespace; gaps are sentences.
func (d *Driver) within(ctx context.Context, namespace string, keep func(found) bool) ([]found, []string, error) {
	places, gaps, err := d.places(ctx, namespace, false, func(k schema.GroupKind, _ served) bool { return !followers(k.Kind) })
	if err != nil {
		return nil, nil, err
	}
	list, more, err := d.survey(ctx, places, keep)
	var texts []string
	for _, g := range append(gaps, more...) {
		texts = append(texts, g.text)
	}
	return list, texts, err
}

func foreign(f found, stack string, releases []string) bool {
	m := f.meta
	switch {
	case m.Annotations[StackAnnotation] == stack, m.Labels[StackAnnotation] == stack, len(m.OwnerReferences) > 0, m.DeletionTimestamp != nil:
		return false
	case slices.Contains(releases, m.Annotations["meta.helm.sh/release-name"]):
		return false
	case f.gvk.Kind == "Secret" && m.Labels["owner"] == "helm" && slices.Contains(releases, m.Labels["name"]):
		return false
	case m.Annotations["replicator.v1.mittwald.de/replicated-at"] != "":
		return false
	}
	return !automatic(f)
}

// followers are kinds whose objects follow their Service and hold nothing.
func followers(kind string) bool { return kind == "Endpoints" || kind == "EndpointSlice" }

// automatic are objects that Kubernetes or Istio put into every namespace.
func automatic(f found) bool {
	switch f.gvk.Kind {
	case "ServiceAccount":
		return f.meta.Name == "default"
	case "ConfigMap":
		return f.meta.Name == "kube-root-ca.crt" || strings.HasPrefix(f.meta.Name, "istio-ca-")
	}
	return false
}

// holders names the objects whose finalizers keep a namespace.
func (d *Driver) holders(ctx context.Context, namespace string) []string {
	list, gaps, err := d.within(ctx, namespace, func(found) bool { return true })
	if err != nil {
		return []string{fmt.Sprintf("what remains is not known: %v", err)}
	}
	out := make([]string, 0, len(list))
	for _, f := range list {
		line := "remains: " + f.id().String()
		if len(f.meta.Finalizers) > 0 {
			line += " (finalizers " + strings.Join(f.meta.Finalizers, ", ") + ")"
		}
		out = append(out, line)
	}
	return append(out, gaps...)
}
