package kube

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mifbench/mifbench/pkg/plan"
)

func unseen(obj map[string]any) (plan.Readiness, bool) {
	if seen, gen := observed(obj); seen < gen {
		return notYet("its controller has not seen generation %d yet", gen), true
	}
	return plan.Readiness{}, false
}

func deploymentReady(obj map[string]any) plan.Readiness {
	if r, wait := unseen(obj); wait {
		return r
	}
	if c, ok := find(obj, "Progressing"); ok && c.reason == "ProgressDeadlineExceeded" {
		return doomed("%s", c)
	}
	want := specInt(obj, "replicas", 1)
	if c, ok := find(obj, "ReplicaFailure"); ok && c.status == "True" {
		return notYet("%s", c)
	}
	return counted(obj, want)
}

// counted compares the counters that Deployments have: updated, available, and no old pods left.
func counted(obj map[string]any, want int64) plan.Readiness {
	updated, available, total := statusInt(obj, "updatedReplicas"), statusInt(obj, "availableReplicas"), statusInt(obj, "replicas")
	switch {
	case updated < want:
		return notYet("%d of %d pods updated", updated, want)
	case total > updated:
		return notYet("%d old pods still there", total-updated)
	case available < want:
		return notYet("%d of %d pods available", available, want)
	}
	return ready("")
}

func replicaSetReady(obj map[string]any) plan.Readiness {
	if r, wait := unseen(obj); wait {
		return r
	}
	if want, have := specInt(obj, "replicas", 1), statusInt(obj, "availableReplicas"); have < want {
		return notYet("%d of %d pods available", have, want)
	}
	return ready("")
}

func statefulSetReady(obj map[string]any) plan.Readiness {
	if r, wait := unseen(obj); wait {
		return r
	}
	want := specInt(obj, "replicas", 1)
	if have := statusInt(obj, "readyReplicas"); have < want {
		return notYet("%d of %d pods ready", have, want)
	}
	strategy, _, _ := unstructured.NestedString(obj, "spec", "updateStrategy", "type")
	partition, _, _ := unstructured.NestedInt64(obj, "spec", "updateStrategy", "rollingUpdate", "partition")
	if have := statusInt(obj, "updatedReplicas"); strategy != "OnDelete" && have < want-partition {
		return notYet("%d of %d pods updated", have, want-partition)
	}
	return ready("")
}

func daemonSetReady(obj map[string]any) plan.Readiness {
	if r, wait := unseen(obj); wait {
		return r
	}
	want := statusInt(obj, "desiredNumberScheduled")
	if have := statusInt(obj, "updatedNumberScheduled"); have < want {
		return notYet("%d of %d pods updated", have, want)
	}
	if have := statusInt(obj, "numberAvailable"); have < want {
		return notYet("%d of %d pods available", have, want)
	}
	return ready("")
}

func podReady(obj map[string]any) plan.Readiness {
	phase, _, _ := unstructured.NestedString(obj, "status", "phase")
	switch phase {
	case "Succeeded":
		return ready("completed")
	case "Failed":
		reason, _, _ := unstructured.NestedString(obj, "status", "reason")
		message, _, _ := unstructured.NestedString(obj, "status", "message")
		return doomed("pod failed %s %s", reason, message)
	}
	if c, ok := find(obj, "PodScheduled"); ok && c.status == "False" {
		return notYet("%s", c)
	}
	c, ok := find(obj, "Ready")
	switch {
	case !ok:
		return notYet("phase %s", phase)
	case c.status != "True":
		return notYet("%s", c)
	}
	return ready("")
}

func jobReady(obj map[string]any) plan.Readiness {
	if c, ok := find(obj, "Failed"); ok && c.status == "True" {
		return doomed("%s", c)
	}
	if c, ok := find(obj, "Complete"); ok && c.status == "True" {
		return ready("completed")
	}
	if suspended, _, _ := unstructured.NestedBool(obj, "spec", "suspend"); suspended {
		return ready("suspended, as asked")
	}
	return notYet("%d succeeded, %d active, %d failed", statusInt(obj, "succeeded"), statusInt(obj, "active"), statusInt(obj, "failed"))
}

// leaderWorkerSetReady compares counters, since the status of LWS 0.8 has no observedGeneration.
func leaderWorkerSetReady(obj map[string]any) plan.Readiness {
	want := specInt(obj, "replicas", 1)
	if have := statusInt(obj, "updatedReplicas"); have < want {
		return notYet("%d of %d groups updated", have, want)
	}
	if have := statusInt(obj, "readyReplicas"); have < want {
		return notYet("%d of %d groups ready", have, want)
	}
	c, ok := find(obj, "Available")
	if !ok {
		return notYet("no condition Available yet")
	}
	return conditionReady(obj, c)
}

// inferenceServiceReady wants Ready at the current generation and every replica updated and
// ready; the top-level observedGeneration exists only since odin-crd v0.10.0.
func inferenceServiceReady(obj map[string]any) plan.Readiness {
	c, ok := find(obj, "Ready")
	if !ok {
		return notYet("no condition Ready yet: is Odin running?")
	}
	if r := conditionReady(obj, c); !r.Ready {
		return r
	}
	if seen, gen := observed(obj); seen >= 0 && seen < gen {
		return notYet("Odin has seen generation %d of %d", seen, gen)
	}
	want := specInt(obj, "replicas", 1)
	if have := statusInt(obj, "updatedReplicas"); have < want {
		return notYet("%d of %d replicas updated", have, want)
	}
	if have := statusInt(obj, "readyReplicas"); have < want {
		return notYet("%d of %d replicas ready", have, want)
	}
	return ready("")
}
