// Package lws plays the controller of LeaderWorkerSets: groups of pods with fixed names, replaced one group at a time, and
// the conditions that its users wait for.
//
// What it does not do: the StatefulSets and headless Services through which the real one works (pods belong to the
// LeaderWorkerSet directly), maxSurge, partition, subgroups, exclusive placement, startup policy, and scale by selector.
//
// Pods that cannot be created (quota, an invalid template) are an event on the set and a line in the log, and are tried
// again.
package lws

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"

	"github.com/mifbench/mifbench/test/localcluster/standin/reconcile"
)

const (
	nameLabel   = "leaderworkerset.sigs.k8s.io/name"
	groupLabel  = "leaderworkerset.sigs.k8s.io/group-index"
	workerLabel = "leaderworkerset.sigs.k8s.io/worker-index"
	hashLabel   = "leaderworkerset.sigs.k8s.io/template-revision-hash"
)

type controller struct {
	c          *reconcile.Cluster
	sets, pods cache.GenericLister
}

// Start reconciles until ctx ends.
func Start(ctx context.Context, c *reconcile.Cluster) error {
	ctl := &controller{c: c, sets: c.Lister(reconcile.LeaderWorkerSets().GroupVersionResource), pods: c.Lister(reconcile.Pods().GroupVersionResource)}
	loop := reconcile.NewLoop("lws", c.Log, ctl.reconcile)
	err := errors.Join(
		c.On(reconcile.LeaderWorkerSets().GroupVersionResource, func(u *unstructured.Unstructured) { loop.Add(u.GetNamespace(), u.GetName()) }),
		c.On(reconcile.Pods().GroupVersionResource, func(u *unstructured.Unstructured) {
			if name := u.GetLabels()[nameLabel]; name != "" {
				loop.Add(u.GetNamespace(), name)
			}
		}),
		c.Start(ctx))
	if err != nil {
		return err
	}
	go loop.Run(ctx)
	return nil
}

func (ctl *controller) reconcile(ctx context.Context, key reconcile.Key) error {
	u := reconcile.Get(ctl.sets, key.Namespace, key.Name)
	if u == nil || u.GetDeletionTimestamp() != nil {
		return nil // the pods are the garbage collector's
	}
	s, err := read(u)
	if err != nil {
		return err
	}
	pods, err := ctl.podsOf(u)
	if err != nil {
		return err
	}
	a := decide(s, pods)
	for _, e := range a.events {
		ctl.c.Event(ctx, reconcile.LeaderWorkerSets(), u, corev1.EventTypeNormal, e.reason, e.message)
	}
	var errs []error
	for _, p := range a.remove {
		errs = append(errs, ctl.remove(ctx, p))
	}
	for _, p := range a.create {
		errs = append(errs, ctl.create(ctx, u, p))
	}
	errs = append(errs, ctl.c.PatchStatus(ctx, reconcile.LeaderWorkerSets(), u, status(u, s, pods)))
	return errors.Join(errs...)
}

func (ctl *controller) podsOf(set *unstructured.Unstructured) ([]*corev1.Pod, error) {
	var out []*corev1.Pod
	for _, u := range reconcile.List(ctl.pods, set.GetNamespace(), func(u *unstructured.Unstructured) bool {
		return u.GetLabels()[nameLabel] == set.GetName()
	}) {
		p, err := reconcile.Into[corev1.Pod](u)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// create makes a pod; one that is there already was made a moment ago and is not in the cache yet.
func (ctl *controller) create(ctx context.Context, set *unstructured.Unstructured, p *corev1.Pod) error {
	p.OwnerReferences = []metav1.OwnerReference{reconcile.Owner(reconcile.LeaderWorkerSets(), set)}
	u, err := reconcile.Object(reconcile.Pods(), p)
	if err != nil {
		return err
	}
	_, err = ctl.c.Resource(reconcile.Pods(), p.Namespace).Create(ctx, u, metav1.CreateOptions{})
	if err == nil || apierrors.IsAlreadyExists(err) {
		return nil
	}
	// A namespace that is being deleted takes no new pods; the set will be gone soon.
	if !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		ctl.c.Event(ctx, reconcile.LeaderWorkerSets(), set, corev1.EventTypeWarning, "FailedCreate", err.Error())
	}
	return fmt.Errorf("create pod %s/%s: %w", p.Namespace, p.Name, err)
}

func (ctl *controller) remove(ctx context.Context, p *corev1.Pod) error {
	err := ctl.c.Resource(reconcile.Pods(), p.Namespace).Delete(ctx, p.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &p.UID}})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("delete pod %s/%s: %w", p.Namespace, p.Name, err)
	}
	return nil
}
