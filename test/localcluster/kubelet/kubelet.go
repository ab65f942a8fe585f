// Package kubelet plays the kubelets of simulated nodes against a real API server: nodes and heartbeats, the life of
// pods, logs, exec and port-forward.
//
// What a container does is decided in plan: engine pods run the simulator, containers whose command exists on this
// machine run it as an ordinary process, everything else is only said to be running. There is no isolation whatsoever: no
// image is pulled, no namespace or cgroup is made, a process sees this machine's files with the rights of whoever started
// the cluster. Processes end with the pod, and with this process however it ends.
//
// Not played: resource use, eviction, liveness and startup probes, lifecycle hooks, terminals, ephemeral containers,
// static pods, in-place resize.
package kubelet

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/mifbench/mifbench/test/localcluster/address"
)

// Options of the kubelets.
type Options struct {
	Config         *rest.Config
	Dir            string // data of pods
	Block          address.Block
	Listeners      []net.Listener // one per node
	TLS            *tls.Config    // of the kubelets' servers
	Wire           address.Wire
	Engine         Engine
	Runtimes       Runtimes
	ReadyDelay     time.Duration // how long a container runs before it is ready
	RestartBackoff time.Duration // first delay of a crash loop; doubles up to 30 times itself
	// PrivateRegistries are hosts whose images need an existing pull secret that holds the host.
	PrivateRegistries []string
	Marker            string // NAME=value put into the environment of every process, to find them by
	Log               *slog.Logger

	// Resolve finds the cluster IP of a Service for processes; nil: none is found.
	Resolve func(namespace, name string) (ip string, ok bool)
	// Hosts is the text of a hosts file with all Services; nil: none.
	Hosts func() string
}

// Kubelet is all kubelets of a cluster.
type Kubelet struct {
	Options
	client      kubernetes.Interface
	log         *slog.Logger
	now         func() time.Time
	spawner     *spawner
	names       names
	nodes       map[string]string // name to address
	broadcaster record.EventBroadcaster

	mu     sync.Mutex
	pods   map[types.UID]*worker
	nextIP int
	wg     sync.WaitGroup
}

// NodeCount returns how many nodes a cluster with n GPU nodes has.
func NodeCount(n int) int { return len(nodeSpecs(n)) }

// Start registers the nodes, returns when they are Ready, and goes on until ctx ends; then call Close.
func Start(ctx context.Context, o Options, gpuNodes int) (*Kubelet, error) {
	client, err := kubernetes.NewForConfig(o.Config)
	if err != nil {
		return nil, err
	}
	k := &Kubelet{
		Options: o, client: client, log: o.Log, now: time.Now, spawner: newSpawner(),
		names: newNames(o.Block, o.Wire, o.Resolve),
		nodes: map[string]string{}, pods: map[types.UID]*worker{},
		broadcaster: record.NewBroadcaster(record.WithContext(ctx)),
	}
	k.broadcaster.StartRecordingToSink(&corev1client.EventSinkImpl{Interface: client.CoreV1().Events("")})
	specs := nodeSpecs(gpuNodes)
	k.serve(ctx)
	errs := make(chan error, len(specs))
	for i, n := range specs {
		k.nodes[n.name] = o.Block.Node(i)
		go func() { errs <- k.registerNode(ctx, n, o.Block.Node(i)) }()
	}
	for range specs {
		err = errors.Join(err, <-errs)
	}
	if err != nil {
		return nil, err
	}
	k.wg.Go(func() { k.leases(ctx, specs) })
	if err := k.watch(ctx); err != nil {
		return nil, err
	}
	o.Log.Info("nodes are ready", "nodes", len(specs))
	return k, nil
}

// Close kills every process that a pod still has. Call it when the context given to Start has ended.
func (k *Kubelet) Close() {
	k.spawner.close()
	k.wg.Wait()
	k.broadcaster.Shutdown()
}

// serve answers the API server's requests at each node's address.
func (k *Kubelet) serve(ctx context.Context) {
	srv := &http.Server{Handler: k.handler(), ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(k.log.Handler(), slog.LevelDebug)}
	for _, l := range k.Listeners {
		k.wg.Go(func() {
			if err := srv.Serve(tls.NewListener(l, k.TLS)); err != nil && ctx.Err() == nil {
				k.log.Error("kubelet server", "address", l.Addr(), "error", err)
			}
		})
	}
	k.wg.Go(func() {
		<-ctx.Done()
		_ = srv.Close() // connections in use are cut: the cluster is going
	})
}

func (k *Kubelet) watch(ctx context.Context) error {
	f := informers.NewSharedInformerFactory(k.client, 0)
	inf := f.Core().V1().Pods().Informer()
	_, err := inf.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { k.observe(ctx, o.(*corev1.Pod)) },
		UpdateFunc: func(_, o any) { k.observe(ctx, o.(*corev1.Pod)) },
		DeleteFunc: func(o any) {
			if t, ok := o.(cache.DeletedFinalStateUnknown); ok {
				o = t.Obj
			}
			if pod, ok := o.(*corev1.Pod); ok {
				k.forget(pod)
			}
		},
	})
	if err != nil {
		return err
	}
	f.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), inf.HasSynced) {
		return fmt.Errorf("list pods: %w", context.Cause(ctx))
	}
	return nil
}

// observe hands a pod to its worker, starting one for a pod that is new on one of our nodes.
func (k *Kubelet) observe(ctx context.Context, pod *corev1.Pod) {
	hostIP, ours := k.nodes[pod.Spec.NodeName]
	if !ours {
		return
	}
	k.mu.Lock()
	w, ok := k.pods[pod.UID]
	if !ok {
		ip := k.Block.Pod(k.nextIP)
		k.nextIP++
		w = newWorker(k, pod, ip, hostIP)
		k.pods[pod.UID] = w
		k.wg.Go(func() { w.run(ctx) })
	}
	k.mu.Unlock()
	w.update(pod)
}

// forget ends the worker of a pod that is no longer in the API.
func (k *Kubelet) forget(pod *corev1.Pod) {
	k.mu.Lock()
	w, ok := k.pods[pod.UID]
	delete(k.pods, pod.UID)
	k.mu.Unlock()
	if ok {
		close(w.gone)
	}
}

// find returns the worker of a pod by name.
func (k *Kubelet) find(namespace, name string) (*worker, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, w := range k.pods {
		if w.namespace == namespace && w.name == name {
			return w, nil
		}
	}
	return nil, fmt.Errorf("pod %q not found", namespace+"/"+name)
}

func (k *Kubelet) podDir(uid types.UID) string { return filepath.Join(k.Dir, string(uid)) }

func (k *Kubelet) recorder(node string) record.EventRecorder {
	return k.broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "kubelet", Host: node})
}

// logFile is the log of one run of a container.
func (k *Kubelet) logFile(uid types.UID, container string, restarts int32) string {
	return filepath.Join(k.podDir(uid), "logs", container, fmt.Sprintf("%d.log", restarts))
}

func (k *Kubelet) removePod(uid types.UID) {
	if err := os.RemoveAll(k.podDir(uid)); err != nil {
		k.log.Warn("remove data of pod", "uid", uid, "error", err)
	}
}
