package kube

import (
	"context"
	"fmt"
	"sort"
	"strings"

	kresource "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/plan"
)

// podTemplates are the JSON pointers below which a change restarts pods, by kind.
func podTemplates(kind string) []string {
	switch kind {
	case "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet":
		return []string{"/spec/template"}
	case "LeaderWorkerSet":
		return []string{"/spec/leaderWorkerTemplate"}
	case "InferenceService":
		return []string{
			"/spec/template", "/spec/workerTemplate", "/spec/templateRefs", "/spec/framework",
			"/spec/model", "/spec/parallelism", "/spec/inferencePoolRefs",
		}
	}
	return nil
}

// measure says what the change would disturb. It costs a list of pods, and only when a
// change restarts some.
func (d *Driver) measure(ctx context.Context, q deploy.Query, obs *plan.Observation) error {
	if !obs.Exists || q.Want == nil || !disturbs(obs) {
		return nil
	}
	pods, err := d.podsOf(ctx, obs.ID, obs.Live)
	if err != nil {
		obs.Warnings = append(obs.Warnings, fmt.Sprintf("%s: what the change interrupts is not known: %v", obs.ID, err))
		return nil
	}
	if len(pods) > 0 {
		obs.Interrupts = podsSentence(pods) + " restart"
	}
	return nil
}

func disturbs(obs *plan.Observation) bool {
	changed := changes("", obs.Live, obs.Predicted)
	if len(changed) > 0 && len(obs.Immutable) > 0 {
		return true
	}
	for _, c := range changed {
		for _, p := range podTemplates(obs.ID.Kind) {
			if c == p || strings.HasPrefix(c, p+"/") {
				return true
			}
		}
	}
	return false
}

// podsSentence counts pods and their extended resources: "3 pods, 24 amd.com/gpu".
func podsSentence(pods []map[string]any) string {
	sums := map[string]int64{}
	for _, p := range pods {
		list, _, _ := unstructured.NestedSlice(p, "spec", "containers")
		for _, c := range list {
			m, _ := c.(map[string]any)
			limits, _, _ := unstructured.NestedMap(m, "resources", "limits")
			for name, v := range limits {
				text, _ := scalarText(v)
				n, err := kresource.ParseQuantity(text)
				if strings.Contains(name, "/") && err == nil {
					sums[name] += n.Value()
				}
			}
		}
	}
	parts := []string{fmt.Sprintf("%d pods", len(pods))}
	if len(pods) == 1 {
		parts[0] = "1 pod"
	}
	names := make([]string, 0, len(sums))
	for n := range sums {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		parts = append(parts, fmt.Sprintf("%d %s", sums[n], n))
	}
	return strings.Join(parts, ", ")
}
