package kube

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
)

// Patience is how long a pod may look hopeless before the wait for its owner is given up.
type Patience struct {
	// Image is for pulls that are refused or fail (a token may be renewed meanwhile).
	Image time.Duration
	// Config is for containers that cannot be created (a Secret may still arrive).
	Config time.Duration
	// Unschedulable is for pods that fit on no node (GPUs of a previous stack may still be freed).
	Unschedulable time.Duration
	// Crashes is the number of restarts from which a crash loop dooms its owner.
	Crashes int
}

// DefaultPatience is meant for engines with large images on nodes that drain slowly.
func DefaultPatience() Patience {
	return Patience{Image: 20 * time.Second, Config: 60 * time.Second, Unschedulable: 3 * time.Minute, Crashes: 2}
}

const (
	maxLog   = 64 << 10
	logLines = 10
	pageSize = 500
)

// trouble is what is wrong with one container or pod, and since when it may have been so.
type trouble struct {
	pod       *corev1.Pod
	container string
	reason    string
	message   string
	// grace is how long to bear it; 0 means that it is final.
	grace time.Duration
	since time.Time
	// ran tells that the container has run before, so that its previous log is worth reading.
	ran bool
}

// key identifies a trouble between two looks.
func (t trouble) key() string {
	return string(t.pod.UID) + "/" + t.container + "/" + strings.TrimPrefix(t.reason, "Err")
}

func (t trouble) line() string {
	what := "pod " + t.pod.Name
	if t.container != "" {
		what += ", container " + t.container
	}
	return strings.TrimSuffix(fmt.Sprintf("%s: %s: %s", what, t.reason, t.message), ": ")
}

// troubles lists what is wrong with a pod, the worst first.
func troubles(p *corev1.Pod, patience Patience) []trouble {
	var out []trouble
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable {
			out = append(out, trouble{pod: p, reason: c.Reason, message: c.Message, grace: patience.Unschedulable, since: c.LastTransitionTime.Time})
		}
	}
	for _, s := range append(append([]corev1.ContainerStatus{}, p.Status.InitContainerStatuses...), p.Status.ContainerStatuses...) {
		if t, ok := containerTrouble(p, s, patience); ok {
			out = append(out, t)
		}
	}
	return out
}

func containerTrouble(p *corev1.Pod, s corev1.ContainerStatus, patience Patience) (trouble, bool) {
	if end := s.State.Terminated; end != nil && end.ExitCode != 0 && p.Status.Phase == corev1.PodFailed {
		// Whether another pod is tried is its owner's matter.
		return trouble{pod: p, container: s.Name, reason: end.Reason, message: ended(end), grace: time.Hour, ran: true}, true
	}
	w := s.State.Waiting
	if w == nil {
		return trouble{}, false
	}
	t := trouble{pod: p, container: s.Name, reason: w.Reason, message: w.Message, ran: s.LastTerminationState.Terminated != nil}
	switch w.Reason {
	case "InvalidImageName", "ErrImageNeverPull":
	case "ErrImagePull", "ImagePullBackOff":
		t.grace = patience.Image
	case "CreateContainerConfigError", "CreateContainerError", "RunContainerError":
		t.grace = patience.Config
	case "CrashLoopBackOff":
		if int(s.RestartCount) < patience.Crashes {
			t.grace = time.Hour
		}
		if last := s.LastTerminationState.Terminated; last != nil {
			t.message = ended(last)
		}
	default:
		return trouble{}, false
	}
	return t, true
}

func ended(s *corev1.ContainerStateTerminated) string {
	return strings.TrimSuffix(fmt.Sprintf("exit code %d %s: %s", s.ExitCode, s.Reason, s.Message), ": ")
}

