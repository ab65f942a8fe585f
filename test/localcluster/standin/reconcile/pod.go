package reconcile

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// PodReady tells whether a pod may be sent requests.
func PodReady(p *corev1.Pod) bool {
	if p.DeletionTimestamp != nil || p.Status.PodIP == "" {
		return false
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// PodTrouble says in a few words why a pod is not ready; "" when it is.
func PodTrouble(p *corev1.Pod) string {
	if PodReady(p) {
		return ""
	}
	if p.DeletionTimestamp != nil {
		return "is being deleted"
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return fmt.Sprintf("%s: %s", c.Reason, c.Message)
		}
	}
	statuses := append(append([]corev1.ContainerStatus{}, p.Status.InitContainerStatuses...), p.Status.ContainerStatuses...)
	for _, s := range statuses {
		if w := s.State.Waiting; w != nil && w.Reason != "" {
			return fmt.Sprintf("container %s: %s %s", s.Name, w.Reason, w.Message)
		}
		if t := s.State.Terminated; t != nil && t.ExitCode != 0 {
			return fmt.Sprintf("container %s: exit code %d", s.Name, t.ExitCode)
		}
	}
	if p.Status.Phase == "" || p.Status.Phase == corev1.PodPending {
		return "is pending"
	}
	return "is " + string(p.Status.Phase) + " but not ready"
}
