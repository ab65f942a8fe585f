package kubelet

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// containerState is what the kubelet knows of one container; exactly one of waiting, running and terminated is set.
type containerState struct {
	waiting    *corev1.ContainerStateWaiting
	running    *corev1.ContainerStateRunning
	terminated *corev1.ContainerStateTerminated
	last       *corev1.ContainerStateTerminated
	restarts   int32
	ready      bool
	finished   bool // terminated and not to be restarted
}

// podState is what the kubelet knows of one pod.
type podState struct {
	started time.Time
	ip      string
	hostIP  string
	init    map[string]containerState
	main    map[string]containerState
}

func newPodState(pod *corev1.Pod, ip, hostIP string, now time.Time) podState {
	s := podState{started: now, ip: ip, hostIP: hostIP, init: map[string]containerState{}, main: map[string]containerState{}}
	reason := "ContainerCreating"
	for _, c := range pod.Spec.InitContainers {
		s.init[c.Name] = containerState{waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}}
		reason = "PodInitializing"
	}
	for _, c := range pod.Spec.Containers {
		s.main[c.Name] = containerState{waiting: &corev1.ContainerStateWaiting{Reason: reason}}
	}
	return s
}

// isSidecar tells whether an init container goes on running beside the main ones.
func isSidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// initialized tells whether the main containers may start.
func (s podState) initialized(pod *corev1.Pod) bool {
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		st := s.init[c.Name]
		if isSidecar(c) && st.running == nil || !isSidecar(c) && (st.terminated == nil || st.terminated.ExitCode != 0) {
			return false
		}
	}
	return true
}

// phase follows the kubelet's rules for a pod whose containers are never forgotten.
func (s podState) phase(pod *corev1.Pod) corev1.PodPhase {
	for _, st := range s.init {
		if st.finished && st.terminated.ExitCode != 0 {
			return corev1.PodFailed
		}
	}
	begun, done, failed := 0, 0, false
	for _, c := range pod.Spec.Containers {
		st := s.main[c.Name]
		if st.running != nil || st.terminated != nil || st.last != nil {
			begun++
		}
		if st.finished {
			done++
			failed = failed || st.terminated.ExitCode != 0
		}
	}
	switch {
	case done == len(pod.Spec.Containers) && failed:
		return corev1.PodFailed
	case done == len(pod.Spec.Containers):
		return corev1.PodSucceeded
	case begun == len(pod.Spec.Containers) && s.initialized(pod):
		return corev1.PodRunning
	default:
		return corev1.PodPending
	}
}

// status turns the state into what the API shows; old supplies transition times and conditions of others.
func (s podState) status(pod *corev1.Pod, old []corev1.PodCondition, now time.Time) corev1.PodStatus {
	st := corev1.PodStatus{
		Phase: s.phase(pod), StartTime: ptr.To(metav1.NewTime(s.started)),
		HostIP: s.hostIP, HostIPs: []corev1.HostIP{{IP: s.hostIP}},
		PodIP: s.ip, PodIPs: []corev1.PodIP{{IP: s.ip}},
		QOSClass:   pod.Status.QOSClass,
		Conditions: s.conditions(pod, old, now),
	}
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		st.InitContainerStatuses = append(st.InitContainerStatuses, containerStatus(pod, c, s.init[c.Name], isSidecar(c)))
	}
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		st.ContainerStatuses = append(st.ContainerStatuses, containerStatus(pod, c, s.main[c.Name], true))
	}
	return st
}

func containerStatus(pod *corev1.Pod, c *corev1.Container, s containerState, serving bool) corev1.ContainerStatus {
	id := containerID(pod, c.Name, s.restarts)
	out := corev1.ContainerStatus{
		Name: c.Name, Image: c.Image, RestartCount: s.restarts,
		Ready:   s.ready,
		Started: ptr.To(s.running != nil),
		State:   corev1.ContainerState{Waiting: s.waiting, Running: s.running, Terminated: s.terminated},
	}
	if s.last != nil {
		out.LastTerminationState.Terminated = s.last
	}
	if s.waiting == nil || s.last != nil {
		out.ContainerID, out.ImageID = id, "localcluster://"+c.Image
	}
	if !serving { // an ordinary init container counts as ready when it has done its work
		out.Ready = s.terminated != nil && s.terminated.ExitCode == 0
	}
	return out
}

func containerID(pod *corev1.Pod, name string, restarts int32) string {
	return fmt.Sprintf("localcluster://%s/%s/%d", pod.UID, name, restarts)
}

// conditions computes the four that the kubelet owns.
func (s podState) conditions(pod *corev1.Pod, old []corev1.PodCondition, now time.Time) []corev1.PodCondition {
	var unready []string
	for _, c := range pod.Spec.Containers {
		if !s.main[c.Name].ready {
			unready = append(unready, c.Name)
		}
	}
	ready := corev1.PodCondition{Status: corev1.ConditionTrue}
	switch phase := s.phase(pod); {
	case phase == corev1.PodSucceeded:
		ready = corev1.PodCondition{Status: corev1.ConditionFalse, Reason: "PodCompleted"}
	case phase == corev1.PodFailed:
		ready = corev1.PodCondition{Status: corev1.ConditionFalse, Reason: "PodFailed"}
	case len(unready) > 0:
		ready = corev1.PodCondition{Status: corev1.ConditionFalse, Reason: "ContainersNotReady",
			Message: fmt.Sprintf("containers with unready status: [%s]", strings.Join(unready, " "))}
	}
	initialized := corev1.PodCondition{Status: corev1.ConditionTrue}
	if !s.initialized(pod) {
		initialized = corev1.PodCondition{Status: corev1.ConditionFalse, Reason: "ContainersNotInitialized", Message: "init containers have not finished"}
	}
	out := []corev1.PodCondition{typed(corev1.PodReadyToStartContainers, corev1.PodCondition{Status: corev1.ConditionTrue}),
		typed(corev1.PodInitialized, initialized), typed(corev1.ContainersReady, ready), typed(corev1.PodReady, ready)}
	for i := range out {
		out[i].LastTransitionTime = transition(out[i], old, now)
		out[i].ObservedGeneration = pod.Generation
	}
	return out
}

func typed(t corev1.PodConditionType, c corev1.PodCondition) corev1.PodCondition {
	c.Type = t
	return c
}

func transition(c corev1.PodCondition, old []corev1.PodCondition, now time.Time) metav1.Time {
	for _, o := range old {
		if o.Type == c.Type && o.Status == c.Status && !o.LastTransitionTime.IsZero() {
			return o.LastTransitionTime
		}
	}
	return metav1.NewTime(now)
}
