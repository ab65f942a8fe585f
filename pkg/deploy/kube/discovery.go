package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/mifbench/mifbench/pkg/deploy"
)

// served is how the cluster serves a kind.
type served struct {
	gvr        schema.GroupVersionResource
	namespaced bool
	verbs      metav1.Verbs
}

// can tells whether the kind allows a verb.
func (s served) can(verb string) bool { return slices.Contains(s.verbs, verb) }

// path is the path of an object's resource below the server's root.
func (s served) path(namespace, name string) string {
	root := "/apis/" + s.gvr.Group + "/" + s.gvr.Version
	if s.gvr.Group == "" {
		root = "/api/" + s.gvr.Version
	}
	if s.namespaced {
		root += "/namespaces/" + namespace
	}
	return root + "/" + s.gvr.Resource + "/" + name
}

// kinds remembers what the cluster serves. All group versions are read at once (two
// requests); a kind that is missing is asked for again each time, so that a CRD
// installed meanwhile is found without a reset, and a broken aggregated API hurts
// only its own group.
type kinds struct {
	client *discovery.DiscoveryClient
	// call makes one read, with retries.
	call func(context.Context, func(context.Context) error) error

	mu     sync.Mutex
	loaded bool
	groups []*metav1.APIGroup
	byGV   map[string]map[string]served
	broken map[string]error
}

// lookup finds a kind; the error wraps deploy.ErrNoKind when the server does not have it.
func (k *kinds) lookup(ctx context.Context, apiVersion, kind string) (served, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.load(ctx); err != nil {
		return served{}, err
	}
	if s, ok := k.byGV[apiVersion][kind]; ok {
		return s, nil
	}
	var list *metav1.APIResourceList
	err := k.call(ctx, func(ctx context.Context) (err error) {
		list, err = k.client.ServerResourcesForGroupVersionWithContext(ctx, apiVersion)
		return err
	})
	switch {
	case apierrors.IsNotFound(err):
		return served{}, noKind(apiVersion, kind, k.otherVersions(apiVersion, kind))
	case err != nil:
		return served{}, fmt.Errorf("discovery of %s: %w", apiVersion, err)
	}
	k.byGV[apiVersion] = table(list)
	if s, ok := k.byGV[apiVersion][kind]; ok {
		return s, nil
	}
	return served{}, noKind(apiVersion, kind, k.otherVersions(apiVersion, kind))
}

// all returns every kind, once per kind and group, and the groups that did not answer; with anew as
// the server has it now.
func (k *kinds) all(ctx context.Context, anew bool) (map[schema.GroupVersionKind]served, map[string]error, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.loaded = k.loaded && !anew
	if err := k.load(ctx); err != nil {
		return nil, nil, err
	}
	out, seen := map[schema.GroupVersionKind]served{}, map[schema.GroupKind]bool{}
	for _, g := range k.groups {
		for _, v := range append([]metav1.GroupVersionForDiscovery{g.PreferredVersion}, g.Versions...) {
			for kind, s := range k.byGV[v.GroupVersion] {
				gvk := s.gvr.GroupVersion().WithKind(kind)
				if !seen[gvk.GroupKind()] {
					seen[gvk.GroupKind()], out[gvk] = true, s
				}
			}
		}
	}
	return out, k.broken, nil
}

func (k *kinds) load(ctx context.Context) error {
	if k.loaded {
		return nil
	}
	var groups []*metav1.APIGroup
	var lists []*metav1.APIResourceList
	err := k.call(ctx, func(ctx context.Context) (err error) {
		groups, lists, err = k.client.ServerGroupsAndResourcesWithContext(ctx)
		return err
	})
	k.broken = map[string]error{}
	var partial *discovery.ErrGroupDiscoveryFailed
	if errors.As(err, &partial) {
		for gv, e := range partial.Groups {
			k.broken[gv.String()] = e
		}
	} else if err != nil {
		return fmt.Errorf("discovery: %w", err)
	}
	k.byGV = map[string]map[string]served{}
	for _, l := range lists {
		k.byGV[l.GroupVersion] = table(l)
	}
	k.groups, k.loaded = groups, true
	return nil
}

// otherVersions are the versions of the group in which the cluster does serve the kind.
func (k *kinds) otherVersions(apiVersion, kind string) []string {
	group, _, _ := strings.Cut(apiVersion, "/")
	var out []string
	for gv, t := range k.byGV {
		if _, ok := t[kind]; ok && strings.HasPrefix(gv, group+"/") {
			out = append(out, gv)
		}
	}
	return out
}

func table(l *metav1.APIResourceList) map[string]served {
	gv, err := schema.ParseGroupVersion(l.GroupVersion)
	if err != nil {
		return nil
	}
	t := map[string]served{}
	for _, r := range l.APIResources {
		if strings.Contains(r.Name, "/") {
			continue
		}
		t[r.Kind] = served{gvr: gv.WithResource(r.Name), namespaced: r.Namespaced, verbs: r.Verbs}
	}
	return t
}

func noKind(apiVersion, kind string, others []string) error {
	hint := supplier(apiVersion, kind)
	if len(others) > 0 {
		hint = "the cluster serves it as " + strings.Join(others, ", ")
	}
	return fmt.Errorf("%s %s: %w; %s", apiVersion, kind, deploy.ErrNoKind, hint)
}

func isNoKind(err error) bool { return errors.Is(err, deploy.ErrNoKind) }
