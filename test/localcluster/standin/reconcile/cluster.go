// Package reconcile is the little that the stand-in controllers need beside client-go's dynamic client: one shared set of
// informers, one retrying queue per controller, and writes that do nothing when nothing changed.
//
// It is deliberately less than controller-runtime: no leader election, no metrics, no typed clients, one worker per
// controller. Objects are unstructured; a controller converts what it wants typed with Into.
package reconcile

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// Cluster is an API server together with the shared informers on it.
type Cluster struct {
	Dynamic dynamic.Interface
	Log     func(format string, args ...any)
	factory dynamicinformer.DynamicSharedInformerFactory
}

// New prepares a Cluster; nothing is watched before Start.
func New(cfg *rest.Config, log func(format string, args ...any)) (*Cluster, error) {
	cfg = rest.CopyConfig(cfg)
	// A dozen small controllers share the client; the default of 5 requests a second is meant for one.
	cfg.QPS, cfg.Burst = 200, 400
	dyn, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("client for the stand-ins: %w", err)
	}
	return &Cluster{Dynamic: dyn, Log: log, factory: dynamicinformer.NewDynamicSharedInformerFactory(dyn, 10*time.Minute)}, nil
}

// Lister returns the cache of a kind. It must be called before Start, which fills it.
func (c *Cluster) Lister(r schema.GroupVersionResource) cache.GenericLister {
	return c.factory.ForResource(r).Lister()
}

// On calls f for every addition, change and deletion of a kind (with the last known object), from one goroutine.
func (c *Cluster) On(r schema.GroupVersionResource, f func(*unstructured.Unstructured)) error {
	call := func(obj any) {
		if d, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			obj = d.Obj
		}
		if u, ok := obj.(*unstructured.Unstructured); ok {
			f(u)
		}
	}
	_, err := c.factory.ForResource(r).Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: call, UpdateFunc: func(_, obj any) { call(obj) }, DeleteFunc: call,
	})
	if err != nil {
		return fmt.Errorf("watch %s: %w", r.GroupResource(), err)
	}
	return nil
}

// Start starts the informers asked for so far and returns when their caches are full. It may be called again.
func (c *Cluster) Start(ctx context.Context) error {
	c.factory.Start(ctx.Done())
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for r, ok := range c.factory.WaitForCacheSync(ctx.Done()) {
		if !ok {
			return fmt.Errorf("watch %s: the list did not arrive within a minute; is its CRD established?", r.GroupResource())
		}
	}
	return nil
}

// List returns the cached objects of a namespace ("" for all); they are shared and must not be changed.
func List(l cache.GenericLister, namespace string, keep func(*unstructured.Unstructured) bool) []*unstructured.Unstructured {
	objs, err := list(l, namespace)
	if err != nil {
		// Listing an index in memory with an empty selector has no way to fail.
		panic(err)
	}
	var out []*unstructured.Unstructured
	for _, o := range objs {
		if u := o.(*unstructured.Unstructured); keep == nil || keep(u) {
			out = append(out, u)
		}
	}
	return out
}

// Get returns a cached object, or nil when there is none.
func Get(l cache.GenericLister, namespace, name string) *unstructured.Unstructured {
	var obj runtime.Object
	var err error
	if namespace == "" {
		obj, err = l.Get(name)
	} else {
		obj, err = l.ByNamespace(namespace).Get(name)
	}
	if err != nil {
		return nil // the only error of a cache is that the object is not in it
	}
	return obj.(*unstructured.Unstructured)
}

// Into converts an object to its typed form; a field of another type is an error, an unknown one is not.
func Into[T any](u *unstructured.Unstructured) (*T, error) {
	out := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, out); err != nil {
		return nil, fmt.Errorf("read %s %s/%s: %w", u.GetKind(), u.GetNamespace(), u.GetName(), err)
	}
	return out, nil
}
