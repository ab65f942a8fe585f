package helm

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/kube"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	api "k8s.io/client-go/tools/clientcmd/api"

	"github.com/mifbench/mifbench/pkg/resource"
)

// cluster is the connection that Helm's actions share: one discovery cache for all releases.
type cluster struct {
	config *rest.Config
	// objects deletes what a release consists of.
	objects Objects
	cached  discovery.CachedDiscoveryInterface
	mapper  *restmapper.DeferredDiscoveryRESTMapper

	mu   sync.Mutex
	caps *chartutil.Capabilities
}

// setManager makes Helm's client write the same field manager as the helm command line.
var setManager = sync.OnceFunc(func() { kube.ManagedFieldsManager = "helm" }) //nolint:gochecknoglobals // Helm's own setting is a global

func newCluster(cfg *rest.Config, objects Objects) (*cluster, error) {
	setManager()
	dc, err := discovery.NewDiscoveryClientForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("client for %s: %w", cfg.Host, err)
	}
	cached := memory.NewMemCacheClient(dc)
	return &cluster{config: cfg, objects: objects, cached: cached, mapper: restmapper.NewDeferredDiscoveryRESTMapper(cached)}, nil
}

// refresh forgets what the cluster serves, after something may have installed CRDs.
func (c *cluster) refresh() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.caps = nil
	c.mapper.Reset()
}

// capabilities are what templates see as .Capabilities.
func (c *cluster) capabilities() (*chartutil.Capabilities, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.caps != nil {
		return c.caps, nil
	}
	v, err := c.cached.ServerVersion()
	if err != nil {
		return nil, fmt.Errorf("version of the API server %s: %w", c.config.Host, err)
	}
	versions, err := action.GetVersionSet(c.cached)
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		return nil, fmt.Errorf("discovery of %s: %w", c.config.Host, err)
	}
	c.caps = &chartutil.Capabilities{
		APIVersions: versions,
		KubeVersion: chartutil.KubeVersion{Version: v.GitVersion, Major: v.Major, Minor: v.Minor},
		HelmVersion: chartutil.DefaultCapabilities.HelmVersion,
	}
	return c.caps, nil
}

// action makes a configuration for one action in one namespace ("" for all); its client stops at
// the first call after ctx ends, so that no goroutine of Helm's goes on behind our back.
func (c *cluster) action(ctx context.Context, namespace string) (*action.Configuration, error) {
	cfg := &action.Configuration{}
	if err := cfg.Init(getter{c, namespace}, namespace, "secret", func(string, ...any) {}); err != nil {
		return nil, fmt.Errorf("helm in namespace %s: %w", namespace, err)
	}
	client, ok := cfg.KubeClient.(*kube.Client)
	if !ok {
		panic(fmt.Sprintf("helm: client is a %T", cfg.KubeClient))
	}
	client.Namespace = namespace
	cfg.KubeClient = &guarded{Client: client, ctx: ctx, objects: c.objects}
	return cfg, nil
}

// getter is what Helm calls a RESTClientGetter.
type getter struct {
	cluster   *cluster
	namespace string
}

// ToRESTConfig implements genericclioptions.RESTClientGetter.
func (g getter) ToRESTConfig() (*rest.Config, error) { return rest.CopyConfig(g.cluster.config), nil }

// ToDiscoveryClient implements genericclioptions.RESTClientGetter.
func (g getter) ToDiscoveryClient() (discovery.CachedDiscoveryInterface, error) {
	return g.cluster.cached, nil
}

// ToRESTMapper implements genericclioptions.RESTClientGetter.
func (g getter) ToRESTMapper() (meta.RESTMapper, error) { return g.cluster.mapper, nil }

// ToRawKubeConfigLoader implements genericclioptions.RESTClientGetter; only its namespace is used.
func (g getter) ToRawKubeConfigLoader() clientcmd.ClientConfig {
	return clientcmd.NewDefaultClientConfig(*api.NewConfig(), &clientcmd.ConfigOverrides{Context: api.Context{Namespace: g.namespace}})
}

