package reconcile

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestLoopRetriesLaterAndLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var logged int
		var at []time.Duration
		start := time.Now()
		l := NewLoop("test", func(string, ...any) { logged++ }, func(_ context.Context, key Key) error {
			at = append(at, time.Since(start))
			if len(at) < 3 {
				return errors.New("not yet")
			}
			return nil
		})
		l.Add("ns", "x")
		l.Add("ns", "x") // waits already
		done := make(chan struct{})
		go func() { l.Run(ctx); close(done) }()
		time.Sleep(time.Minute)
		cancel()
		<-done
		if d := cmp.Diff([]time.Duration{0, 50 * time.Millisecond, 150 * time.Millisecond}, at); d != "" {
			t.Errorf("calls (-want +got):\n%s", d)
		}
		if logged != 2 {
			t.Errorf("%d errors logged, want 2", logged)
		}
	})
}

func TestConditionsKeepTheirTransitionTime(t *testing.T) {
	old := []any{map[string]any{"type": "Ready", "status": "False", "reason": "A", "lastTransitionTime": "2026-01-01T00:00:00Z"}}
	same := Conditions(old, Condition("Ready", false, 3, "B", "still not"))
	if !same[0].LastTransitionTime.Equal(&metav1.Time{Time: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}) || same[0].Reason != "B" || same[0].ObservedGeneration != 3 {
		t.Errorf("an unchanged status became %+v", same[0])
	}
	changed := Conditions(old, Condition("Ready", true, 3, "C", ""))
	if changed[0].LastTransitionTime.Year() == 2026 && changed[0].LastTransitionTime.Month() == 1 && changed[0].LastTransitionTime.Day() == 1 {
		t.Error("a changed status kept its transition time")
	}
	if got := Conditions("nonsense", Condition("Ready", true, 1, "C", "")); len(got) != 1 {
		t.Errorf("nonsense became %d conditions", len(got))
	}
}

func TestPodTrouble(t *testing.T) {
	cases := []struct {
		name   string
		status corev1.PodStatus
		want   string
	}{
		{"a ready pod has none", corev1.PodStatus{PodIP: "10.77.1.1", Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}, ""},
		{"an unschedulable pod gives the scheduler's words", corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/5 nodes"}}}, "Unschedulable: 0/5 nodes"},
		{"a waiting container gives its reason", corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "401"}}}}}, "container main: ImagePullBackOff 401"},
		{"an exit gives its code", corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 3}}}}}, "container main: exit code 3"},
		{"no status at all", corev1.PodStatus{}, "is pending"},
		{"running without being ready", corev1.PodStatus{Phase: corev1.PodRunning}, "is Running but not ready"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := PodTrouble(&corev1.Pod{Status: c.status}); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestNormalHasTheTypesOfTheAPI(t *testing.T) {
	got, err := normal(map[string]any{"n": 3, "f": 1.5, "list": []string{"a"}})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(`map[f:1.5 list:[a] n:3] int64 []interface {}`, fmt.Sprintf("%v %T %T", got, got["n"], got["list"])); d != "" {
		t.Error(d)
	}
}
