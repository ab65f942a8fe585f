package kubelet

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func up(ready bool) containerState {
	return containerState{running: &corev1.ContainerStateRunning{}, ready: ready}
}

func ended(code int32, finished bool) containerState {
	return containerState{terminated: &corev1.ContainerStateTerminated{ExitCode: code}, finished: finished}
}

func TestPhaseAndReadiness(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		InitContainers: []corev1.Container{{Name: "init"}, {Name: "proxy", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)}},
		Containers:     []corev1.Container{{Name: "a"}, {Name: "b"}},
	}}
	backoff := containerState{waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}, last: &corev1.ContainerStateTerminated{ExitCode: 1}}
	for _, c := range []struct {
		about             string
		init, proxy, a, b containerState
		phase             corev1.PodPhase
		ready             corev1.ConditionStatus
		reason            string
	}{
		{"init runs", up(false), containerState{}, containerState{}, containerState{}, corev1.PodPending, corev1.ConditionFalse, "ContainersNotReady"},
		{"init failed for good", ended(2, true), containerState{}, containerState{}, containerState{}, corev1.PodFailed, corev1.ConditionFalse, "PodFailed"},
		{"all run, one not ready", ended(0, true), up(true), up(true), up(false), corev1.PodRunning, corev1.ConditionFalse, "ContainersNotReady"},
		{"all ready", ended(0, true), up(true), up(true), up(true), corev1.PodRunning, corev1.ConditionTrue, ""},
		{"one in a crash loop", ended(0, true), up(true), up(true), backoff, corev1.PodRunning, corev1.ConditionFalse, "ContainersNotReady"},
		{"one done, one runs", ended(0, true), up(true), ended(0, true), up(true), corev1.PodRunning, corev1.ConditionFalse, "ContainersNotReady"},
		{"all done", ended(0, true), up(true), ended(0, true), ended(0, true), corev1.PodSucceeded, corev1.ConditionFalse, "PodCompleted"},
		{"all done, one failed", ended(0, true), up(true), ended(0, true), ended(1, true), corev1.PodFailed, corev1.ConditionFalse, "PodFailed"},
		{"restart to come", ended(0, true), up(true), ended(1, false), up(true), corev1.PodRunning, corev1.ConditionFalse, "ContainersNotReady"},
	} {
		s := podState{init: map[string]containerState{"init": c.init, "proxy": c.proxy}, main: map[string]containerState{"a": c.a, "b": c.b}}
		st := s.status(pod, nil, time.Unix(1, 0))
		ready := st.Conditions[3]
		if st.Phase != c.phase || ready.Type != corev1.PodReady || ready.Status != c.ready || ready.Reason != c.reason {
			t.Errorf("%s: got %s, Ready=%s (%s); want %s, %s (%s)", c.about, st.Phase, ready.Status, ready.Reason, c.phase, c.ready, c.reason)
		}
	}
}

func TestTransitionTimeChangesOnlyWithStatus(t *testing.T) {
	then := metav1.NewTime(time.Unix(100, 0))
	old := []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: then}}
	now := time.Unix(200, 0)
	same := transition(corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue}, old, now)
	other := transition(corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse}, old, now)
	if !same.Equal(&then) || other.Unix() != 200 {
		t.Errorf("got %v and %v", same, other)
	}
}

func TestShouldRestart(t *testing.T) {
	for p, want := range map[corev1.RestartPolicy][2]bool{
		corev1.RestartPolicyAlways: {true, true}, corev1.RestartPolicyOnFailure: {false, true}, corev1.RestartPolicyNever: {false, false},
	} {
		if got := [2]bool{shouldRestart(p, 0), shouldRestart(p, 1)}; got != want {
			t.Errorf("%s: got %v, want %v", p, got, want)
		}
	}
}
