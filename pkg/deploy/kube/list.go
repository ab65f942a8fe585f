package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"

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

// survey lists the metadata of every object of every kind, or of one namespace's, that keep
// wants. What could not be listed comes back as sentences.
func (d *Driver) survey(ctx context.Context, namespace string, keep func(found) bool) ([]found, []string, error) {
	all, broken, err := d.kinds.all(ctx)
	if err != nil {
		return nil, nil, d.unreachable(err)
	}
	var (
		mu   sync.Mutex
		out  []found
		gaps []string
		wg   sync.WaitGroup
		slot = make(chan struct{}, listers)
	)
	for gv, err := range broken {
		gaps = append(gaps, fmt.Sprintf("%s: not listed: %v", gv, err))
	}
	for gvk, k := range all {
		if !slices.Contains(k.verbs, "list") || skipped(gvk) || namespace != "" && !k.namespaced {
			continue
		}
		wg.Go(func() {
			slot <- struct{}{}
			defer func() { <-slot }()
			part, err := d.surveyKind(ctx, gvk, k, namespace, keep)
			mu.Lock()
			defer mu.Unlock()
			out = append(out, part...)
			if err != nil && !isNotFound(err) {
				gaps = append(gaps, fmt.Sprintf("%s: not listed: %v", gvk.GroupKind(), err))
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, nil, fmt.Errorf("list the cluster's objects: %w", err)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].id().Key() < out[j].id().Key() })
	sort.Strings(gaps)
	return out, gaps, nil
}

// skipped are kinds that describe others and are never made by a configuration.
func skipped(gvk schema.GroupVersionKind) bool {
	return gvk.Kind == "Event" || gvk.Group == "metrics.k8s.io" || gvk.Kind == "ComponentStatus"
}

func (d *Driver) surveyKind(ctx context.Context, gvk schema.GroupVersionKind, k served, namespace string, keep func(found) bool) ([]found, error) {
	opts := metav1.ListOptions{Limit: pageSize}
	var out []found
	for {
		var list *metav1.PartialObjectMetadataList
		err := d.retryRead(ctx, func(ctx context.Context) (err error) {
			if namespace != "" {
				list, err = d.metadata.Resource(k.gvr).Namespace(namespace).List(ctx, opts)
				return err
			}
			list, err = d.metadata.Resource(k.gvr).List(ctx, opts)
			return err
		})
		if err != nil {
			return out, err
		}
		for _, m := range list.Items {
			if f := (found{gvk: gvk, meta: m}); keep(f) {
				out = append(out, f)
			}
		}
		if opts.Continue = list.Continue; opts.Continue == "" {
			return out, nil
		}
	}
}

// List implements deploy.Lister: every object of every kind that carries the stack's owner annotation and is not
// owned by another object; what could not be listed comes back as entries with a Warning.
func (d *Driver) List(ctx context.Context, stack string) ([]deploy.Found, error) {
	list, gaps, err := d.survey(ctx, "", func(f found) bool {
		return f.meta.Annotations[StackAnnotation] == stack && len(f.meta.OwnerReferences) == 0
	})
	if err != nil {
		return nil, err
	}
	out := make([]deploy.Found, 0, len(list)+len(gaps))
	for _, f := range list {
		out = append(out, describe(f))
	}
	for _, g := range gaps {
		out = append(out, deploy.Found{Warning: g})
	}
	return out, nil
}

func describe(f found) deploy.Found {
	notes := f.meta.Annotations
	out := deploy.Found{ID: f.id(), UID: string(f.meta.UID), Created: notes[CreatedAnnotation] != "false"}
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
	list, gaps, err := d.survey(ctx, namespace, func(f found) bool { return foreign(f, stack, releases) })
	if err != nil {
		return nil, nil, err
	}
	out := make([]resource.ID, 0, len(list))
	for _, f := range list {
		out = append(out, f.id())
	}
	return out, gaps, nil
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

// automatic are objects that Kubernetes or Istio put into every namespace, and Endpoints,
// which follow their Service.
func automatic(f found) bool {
	switch f.gvk.Kind {
	case "ServiceAccount":
		return f.meta.Name == "default"
	case "ConfigMap":
		return f.meta.Name == "kube-root-ca.crt" || strings.HasPrefix(f.meta.Name, "istio-ca-")
	case "Endpoints", "EndpointSlice":
		return true
	}
	return false
}

// holders names the objects whose finalizers keep a namespace.
func (d *Driver) holders(ctx context.Context, namespace string) []string {
	list, gaps, err := d.survey(ctx, namespace, func(f found) bool { return true })
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
