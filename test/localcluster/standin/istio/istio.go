// Package istio plays istiod with the inference extension switched on, the proxies that it deploys, and the scheduling
// that heimdall does for them: GatewayClass istio, Gateways, HTTPRoutes and InferencePools get the status that the real
// one writes, a Gateway gets its Deployment and Service, and requests really flow (package dataplane).
//
// What it does not do: TLS and TCP listeners, Service backends, filters, weights and timeouts of routes, cross-namespace
// grants, the mesh, DestinationRules, repair of generated objects changed by hand. It does not read heimdall's EndpointPickerConfig: requests are always spread over prefill and decode ranks by active requests.
// It has no cloud load balancer, so a Gateway whose Service is of type LoadBalancer simply gets the loopback address.
// Unlike istiod, which keeps silent, it reports NoMatchingParent on a route whose Gateway does not exist.
//
// Addresses: each Gateway has one fresh loopback address that stands for its Service, in status.addresses and, with the
// port, in the annotation AddressAnnotation of the Service; and each of its pods listens on the twin of the pod's
// address, which is where a port-forward ends.
//
// User mistakes are conditions on the user's objects; failures to reach the API server are logged and retried.
package istio

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mifbench/mifbench/test/localcluster/standin/reconcile"
)

const (
	// Controller is the controller name of GatewayClass istio, and the writer of every status.
	Controller = "istio.io/gateway-controller"
	// ClassName is the GatewayClass that the stand-in serves.
	ClassName = "istio"
	// AddressAnnotation of a generated Service holds the host:port to dial instead of its cluster IP.
	AddressAnnotation = "localcluster.mifbench.dev/listener"

	manager = "istio-stand-in"
	// settle lets a burst of events become one pass.
	settle = 20 * time.Millisecond
)

// Addresses is how nominal addresses become ones that can be listened on.
type Addresses struct {
	Twin  func(podIP string) string // loopback twin of a pod's address
	Alloc func() string             // a fresh loopback address
}

// controller looks at everything in every pass: a cluster has a handful of gateways, and one rule is easier to trust than
// a graph of triggers.
type controller struct {
	c       *reconcile.Cluster
	caches  caches
	traffic *traffic
	applied map[string]string // Gateway UID → fingerprint of what was generated for it
}

// Start creates the GatewayClass and serves until ctx ends.
func Start(ctx context.Context, c *reconcile.Cluster, a Addresses) error {
	ctl := &controller{c: c, caches: newCaches(c), traffic: newTraffic(a, c.Log), applied: map[string]string{}}
	if err := applyClass(ctx, c); err != nil {
		return err
	}
	loop := reconcile.NewLoop("istio", c.Log, func(ctx context.Context, _ reconcile.Key) error { return ctl.pass(ctx) })
	for _, k := range watched() {
		err := c.On(k.GroupVersionResource, func(*unstructured.Unstructured) {
			loop.AddAfter(reconcile.Key{Name: "all gateways"}, settle)
		})
		if err != nil {
			return err
		}
	}
	if err := c.Start(ctx); err != nil {
		return err
	}
	go loop.Run(ctx)
	return nil
}

// pass brings the whole cluster's gateways up to date once.
func (ctl *controller) pass(ctx context.Context) error {
	w := ctl.caches.look()
	var errs []error
	for _, g := range w.gateways {
		errs = append(errs, ctl.generate(ctx, g))
	}
	ctl.forget(w)
	routes := judgeRoutes(w)
	ctl.traffic.update(ctx, w, routes)
	for _, g := range w.gateways {
		errs = append(errs, ctl.c.PatchStatus(ctx, reconcile.Gateways(), g.live, gatewayStatus(g, routes, ctl.traffic.address(g))))
	}
	for _, r := range routes {
		errs = append(errs, ctl.c.PatchStatus(ctx, reconcile.HTTPRoutes(), r.live, r.status()))
	}
	for _, p := range w.pools {
		status := poolStatus(p, routes)
		errs = append(errs, ctl.c.PatchStatus(ctx, reconcile.InferencePools(), p.live, status))
		if led(status) {
			errs = append(errs, ctl.shadow(ctx, p, w.services))
		}
	}
	errs = append(errs, ctl.classStatus(ctx))
	return errors.Join(errs...)
}

// forget drops what is remembered of Gateways that are gone.
func (ctl *controller) forget(w *world) {
	for uid := range ctl.applied {
		if !w.has(uid) {
			delete(ctl.applied, uid)
		}
	}
}
