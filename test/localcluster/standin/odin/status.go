package odin

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mifbench/mifbench/test/localcluster/standin/reconcile"
)

// counts is how far a workload has come.
type counts struct {
	replicas, updated, ready int64
	current                  bool // the numbers belong to the spec as it is now
}

func notReady(isvc *unstructured.Unstructured, reason, message string) map[string]any {
	return map[string]any{"conditions": conditions(isvc, false, reason, message)}
}

func conditions(isvc *unstructured.Unstructured, ok bool, reason, message string) []metav1.Condition {
	status, _ := isvc.Object["status"].(map[string]any)
	return reconcile.Conditions(status["conditions"], reconcile.Condition("Ready", ok, isvc.GetGeneration(), reason, message))
}

// status reports a service whose workload has been written.
func (ctl *controller) status(isvc *unstructured.Unstructured, r *rendered) map[string]any {
	kind := reconcile.Deployments()
	if r.spec.WorkerTemplate != nil {
		kind = reconcile.LeaderWorkerSets()
	}
	n := ctl.progress(isvc, kind)
	want := int64(r.spec.replicas())
	ok := n.current && n.ready == want && n.updated == want && n.replicas == want
	reason, message := "AllReplicasReady", fmt.Sprintf("%d of %d replicas are ready", n.ready, want)
	if !ok {
		reason = "ReplicasNotReady"
		message += ctl.trouble(isvc)
	}
	return map[string]any{
		"conditions": conditions(isvc, ok, reason, message),
		"replicas":   n.replicas, "updatedReplicas": n.updated, "readyReplicas": n.ready,
		"renderedSpec": r.raw,
	}
}

// progress reads the workload's status. It does not count before the workload is as we last wrote it.
func (ctl *controller) progress(isvc *unstructured.Unstructured, k reconcile.Kind) counts {
	live := ctl.lister(k, isvc.GetNamespace(), isvc.GetName())
	key := reconcile.Key{Namespace: isvc.GetNamespace(), Name: isvc.GetName()}
	if live == nil || live.GetGeneration() != ctl.applied[key].generation {
		return counts{}
	}
	number := func(f string) int64 {
		n, _, err := unstructured.NestedInt64(live.Object, "status", f)
		if err != nil {
			return 0
		}
		return n
	}
	return counts{number("replicas"), number("updatedReplicas"), number("readyReplicas"), observed(live, k) == live.GetGeneration()}
}

// observed is the generation that a workload's status speaks of: a Deployment says so, a LeaderWorkerSet in a condition.
func observed(live *unstructured.Unstructured, k reconcile.Kind) int64 {
	if k == reconcile.Deployments() {
		n, _, err := unstructured.NestedInt64(live.Object, "status", "observedGeneration")
		if err != nil {
			return 0
		}
		return n
	}
	status, _ := live.Object["status"].(map[string]any)
	for _, c := range reconcile.Conditions(status["conditions"]) {
		if c.Type == "Available" {
			return c.ObservedGeneration
		}
	}
	return 0
}

// trouble names the first pod of a service that is not ready, and why.
func (ctl *controller) trouble(isvc *unstructured.Unstructured) string {
	pods := reconcile.List(ctl.pods, isvc.GetNamespace(), func(u *unstructured.Unstructured) bool {
		return u.GetLabels()[ServiceLabel] == isvc.GetName()
	})
	slices.SortFunc(pods, func(a, b *unstructured.Unstructured) int { return strings.Compare(a.GetName(), b.GetName()) })
	for _, u := range pods {
		p, err := reconcile.Into[corev1.Pod](u)
		if err != nil {
			return "; " + err.Error()
		}
		if t := reconcile.PodTrouble(p); t != "" {
			return fmt.Sprintf("; pod %s %s", p.Name, t)
		}
	}
	return ""
}
