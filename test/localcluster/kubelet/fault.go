package kubelet

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// FaultAnnotation makes a pod fail in the way of its value, for tests of tools that must recognise doomed pods. It is
// read when the pod is placed on a node; the fault lasts as long as the pod.
const FaultAnnotation = "localcluster.mifbench.dev/fault"

// The faults.
const (
	// FaultImagePull: no main container starts; waiting reason ErrImagePull, then ImagePullBackOff.
	FaultImagePull = "image-pull"
	// FaultCrashLoop: every main container writes a few lines, exits with code 1 and is restarted with growing delay.
	FaultCrashLoop = "crash-loop"
	// FaultNeverReady: the containers run and the readiness probe fails for ever.
	FaultNeverReady = "never-ready"
)

func fault(pod *corev1.Pod) string { return pod.Annotations[FaultAnnotation] }

// pullError is containerd's answer to missing registry credentials.
func pullError(image string) string {
	return fmt.Sprintf("failed to pull and unpack image %q: failed to resolve reference %q: pull access denied, repository does not "+
		"exist or may require authorization: authorization failed: no basic auth credentials", image, image)
}

// crashLines are what a container under FaultCrashLoop writes before it exits.
func crashLines(container string, attempt int32) []string {
	return []string{
		fmt.Sprintf("%s: start %d", container, attempt),
		"OSError: /models: no config.json found (simulated by " + FaultAnnotation + ")",
	}
}
