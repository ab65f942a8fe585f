// Package odin plays the InferenceService controller of Odin v0.8 and its webhooks: templates are merged and filled in,
// pool labels are added, and the result becomes a LeaderWorkerSet (workerTemplate) or a Deployment (template), whose
// progress is the service's status.
//
// What it does not do: Sprig beyond a handful of functions, autoscaling, spec.service, the status fields of v0.10, and
// conversion of older API groups. It adds the labels of the pool's selector to every pod, a point on which the public
// documents of that version contradict each other. Without its InferencePool a service is not started at all.
//
// Authors' mistakes are refused by the webhook, or (a template that changed afterwards, a missing pool) become the reason
// and message of condition Ready. Failures to reach the API server are logged and retried.
package odin

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"

	"github.com/mifbench/mifbench/test/localcluster/standin/reconcile"
)

const (
	// SystemNamespace is where templates are looked for after the service's own namespace.
	SystemNamespace = "mif"
	// ServiceLabel names the InferenceService that a pod belongs to.
	ServiceLabel = "mif.moreh.io/inferenceservice"

	manager = "odin-stand-in"
)

type controller struct {
	c                                               *reconcile.Cluster
	services, templates, pools, sets, deploys, pods cache.GenericLister
	applied                                         map[reconcile.Key]written
}

// written remembers what was last applied, so that an event about a pod does not cost a write.
type written struct {
	fingerprint string
	generation  int64
}

// Start registers the webhooks and reconciles until ctx ends.
func Start(ctx context.Context, c *reconcile.Cluster) error {
	if err := startWebhook(ctx, c); err != nil {
		return err
	}
	lister := func(k reconcile.Kind) cache.GenericLister { return c.Lister(k.GroupVersionResource) }
	ctl := &controller{
		c: c, services: lister(reconcile.InferenceServices()), templates: lister(reconcile.InferenceServiceTemplates()),
		pools: lister(reconcile.InferencePools()), sets: lister(reconcile.LeaderWorkerSets()),
		deploys: lister(reconcile.Deployments()), pods: lister(reconcile.Pods()), applied: map[reconcile.Key]written{},
	}
	loop := reconcile.NewLoop("odin", c.Log, ctl.reconcile)
	if err := ctl.watch(loop); err != nil {
		return err
	}
	if err := c.Start(ctx); err != nil {
		return err
	}
	go loop.Run(ctx)
	return nil
}

// watch says which events concern which services.
func (ctl *controller) watch(loop *reconcile.Loop) error {
	self := func(u *unstructured.Unstructured) { loop.Add(u.GetNamespace(), u.GetName()) }
	labelled := func(u *unstructured.Unstructured) {
		if name := u.GetLabels()[ServiceLabel]; name != "" {
			loop.Add(u.GetNamespace(), name)
		}
	}
	all := func(*unstructured.Unstructured) {
		for _, s := range reconcile.List(ctl.services, "", nil) {
			self(s)
		}
	}
	for _, w := range []struct {
		kind reconcile.Kind
		f    func(*unstructured.Unstructured)
	}{
		{reconcile.InferenceServices(), self},
		{reconcile.InferenceServiceTemplates(), all},
		{reconcile.InferencePools(), all},
		{reconcile.LeaderWorkerSets(), labelled},
		{reconcile.Deployments(), labelled},
		{reconcile.Pods(), labelled},
	} {
		if err := ctl.c.On(w.kind.GroupVersionResource, w.f); err != nil {
			return err
		}
	}
	return nil
}

func (ctl *controller) reconcile(ctx context.Context, key reconcile.Key) error {
	isvc := reconcile.Get(ctl.services, key.Namespace, key.Name)
	if isvc == nil || isvc.GetDeletionTimestamp() != nil {
		delete(ctl.applied, key)
		return nil // what it owns is the garbage collector's
	}
	r, reason, err := ctl.resolve(isvc)
	if err != nil {
		return ctl.c.PatchStatus(ctx, reconcile.InferenceServices(), isvc, notReady(isvc, reason, err.Error()))
	}
	labels, err := ctl.poolLabels(isvc, r)
	if err != nil {
		return ctl.c.PatchStatus(ctx, reconcile.InferenceServices(), isvc, notReady(isvc, "InferencePoolNotFound", err.Error()))
	}
	if err := ctl.applyWorkload(ctx, key, workload(isvc, &r.spec, labels)); err != nil {
		return err
	}
	if err := ctl.removeOther(ctx, isvc, &r.spec); err != nil {
		return err
	}
	return ctl.c.PatchStatus(ctx, reconcile.InferenceServices(), isvc, ctl.status(isvc, r))
}
