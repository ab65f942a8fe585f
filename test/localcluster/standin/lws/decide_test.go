package lws

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func testSet(replicas, size int) *set {
	s := &set{Replicas: replicas, name: "d", namespace: "ns", hash: "new"}
	s.LeaderWorkerTemplate.Size = size
	s.LeaderWorkerTemplate.RestartPolicy = "RecreateGroupOnPodRestart"
	return s
}

// pod makes an existing pod from a few words: its state is any of ready, old, restarted, failed, dying.
func pod(s *set, group, worker int, state string) *corev1.Pod {
	p := s.pod(group, worker)
	for word := range strings.FieldsSeq(state) {
		switch word {
		case "ready":
			p.Status.PodIP = "10.77.1.1"
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		case "old":
			p.Labels[hashLabel] = "old"
		case "restarted":
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{RestartCount: 1}}
		case "failed":
			p.Status.Phase = corev1.PodFailed
		case "dying":
			p.DeletionTimestamp = &metav1.Time{}
		}
	}
	return p
}

func TestDecide(t *testing.T) {
	cases := []struct {
		name           string
		replicas, size int
		pods           map[string]string // "group.worker" → state
		create, remove []string
	}{
		{"all pods of a new set are made at once", 2, 2, nil, []string{"d-0", "d-0-1", "d-1", "d-1-1"}, nil},
		{"a complete set is left alone", 2, 1, map[string]string{"0.0": "ready", "1.0": "ready"}, nil, nil},
		{"a missing pod is made again", 2, 1, map[string]string{"0.0": "ready"}, []string{"d-1"}, nil},
		{"a name is free only when its pod is gone", 1, 1, map[string]string{"0.0": "dying"}, nil, nil},
		{"scaling down removes the highest", 1, 1, map[string]string{"0.0": "ready", "1.0": "ready"}, nil, []string{"d-1"}},
		{"a rollout takes one ready group, the last", 3, 1, map[string]string{"0.0": "ready old", "1.0": "ready old", "2.0": "ready old"}, nil, []string{"d-2"}},
		{"a rollout waits while a group is not ready", 3, 1, map[string]string{"0.0": "ready old", "1.0": "ready old", "2.0": ""}, nil, nil},
		{"a rollout goes on when it is", 3, 1, map[string]string{"0.0": "ready old", "1.0": "ready old", "2.0": "ready"}, nil, []string{"d-1"}},
		{"an old group that never became ready does not wait", 2, 1, map[string]string{"0.0": "ready old", "1.0": "old"}, nil, []string{"d-1"}},
		{"a restart takes the whole group", 2, 2, map[string]string{"0.0": "ready", "0.1": "ready restarted", "1.0": "ready", "1.1": "ready"}, nil, []string{"d-0", "d-0-1"}},
		{"a failed pod is replaced", 1, 1, map[string]string{"0.0": "failed"}, nil, []string{"d-0"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := testSet(c.replicas, c.size)
			var pods []*corev1.Pod
			for at, state := range c.pods {
				pods = append(pods, pod(s, int(at[0]-'0'), int(at[2]-'0'), state))
			}
			a := decide(s, pods)
			if d := cmp.Diff(c.create, names(a.create)); d != "" {
				t.Errorf("create (-want +got):\n%s", d)
			}
			if d := cmp.Diff(c.remove, names(a.remove)); d != "" {
				t.Errorf("remove (-want +got):\n%s", d)
			}
		})
	}
}

func names(pods []*corev1.Pod) []string {
	var out []string
	for _, p := range pods {
		out = append(out, p.Name)
	}
	slices.Sort(out)
	return out
}

func TestStatus(t *testing.T) {
	s := testSet(3, 1)
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetGeneration(4)
	got := status(u, s, []*corev1.Pod{pod(s, 0, 0, "ready"), pod(s, 1, 0, "ready old"), pod(s, 2, 0, "")})
	conds := map[string]metav1.ConditionStatus{}
	for _, c := range got["conditions"].([]metav1.Condition) {
		conds[c.Type] = c.Status
		if c.ObservedGeneration != 4 {
			t.Errorf("%s speaks of generation %d", c.Type, c.ObservedGeneration)
		}
	}
	delete(got, "conditions")
	want := map[string]any{"replicas": 3, "readyReplicas": 2, "updatedReplicas": 2, "hpaPodSelector": "leaderworkerset.sigs.k8s.io/name=d,leaderworkerset.sigs.k8s.io/worker-index=0"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("status (-want +got):\n%s", d)
	}
	if d := cmp.Diff(map[string]metav1.ConditionStatus{"Available": "False", "Progressing": "True", "UpdateInProgress": "True"}, conds); d != "" {
		t.Errorf("conditions (-want +got):\n%s", d)
	}
}
