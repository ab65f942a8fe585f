package kube

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/resource"
)

// KindInfo is how the cluster serves a kind.
type KindInfo struct {
	// Version tells whether the kind is served in the version asked for; Others are the
	// group/versions in which it is served besides.
	Version bool
	Others  []string
	// Resource is the plural name in requests, "" when the kind is not served at all.
	Resource   string
	Namespaced bool
	// Supplier is a sentence without a full stop: what would bring the kind.
	Supplier string
}

// KindInfo tells how the cluster serves a kind, from the discovery that all calls share. A group
// whose aggregated API does not answer is an error.
func (d *Driver) KindInfo(ctx context.Context, apiVersion, kind string) (KindInfo, error) {
	info := KindInfo{Supplier: supplier(apiVersion, kind)}
	k, err := d.kinds.lookup(ctx, apiVersion, kind)
	switch {
	case err == nil:
		info.Version, info.Resource, info.Namespaced = true, k.gvr.Resource, k.namespaced
		return info, nil
	case !errors.Is(err, deploy.ErrNoKind):
		return info, err
	}
	d.kinds.mu.Lock()
	defer d.kinds.mu.Unlock()
	info.Others = d.kinds.otherVersions(apiVersion, kind)
	for _, gv := range info.Others {
		s := d.kinds.byGV[gv][kind]
		info.Resource, info.Namespaced = s.gvr.Resource, s.namespaced
	}
	return info, nil
}

// Query asks for the objects of a kind.
type Query struct {
	APIVersion, Kind string
	// Namespace is "" for all.
	Namespace string
	// Labels and Fields are selectors, "" for all.
	Labels, Fields string
}

// Each visits the objects of a kind a page at a time, so that long lists need not be held. A
// kind that is not served has no objects.
func (d *Driver) Each(ctx context.Context, q Query, visit func(map[string]any)) error {
	k, err := d.kinds.lookup(ctx, q.APIVersion, q.Kind)
	if isNoKind(err) {
		return nil
	}
	if err != nil {
		return err
	}
	opts := metav1.ListOptions{LabelSelector: q.Labels, FieldSelector: q.Fields, Limit: pageSize}
	for {
		var list *unstructured.UnstructuredList
		err := d.retryRead(ctx, func(ctx context.Context) (err error) {
			if k.namespaced && q.Namespace != "" {
				list, err = d.dynamic.Resource(k.gvr).Namespace(q.Namespace).List(ctx, opts)
				return err
			}
			list, err = d.dynamic.Resource(k.gvr).List(ctx, opts)
			return err
		})
		if err != nil {
			return d.explain("list", resource.ID{APIVersion: q.APIVersion, Kind: q.Kind, Namespace: q.Namespace, Name: "*"}, err)
		}
		for i := range list.Items {
			visit(list.Items[i].Object)
		}
		if opts.Continue = list.GetContinue(); opts.Continue == "" {
			return nil
		}
	}
}
