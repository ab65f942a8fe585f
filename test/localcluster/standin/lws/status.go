package lws

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mifbench/mifbench/test/localcluster/standin/reconcile"
)

// status is the set's status as the pods stand, before what decide wants has been done.
func status(u *unstructured.Unstructured, s *set, pods []*corev1.Pod) map[string]any {
	all, surplus := groups(s, pods)
	exist, ready, updated, both := 0, 0, 0, 0
	for _, g := range all {
		if len(g.pods) > 0 {
			exist++
		}
		if g.ready(s) {
			ready++
		}
		if g.current(s) {
			updated++
		}
		if g.ready(s) && g.current(s) {
			both++
		}
	}
	gen := u.GetGeneration()
	available := both == s.Replicas && len(surplus) == 0
	updating := exist > 0 && updated < exist
	message := fmt.Sprintf("%d of %d groups are ready and up to date", both, s.Replicas)
	old, _ := u.Object["status"].(map[string]any)
	return map[string]any{
		"replicas": exist, "readyReplicas": ready, "updatedReplicas": updated,
		"hpaPodSelector": fmt.Sprintf("%s=%s,%s=0", nameLabel, s.name, workerLabel),
		"conditions": reconcile.Conditions(old["conditions"],
			condition("Available", available, gen, "AllGroupsReady", "GroupsNotReady", message),
			condition("Progressing", !available, gen, "GroupsProgressing", "AllGroupsReady", message),
			condition("UpdateInProgress", updating, gen, "GroupsUpdating", "GroupsUpToDate", message)),
	}
}

func condition(typ string, ok bool, gen int64, yes, no, message string) metav1.Condition {
	if !ok {
		yes = no
	}
	return reconcile.Condition(typ, ok, gen, yes, message)
}
