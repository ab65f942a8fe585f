// Package replicator plays two parts of a MIF installation that together bring the pull secret into namespaces: the
// framework's token refresher, which keeps Secret moreh-registry in namespace mif, and mittwald's kubernetes-replicator,
// which pushes a Secret to every namespace that its annotation selects.
//
// The secret holds a dummy password that no registry accepts. As with the real replicator a target of the same name is
// overwritten (data and labels; other annotations and the type stay), whoever made it, and is deleted when its namespace
// loses the label or the source goes; a copy changed or deleted by hand is not repaired before the source or the
// namespace changes.
//
// What it does not do: pull replication (replicate-from), ConfigMaps and roles, the replicate-to list of names, refreshing
// the token after its 12 hours.
package replicator

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"

	"github.com/mifbench/mifbench/test/localcluster/standin/reconcile"
)

const (
	matching    = "replicator.v1.mittwald.de/replicate-to-matching"
	at          = "replicator.v1.mittwald.de/replicated-at"
	fromVersion = "replicator.v1.mittwald.de/replicated-from-version"
	keys        = "replicator.v1.mittwald.de/replicated-keys"
)

type controller struct {
	c                   *reconcile.Cluster
	secrets, namespaces cache.GenericLister
	done                map[target]string // where each copy is, and of which version
}

// target is a copy: a secret's name in a namespace.
type target struct{ namespace, name string }

// Start writes the pull secret and replicates until ctx ends.
func Start(ctx context.Context, c *reconcile.Cluster) error {
	if err := applySource(ctx, c); err != nil {
		return err
	}
	ctl := &controller{
		c: c, secrets: c.Lister(reconcile.Secrets().GroupVersionResource),
		namespaces: c.Lister(reconcile.Namespaces().GroupVersionResource), done: map[target]string{},
	}
	loop := reconcile.NewLoop("replicator", c.Log, func(ctx context.Context, _ reconcile.Key) error { return ctl.pass(ctx) })
	again := func(*unstructured.Unstructured) { loop.Add("", "all secrets") }
	err := errors.Join(
		c.On(reconcile.Namespaces().GroupVersionResource, again),
		c.On(reconcile.Secrets().GroupVersionResource, func(u *unstructured.Unstructured) {
			if u.GetAnnotations()[matching] != "" {
				again(u)
			}
		}),
		c.Start(ctx))
	if err != nil {
		return err
	}
	go loop.Run(ctx)
	return nil
}

// pass pushes what is due and deletes what is no longer wanted.
func (ctl *controller) pass(ctx context.Context) error {
	wanted, errs := map[target]*corev1.Secret{}, []error{}
	for _, u := range reconcile.List(ctl.secrets, "", nil) {
		sel, err := labels.Parse(u.GetAnnotations()[matching])
		if err != nil {
			ctl.c.Log("replicator: secret %s/%s: %v", u.GetNamespace(), u.GetName(), err)
			continue
		}
		if sel.Empty() || u.GetDeletionTimestamp() != nil {
			continue
		}
		src, err := reconcile.Into[corev1.Secret](u)
		if err != nil {
			return err
		}
		for _, ns := range reconcile.List(ctl.namespaces, "", nil) {
			if ns.GetName() != src.Namespace && ns.GetDeletionTimestamp() == nil && sel.Matches(labels.Set(ns.GetLabels())) {
				wanted[target{ns.GetName(), src.Name}] = src
			}
		}
	}
	for t, src := range wanted {
		if ctl.done[t] == src.ResourceVersion {
			continue
		}
		if err := ctl.push(ctx, t, src); err != nil {
			errs = append(errs, err)
			continue
		}
		ctl.done[t] = src.ResourceVersion
	}
	for t := range ctl.done {
		if wanted[t] == nil {
			errs = append(errs, ctl.remove(ctx, t))
		}
	}
	return errors.Join(errs...)
}

// push creates or overwrites a copy.
func (ctl *controller) push(ctx context.Context, t target, src *corev1.Secret) error {
	client := ctl.c.Resource(reconcile.Secrets(), t.namespace)
	var old *corev1.Secret
	u, err := client.Get(ctx, t.name, metav1.GetOptions{})
	if err == nil {
		old, err = reconcile.Into[corev1.Secret](u)
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("replicate to %s/%s: %w", t.namespace, t.name, err)
	}
	u, err = reconcile.Object(reconcile.Secrets(), replica(src, old, t.namespace, metav1.Now()))
	if err != nil {
		return err
	}
	if old == nil {
		_, err = client.Create(ctx, u, metav1.CreateOptions{FieldManager: "replicator-stand-in"})
	} else {
		_, err = client.Update(ctx, u, metav1.UpdateOptions{FieldManager: "replicator-stand-in"})
	}
	if err != nil {
		return fmt.Errorf("replicate to %s/%s: %w", t.namespace, t.name, err)
	}
	return nil
}

func (ctl *controller) remove(ctx context.Context, t target) error {
	err := ctl.c.Resource(reconcile.Secrets(), t.namespace).Delete(ctx, t.name, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete the copy %s/%s: %w", t.namespace, t.name, err)
	}
	delete(ctl.done, t)
	return nil
}