// newestGroup keeps the pods that were made from the newest template: those of an old rollout
// may fail without dooming the new one. Pods that are going do not count.
func newestGroup(pods []corev1.Pod) []corev1.Pod {
	var newest *corev1.Pod
	for i := range pods {
		p := &pods[i]
		if p.DeletionTimestamp == nil && (newest == nil || p.CreationTimestamp.After(newest.CreationTimestamp.Time)) {
			newest = p
		}
	}
	var out []corev1.Pod
	for _, p := range pods {
		if p.DeletionTimestamp == nil && templateHash(&p) == templateHash(newest) {
			out = append(out, p)
		}
	}
	return out
}

func templateHash(p *corev1.Pod) string {
	for _, k := range []string{"leaderworkerset.sigs.k8s.io/template-revision-hash", "pod-template-hash", "controller-revision-hash"} {
		if v := p.Labels[k]; v != "" {
			return v
		}
	}
	return ""
}

// diagnosis remembers, over one wait, when each trouble was first seen.
type diagnosis struct {
	driver *Driver
	first  map[string]time.Time
	// worst is what the last look's verdict is about, nil when it found nothing.
	worst *trouble
}

// look examines the pods behind an object that is not ready. The verdict has Failed set when a
// pod's trouble has outlived its grace; otherwise its Reason is the newest trouble, "" for none.
func (g *diagnosis) look(ctx context.Context, id resource.ID, obj map[string]any) (plan.Readiness, error) {
	list, err := g.driver.podsOf(ctx, id, obj)
	if err != nil {
		return plan.Readiness{}, err
	}
	pods := make([]corev1.Pod, 0, len(list))
	for _, m := range list {
		var p corev1.Pod
		if err := fromUnstructured(m, &p); err != nil {
			return plan.Readiness{}, fmt.Errorf("pods of %s: %w", id, err)
		}
		pods = append(pods, p)
	}
	verdict := plan.Readiness{}
	g.worst = nil
	for _, p := range newestGroup(pods) {
		for _, t := range troubles(&p, g.driver.patience) {
			if g.hopeless(t) {
				return plan.Readiness{Failed: true, Reason: t.line(), Detail: g.detail(ctx, t), Since: g.first[t.key()]}, nil
			}
			if verdict.Reason == "" {
				verdict, g.worst = plan.Readiness{Reason: t.line(), Since: g.first[t.key()]}, &t
			}
		}
	}
	return verdict, nil
}

func (g *diagnosis) hopeless(t trouble) bool {
	now := g.driver.now()
	first, ok := g.first[t.key()]
	if !ok {
		first = now
		if !t.since.IsZero() {
			first = t.since
		}
		g.first[t.key()] = first
	}
	return now.Sub(first) >= t.grace
}

// detail are the newest warning events and the container's last log lines. What cannot be
// read is said, since it must not hide the failure itself.
func (g *diagnosis) detail(ctx context.Context, t trouble) []string {
	var out []string
	events, err := g.driver.Events(ctx, t.pod.Namespace, string(t.pod.UID))
	if err != nil {
		out = append(out, fmt.Sprintf("events not readable: %v", err))
	}
	for _, e := range lastWarnings(events, 3) {
		out = append(out, fmt.Sprintf("event %s: %s", e.Reason, e.Message))
	}
	if t.container == "" || !t.ran {
		return out
	}
	lines, err := g.driver.Log(ctx, t.pod.Namespace, t.pod.Name, t.container, logLines, true)
	if err != nil {
		lines, err = g.driver.Log(ctx, t.pod.Namespace, t.pod.Name, t.container, logLines, false)
	}
	if err != nil {
		return append(out, fmt.Sprintf("log not readable: %v", err))
	}
	for _, l := range lines {
		out = append(out, "log "+t.container+": "+l)
	}
	return out
}

func lastWarnings(events []Event, n int) []Event {
	var out []Event
	for _, e := range events {
		if e.Warning {
			out = append(out, e)
		}
	}
	if len(out) > n {
		out = out[len(out)-n:]
	}
	return out
}

func fromUnstructured(m map[string]any, into any) error {
	return runtime.DefaultUnstructuredConverter.FromUnstructured(m, into)
}
