package kubelet

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/ptr"
)

// worker lives one pod's life.
type worker struct {
	k               *Kubelet
	namespace, name string
	ip              string
	events          record.EventRecorder

	dirty  chan struct{}      // the state changed; capacity 1
	stop   chan time.Duration // deletion with this grace period; capacity 1
	gone   chan struct{}      // closed when the API has forgotten the pod
	played chan struct{}      // closed when no container runs any more

	mu       sync.Mutex
	pod      *corev1.Pod // as last seen
	state    podState
	runtimes map[string]environment
	grace    time.Duration
	conds    []corev1.PodCondition // as last published
}

// environment is what exec needs to know of a container.
type environment struct {
	env    []string
	dir    string
	mounts mounts
}

func newWorker(k *Kubelet, pod *corev1.Pod, ip, hostIP string) *worker {
	return &worker{
		k: k, namespace: pod.Namespace, name: pod.Name, ip: ip, events: k.recorder(pod.Spec.NodeName),
		dirty: make(chan struct{}, 1), stop: make(chan time.Duration, 1), gone: make(chan struct{}), played: make(chan struct{}),
		pod: pod, state: newPodState(pod, ip, hostIP, k.now()), runtimes: map[string]environment{}, conds: pod.Status.Conditions,
	}
}

// update takes note of a newer version of the pod.
func (w *worker) update(pod *corev1.Pod) {
	w.mu.Lock()
	w.pod = pod
	w.mu.Unlock()
	if pod.DeletionTimestamp == nil {
		return
	}
	select {
	case w.stop <- time.Duration(ptr.Deref(pod.DeletionGracePeriodSeconds, 30)) * time.Second:
	default: // already told
	}
}

func (w *worker) seen() *corev1.Pod {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pod
}

// run returns when the pod is gone from the API, or ctx ends.
func (w *worker) run(ctx context.Context) {
	uid := w.seen().UID
	defer w.k.removePod(uid)
	pctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer close(w.played)
		w.play(pctx)
	}()
	w.mark()
	for {
		select {
		case <-w.dirty:
			w.publish(ctx)
		case grace := <-w.stop:
			w.mu.Lock()
			w.grace = grace
			w.mu.Unlock()
			cancel()
			<-w.played
			w.publish(ctx)
			w.finalDelete(ctx, uid)
			w.waitGone(ctx)
			return
		case <-w.gone:
			cancel()
			<-w.played
			return
		case <-ctx.Done():
			<-w.played
			return
		}
	}
}

func (w *worker) waitGone(ctx context.Context) {
	select {
	case <-w.gone:
	case <-ctx.Done():
	}
}

func (w *worker) mark() {
	select {
	case w.dirty <- struct{}{}:
	default:
	}
}

// publish writes the status. A strategic merge patch leaves the conditions of others (PodScheduled) alone.
func (w *worker) publish(ctx context.Context) {
	w.mu.Lock()
	pod := w.pod
	st := w.state.status(pod, w.conds, w.k.now())
	w.conds = st.Conditions
	w.mu.Unlock()
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": pod.UID}, "status": st})
	if err != nil {
		panic(fmt.Sprintf("status of pod %s/%s: %v", w.namespace, w.name, err)) // API types always marshal
	}
	_, err = w.k.client.CoreV1().Pods(w.namespace).Patch(ctx, w.name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	switch {
	case err == nil, ctx.Err() != nil, apierrors.IsNotFound(err), apierrors.IsConflict(err): // conflict: another pod of this name
	default:
		w.k.log.Warn("publish status of pod", "pod", w.namespace+"/"+w.name, "error", err)
		time.AfterFunc(time.Second, w.mark)
	}
}

// finalDelete removes the pod from the API, as a kubelet does when all containers have ended.
func (w *worker) finalDelete(ctx context.Context, uid types.UID) {
	for ctx.Err() == nil {
		err := w.k.client.CoreV1().Pods(w.namespace).Delete(ctx, w.name, metav1.DeleteOptions{
			GracePeriodSeconds: ptr.To[int64](0), Preconditions: &metav1.Preconditions{UID: &uid}})
		if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
			return
		}
		w.k.log.Warn("delete pod", "pod", w.namespace+"/"+w.name, "error", err)
		pause(ctx, time.Second)
	}
}

// change edits the state of a container and has it published.
func (w *worker) change(init bool, name string, edit func(*containerState)) {
	w.mu.Lock()
	m := w.state.main
	if init {
		m = w.state.init
	}
	st := m[name]
	edit(&st)
	m[name] = st
	w.mu.Unlock()
	w.mark()
}

// container returns a container's state, of either kind.
func (w *worker) container(name string) (containerState, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if st, ok := w.state.main[name]; ok {
		return st, true
	}
	st, ok := w.state.init[name]
	return st, ok
}

func (w *worker) event(kind, reason, format string, args ...any) {
	w.events.Eventf(w.seen(), kind, reason, format, args...)
}

// pause waits, and says whether ctx still lives.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
