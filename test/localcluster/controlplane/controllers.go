package controlplane

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/certificates/rootcacertpublisher"
	"k8s.io/kubernetes/pkg/controller/cronjob"
	"k8s.io/kubernetes/pkg/controller/deployment"
	"k8s.io/kubernetes/pkg/controller/endpointslice"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/kubernetes/pkg/controller/namespace"
	"k8s.io/kubernetes/pkg/controller/replicaset"
	"k8s.io/kubernetes/pkg/controller/serviceaccount"
	"k8s.io/kubernetes/pkg/controller/statefulset"
	"k8s.io/kubernetes/pkg/controller/ttlafterfinished"
)

// controllerClients is what the controllers share.
type controllerClients struct {
	kube      kubernetes.Interface
	metadata  metadata.Interface
	mapper    *restmapper.DeferredDiscoveryRESTMapper
	informers informers.SharedInformerFactory
	meta      metadatainformer.SharedInformerFactory
	rootCA    []byte
	started   chan struct{} // closed when the informers run
}

// starter makes one controller and returns the function that runs it.
type starter func(context.Context, *controllerClients) (run func(context.Context), err error)

// controllers lists what of kube-controller-manager runs here: what a deployment tool meets. Absent, among others: node
// lifecycle (the kubelet lifts the not-ready taint itself), autoscaling, volumes, certificates, quotas, daemon sets.
func controllers() []struct {
	name  string
	start starter
} {
	return []struct {
		name  string
		start starter
	}{
		{"namespace", startNamespace},
		{"garbage-collector", startGarbageCollector},
		{"service-account", startServiceAccount},
		{"root-ca-certificate-publisher", startRootCA},
		{"deployment", startDeployment},
		{"replica-set", startReplicaSet},
		{"stateful-set", startStatefulSet},
		{"job", startJob},
		{"cron-job", startCronJob},
		{"ttl-after-finished", startTTL},
		{"endpoint-slice", startEndpointSlice},
	}
}

// startControllers runs the real Kubernetes controllers until ctx ends.
func startControllers(ctx context.Context, cfg *rest.Config, rootCA []byte) error {
	kube, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	md, err := metadata.NewForConfig(cfg)
	if err != nil {
		return err
	}
	c := &controllerClients{
		kube: kube, metadata: md, rootCA: rootCA, started: make(chan struct{}),
		mapper:    restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(kube.Discovery())),
		informers: informers.NewSharedInformerFactory(kube, 10*time.Minute),
		meta:      metadatainformer.NewSharedInformerFactory(md, 10*time.Minute),
	}
	var runs []func(context.Context)
	for _, ctl := range controllers() {
		run, err := ctl.start(ctx, c)
		if err != nil {
			return fmt.Errorf("controller %s: %w", ctl.name, err)
		}
		runs = append(runs, run)
	}
	c.informers.Start(ctx.Done())
	c.meta.Start(ctx.Done())
	close(c.started)
	go c.resetMapper(ctx)
	for _, run := range runs {
		go run(ctx)
	}
	return nil
}

// resetMapper makes the garbage collector see kinds that CRDs add.
func (c *controllerClients) resetMapper(ctx context.Context) {
	tick := time.NewTicker(10 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			c.mapper.Reset()
		}
	}
}

func startNamespace(ctx context.Context, c *controllerClients) (func(context.Context), error) {
	ctl := namespace.NewNamespaceController(ctx, c.kube, c.metadata, c.kube.Discovery().ServerPreferredNamespacedResources,
		c.informers.Core().V1().Namespaces(), time.Minute, corev1.FinalizerKubernetes)
	return func(ctx context.Context) { ctl.Run(ctx, 4) }, nil
}

func startGarbageCollector(ctx context.Context, c *controllerClients) (func(context.Context), error) {
	ignored := map[schema.GroupResource]struct{}{}
	for r := range garbagecollector.DefaultIgnoredResources() {
		ignored[r] = struct{}{}
	}
	both := informerfactory.NewInformerFactory(c.informers, c.meta)
	gc, err := garbagecollector.NewGarbageCollector(ctx, c.kube, c.metadata, c.mapper, ignored, both, c.started)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) {
		go gc.Sync(ctx, c.kube.Discovery(), 5*time.Second)
		gc.Run(ctx, 4, 30*time.Second)
	}, nil
}

func startServiceAccount(ctx context.Context, c *controllerClients) (func(context.Context), error) {
	ctl, err := serviceaccount.NewServiceAccountsController(klog.FromContext(ctx), c.informers.Core().V1().ServiceAccounts(),
		c.informers.Core().V1().Namespaces(), c.kube, serviceaccount.DefaultServiceAccountsControllerOptions())
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { ctl.Run(ctx, 1) }, nil
}

func startRootCA(_ context.Context, c *controllerClients) (func(context.Context), error) {
	ctl, err := rootcacertpublisher.NewPublisher(c.informers.Core().V1().ConfigMaps(), c.informers.Core().V1().Namespaces(), c.kube, c.rootCA)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { ctl.Run(ctx, 1) }, nil
}

func startDeployment(ctx context.Context, c *controllerClients) (func(context.Context), error) {
	apps := c.informers.Apps().V1()
	ctl, err := deployment.NewDeploymentController(ctx, apps.Deployments(), apps.ReplicaSets(), c.informers.Core().V1().Pods(), c.kube)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { ctl.Run(ctx, 4) }, nil
}

func startReplicaSet(ctx context.Context, c *controllerClients) (func(context.Context), error) {
	ctl := replicaset.NewReplicaSetController(ctx, c.informers.Apps().V1().ReplicaSets(), c.informers.Core().V1().Pods(), c.kube, replicaset.BurstReplicas)
	return func(ctx context.Context) { ctl.Run(ctx, 4) }, nil
}

func startStatefulSet(ctx context.Context, c *controllerClients) (func(context.Context), error) {
	apps, core := c.informers.Apps().V1(), c.informers.Core().V1()
	ctl := statefulset.NewStatefulSetController(ctx, core.Pods(), apps.StatefulSets(), core.PersistentVolumeClaims(), apps.ControllerRevisions(), c.kube)
	return func(ctx context.Context) { ctl.Run(ctx, 4) }, nil
}

func startJob(ctx context.Context, c *controllerClients) (func(context.Context), error) {
	ctl, err := job.NewController(ctx, c.kube, c.informers.Core().V1().Pods(), c.informers.Batch().V1().Jobs(), nil, nil)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { ctl.Run(ctx, 4) }, nil
}

func startCronJob(ctx context.Context, c *controllerClients) (func(context.Context), error) {
	batch := c.informers.Batch().V1()
	ctl, err := cronjob.NewControllerV2(ctx, batch.Jobs(), batch.CronJobs(), c.kube)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { ctl.Run(ctx, 1) }, nil
}

func startTTL(ctx context.Context, c *controllerClients) (func(context.Context), error) {
	ctl := ttlafterfinished.New(ctx, c.informers.Batch().V1().Jobs(), c.kube)
	return func(ctx context.Context) { ctl.Run(ctx, 1) }, nil
}

func startEndpointSlice(ctx context.Context, c *controllerClients) (func(context.Context), error) {
	core := c.informers.Core().V1()
	ctl := endpointslice.NewController(ctx, core.Pods(), core.Services(), core.Nodes(), c.informers.Discovery().V1().EndpointSlices(), 100, c.kube, 0)
	return func(ctx context.Context) { ctl.Run(ctx, 4) }, nil
}
