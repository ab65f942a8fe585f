package kubelet

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// pullImages plays the pulling of the main containers' images. It returns when all are there, or false when ctx ends. A
// pull that fails is tried again with growing delay, so that a pull secret that comes late is found.
func (w *worker) pullImages(ctx context.Context, pod *corev1.Pod) bool {
	for delay := w.k.RestartBackoff; ; delay = min(2*delay, maxBackoff*w.k.RestartBackoff) {
		failed := w.unpullable(ctx, pod)
		if len(failed) == 0 {
			return true
		}
		for _, c := range failed {
			w.event(corev1.EventTypeNormal, "Pulling", "Pulling image %q", c.Image)
			w.event(corev1.EventTypeWarning, "Failed", "Failed to pull image %q: %s", c.Image, pullError(c.Image))
			w.event(corev1.EventTypeWarning, "Failed", "Error: ErrImagePull")
			w.change(false, c.Name, waiting("ErrImagePull", pullError(c.Image)))
		}
		if !pause(ctx, w.k.RestartBackoff/2) {
			return false
		}
		for _, c := range failed {
			w.event(corev1.EventTypeNormal, "BackOff", "Back-off pulling image %q", c.Image)
			w.event(corev1.EventTypeWarning, "Failed", "Error: ImagePullBackOff")
			w.change(false, c.Name, waiting("ImagePullBackOff", fmt.Sprintf("Back-off pulling image %q: ErrImagePull: %s", c.Image, pullError(c.Image))))
		}
		if !pause(ctx, delay) {
			return false
		}
	}
}

// unpullable lists the containers whose image cannot be had.
func (w *worker) unpullable(ctx context.Context, pod *corev1.Pod) []corev1.Container {
	var out []corev1.Container
	for _, c := range pod.Spec.Containers {
		if fault(pod) == FaultImagePull || !credentials(pod, c.Image, w.k.PrivateRegistries, w.k.lookup(ctx, pod.Namespace)) {
			out = append(out, c)
		}
	}
	return out
}

// credentials tells whether a pod has credentials for an image, where its registry asks for some.
func credentials(pod *corev1.Pod, image string, private []string, l lookup) bool {
	host, _, _ := strings.Cut(image, "/")
	if !slices.Contains(private, host) {
		return true
	}
	for _, ref := range pod.Spec.ImagePullSecrets {
		data, err := l.secret(ref.Name)
		if err == nil && holdsRegistry(data[corev1.DockerConfigJsonKey], host) {
			return true
		}
	}
	return false
}

func holdsRegistry(dockerConfig, host string) bool {
	var c struct {
		Auths map[string]struct{ Auth, Password string }
	}
	if json.Unmarshal([]byte(dockerConfig), &c) != nil {
		return false
	}
	for server, a := range c.Auths {
		server = strings.TrimSuffix(strings.TrimPrefix(server, "https://"), "/")
		if server == host && a.Auth+a.Password != "" {
			return true
		}
	}
	return false
}
