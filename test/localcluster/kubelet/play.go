package kubelet

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxBackoff is the ratio of the longest delay of a crash loop to the first, as a real kubelet's 300 s to 10 s.
const maxBackoff = 30

// play runs the containers: init containers one after another, sidecars beside the rest, then the main ones. It returns
// when none runs any more.
func (w *worker) play(ctx context.Context) {
	pod := w.seen()
	vols, ok := w.mountVolumes(ctx, pod)
	if !ok || !w.pullImages(ctx, pod) {
		return
	}
	sctx, stopSidecars := context.WithCancel(ctx)
	var sidecars, mains sync.WaitGroup
	defer sidecars.Wait()
	defer stopSidecars()
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		r := &runner{w: w, pod: pod, c: c, init: true, policy: initPolicy(pod, c), volumes: vols}
		if isSidecar(c) {
			up := make(chan struct{})
			r.up = up
			sidecars.Go(func() { r.loop(sctx) })
			select {
			case <-up:
			case <-ctx.Done():
				return
			}
			continue
		}
		if r.loop(ctx) != 0 || ctx.Err() != nil {
			return
		}
	}
	for i := range pod.Spec.Containers {
		r := &runner{w: w, pod: pod, c: &pod.Spec.Containers[i], policy: pod.Spec.RestartPolicy, volumes: vols}
		mains.Go(func() { r.loop(ctx) })
	}
	mains.Wait()
}

func initPolicy(pod *corev1.Pod, c *corev1.Container) corev1.RestartPolicy {
	switch {
	case isSidecar(c):
		return corev1.RestartPolicyAlways
	case pod.Spec.RestartPolicy == corev1.RestartPolicyNever:
		return corev1.RestartPolicyNever
	default:
		return corev1.RestartPolicyOnFailure
	}
}

// mountVolumes retries until every volume can be laid out; a missing ConfigMap or Secret keeps a pod in ContainerCreating.
func (w *worker) mountVolumes(ctx context.Context, pod *corev1.Pod) (map[string]string, bool) {
	var token tokens
	edit := w.k.names.rewrite
	runs := w.plays(pod)
	if runs[real] || runs[contained] {
		token = w.k.token(pod)
	}
	if runs[contained] { // it has the cluster network and a hosts file
		edit = func(s string) string { return s }
	}
	for n := 0; ; n++ {
		vols, err := volumes(ctx, pod, filepath.Join(w.k.podDir(pod.UID), "volumes"), w.k.lookup(ctx, pod.Namespace), token, edit)
		if err == nil {
			return vols, true
		}
		if n%10 == 0 && ctx.Err() == nil {
			w.event(corev1.EventTypeWarning, "FailedMount", "%v", err)
		}
		if !pause(ctx, time.Second) {
			return nil, false
		}
	}
}

// plays tells which ways of playing a container the pod needs.
func (w *worker) plays(pod *corev1.Pod) map[mode]bool {
	out := map[mode]bool{}
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			m, _ := plan(pod, &list[i], w.k.Engine, w.k.Runtimes, exec.LookPath)
			out[m] = true
		}
	}
	return out
}

func waiting(reason, message string) func(*containerState) {
	return func(s *containerState) {
		s.waiting = &corev1.ContainerStateWaiting{Reason: reason, Message: message}
		s.running, s.ready = nil, false
		if s.terminated != nil {
			s.last, s.terminated = s.terminated, nil
		}
	}
}

func running(now time.Time) func(*containerState) {
	return func(s *containerState) {
		s.waiting, s.terminated = nil, nil
		s.running = &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(now)}
	}
}

// home returns the folder of a container, made if need be.
func (w *worker) home(pod *corev1.Pod, container string) (string, error) {
	dir := filepath.Join(w.k.podDir(pod.UID), "home", container)
	return dir, os.MkdirAll(dir, 0o700)
}