// guarded refuses calls after ctx ended and leaves waits then. Helm itself records the refusal
// as a failed release before it returns, in the one goroutine that we wait for.
type guarded struct {
	*kube.Client
	ctx context.Context //nolint:containedctx // Helm's interface has no context; the value lives for one action
	// objects deletes what Helm would delete one after the other.
	objects Objects
}

// IsReachable implements kube.Interface. Every action asks for something else right afterwards, whose
// failure names the server as well: there is no need for a question of its own.
func (g *guarded) IsReachable() error { return g.ctx.Err() }

// Create implements kube.Interface.
func (g *guarded) Create(r kube.ResourceList) (*kube.Result, error) {
	if err := g.ctx.Err(); err != nil {
		return nil, err
	}
	return g.Client.Create(r)
}

// Update implements kube.Interface.
func (g *guarded) Update(original, target kube.ResourceList, force bool) (*kube.Result, error) {
	if err := g.ctx.Err(); err != nil {
		return nil, err
	}
	return g.Client.Update(original, target, force)
}

// UpdateThreeWayMerge implements kube.InterfaceThreeWayMerge.
func (g *guarded) UpdateThreeWayMerge(original, target kube.ResourceList, force bool) (*kube.Result, error) {
	if err := g.ctx.Err(); err != nil {
		return nil, err
	}
	return g.Client.UpdateThreeWayMerge(original, target, force)
}

// Wait implements kube.Interface.
func (g *guarded) Wait(r kube.ResourceList, timeout time.Duration) error {
	return g.until(func() error { return g.Client.Wait(r, timeout) })
}

// WaitWithJobs implements kube.Interface.
func (g *guarded) WaitWithJobs(r kube.ResourceList, timeout time.Duration) error {
	return g.until(func() error { return g.Client.WaitWithJobs(r, timeout) })
}

// WatchUntilReady implements kube.Interface; Helm waits for hooks with it.
func (g *guarded) WatchUntilReady(r kube.ResourceList, timeout time.Duration) error {
	return g.until(func() error { return g.Client.WatchUntilReady(r, timeout) })
}

// DeleteWithPropagationPolicy implements kube.InterfaceDeletionPropagation, for an uninstall: the
// objects in Helm's order, a few at a time, by the driver that waits for them afterwards and so
// need not ask what the server has told it.
func (g *guarded) DeleteWithPropagationPolicy(list kube.ResourceList, _ metav1.DeletionPropagation) (*kube.Result, []error) {
	failed := make([]error, len(list))
	each(len(list), func(i int) {
		gvk := list[i].Mapping.GroupVersionKind
		id := resource.ID{Driver: resource.DriverKube, APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind, Namespace: list[i].Namespace, Name: list[i].Name}
		if failed[i] = g.ctx.Err(); failed[i] == nil {
			failed[i] = g.objects.Remove(g.ctx, id)
		}
	})
	errs := slices.DeleteFunc(failed, func(err error) bool { return err == nil })
	if len(errs) > 0 {
		return nil, errs
	}
	return &kube.Result{Deleted: list}, nil
}

// until leaves a wait that only reads when ctx ends; the reader itself ends by its own timeout.
func (g *guarded) until(wait func() error) error {
	done := make(chan error, 1)
	go func() { done <- wait() }()
	select {
	case err := <-done:
		return err
	case <-g.ctx.Done():
		return g.ctx.Err()
	}
}

// mapping tells whether a kind lives in namespaces.
func (c *cluster) mapping(gvk schema.GroupVersionKind) (bool, error) {
	m, err := c.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return false, fmt.Errorf("kind %s: %w", gvk.Kind, err)
	}
	return m.Scope.Name() == meta.RESTScopeNameNamespace, nil
}
