package lws

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// set is the part of a LeaderWorkerSet that is obeyed. The CRD's defaults are in the object already.
type set struct {
	Replicas             int `json:"replicas"`
	LeaderWorkerTemplate struct {
		Size           int                     `json:"size"`
		RestartPolicy  string                  `json:"restartPolicy"`
		LeaderTemplate *corev1.PodTemplateSpec `json:"leaderTemplate"`
		WorkerTemplate corev1.PodTemplateSpec  `json:"workerTemplate"`
	} `json:"leaderWorkerTemplate"`
	RolloutStrategy struct {
		RollingUpdateConfiguration *struct {
			MaxUnavailable *intstr.IntOrString `json:"maxUnavailable"`
		} `json:"rollingUpdateConfiguration"`
	} `json:"rolloutStrategy"`

	name, namespace, hash string
}

func read(u *unstructured.Unstructured) (*set, error) {
	raw, err := json.Marshal(u.Object["spec"])
	if err != nil {
		return nil, err
	}
	s := &set{name: u.GetName(), namespace: u.GetNamespace()}
	if err := json.Unmarshal(raw, s); err != nil {
		return nil, fmt.Errorf("read LeaderWorkerSet %s/%s: %w", s.namespace, s.name, err)
	}
	s.hash, err = hash(s)
	return s, err
}

// hash identifies what pods are made from.
func hash(s *set) (string, error) {
	raw, err := json.Marshal([]any{s.LeaderWorkerTemplate.Size, s.LeaderWorkerTemplate.LeaderTemplate, s.LeaderWorkerTemplate.WorkerTemplate})
	if err != nil {
		return "", err
	}
	h := fnv.New32a()
	_, _ = h.Write(raw) // a hash does not fail
	return strconv.FormatUint(uint64(h.Sum32()), 16), nil
}

// maxUnavailable is the number of groups that a rollout may take away at a time, at least one.
func (s *set) maxUnavailable() int {
	c := s.RolloutStrategy.RollingUpdateConfiguration
	if c == nil || c.MaxUnavailable == nil {
		return 1
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(c.MaxUnavailable, s.Replicas, false)
	if err != nil {
		return 1 // the CRD's schema lets through strings that are no percentage
	}
	return max(1, n)
}

// podName is <set>-<group> for a leader and <set>-<group>-<worker> for the others.
func (s *set) podName(group, worker int) string {
	if worker == 0 {
		return fmt.Sprintf("%s-%d", s.name, group)
	}
	return fmt.Sprintf("%s-%d-%d", s.name, group, worker)
}

// pod makes a pod of a group.
func (s *set) pod(group, worker int) *corev1.Pod {
	t := &s.LeaderWorkerTemplate.WorkerTemplate
	if worker == 0 && s.LeaderWorkerTemplate.LeaderTemplate != nil {
		t = s.LeaderWorkerTemplate.LeaderTemplate
	}
	t = t.DeepCopy()
	p := &corev1.Pod{ObjectMeta: t.ObjectMeta, Spec: t.Spec}
	p.Name, p.Namespace = s.podName(group, worker), s.namespace
	if p.Labels == nil {
		p.Labels = map[string]string{}
	}
	p.Labels[nameLabel], p.Labels[hashLabel] = s.name, s.hash
	p.Labels[groupLabel], p.Labels[workerLabel] = strconv.Itoa(group), strconv.Itoa(worker)
	p.Spec.Hostname, p.Spec.Subdomain = p.Name, s.name
	env := []corev1.EnvVar{
		{Name: "LWS_LEADER_ADDRESS", Value: fmt.Sprintf("%s.%s.%s", s.podName(group, 0), s.name, s.namespace)},
		{Name: "LWS_GROUP_SIZE", Value: strconv.Itoa(s.LeaderWorkerTemplate.Size)},
		{Name: "LWS_WORKER_INDEX", Value: strconv.Itoa(worker)},
	}
	for _, list := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for i := range list {
			// First, so that the template's own variables may refer to them.
			list[i].Env = append(append([]corev1.EnvVar{}, env...), list[i].Env...)
		}
	}
	return p
}
