package odin

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/mifbench/mifbench/test/localcluster/standin/reconcile"
)

const nameLabel = "app.kubernetes.io/name"

// load is the workload of a service.
type load struct {
	kind reconcile.Kind
	obj  *unstructured.Unstructured
}

// workload builds the LeaderWorkerSet or Deployment of a service; a workerTemplate wins over a template.
func workload(isvc *unstructured.Unstructured, s *Spec, pool map[string]string) load {
	kind, spec := reconcile.Deployments(), map[string]any{}
	own := map[string]string{nameLabel: isvc.GetName(), ServiceLabel: isvc.GetName()}
	if s.WorkerTemplate != nil {
		kind = reconcile.LeaderWorkerSets()
		spec = map[string]any{
			"replicas": int64(s.replicas()),
			"leaderWorkerTemplate": map[string]any{
				"size": int64(s.groupSize()), "workerTemplate": podTemplate(s.WorkerTemplate, own, pool),
			},
		}
	} else {
		spec = map[string]any{
			"replicas": int64(s.replicas()),
			"selector": map[string]any{"matchLabels": map[string]any{nameLabel: isvc.GetName()}},
			"template": podTemplate(s.Template, own, pool),
		}
		if r := s.RolloutStrategy; r != nil && r.Type != "" {
			spec["strategy"] = strategy(r)
		}
	}
	u := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	u.SetGroupVersionKind(kind.GVK())
	u.SetName(isvc.GetName())
	u.SetNamespace(isvc.GetNamespace())
	u.SetLabels(own)
	u.SetOwnerReferences([]metav1.OwnerReference{reconcile.Owner(reconcile.InferenceServices(), isvc)})
	return load{kind, u}
}

func strategy(r *RolloutStrategy) map[string]any {
	out := map[string]any{"type": r.Type}
	if len(r.RollingUpdate) > 0 {
		out["rollingUpdate"] = runtime.DeepCopyJSONValue(r.RollingUpdate)
	}
	return out
}

// podTemplate adds the service's and the pool's labels to a pod template.
func podTemplate(t *corev1.PodTemplateSpec, own, pool map[string]string) map[string]any {
	t = t.DeepCopy()
	if t.Labels == nil {
		t.Labels = map[string]string{}
	}
	maps.Copy(t.Labels, pool)
	maps.Copy(t.Labels, own)
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(t)
	if err != nil {
		panic(err) // it was made from JSON
	}
	unstructured.RemoveNestedField(m, "metadata", "creationTimestamp")
	return m
}

func (ctl *controller) lister(k reconcile.Kind, namespace, name string) *unstructured.Unstructured {
	if k == reconcile.LeaderWorkerSets() {
		return reconcile.Get(ctl.sets, namespace, name)
	}
	return reconcile.Get(ctl.deploys, namespace, name)
}

// applyWorkload writes the workload unless it is as we left it.
func (ctl *controller) applyWorkload(ctx context.Context, key reconcile.Key, l load) error {
	raw, err := json.Marshal(l.obj.Object)
	if err != nil {
		return err
	}
	h := fnv.New64a()
	_, _ = h.Write(raw) // a hash does not fail
	print := fmt.Sprint(l.kind.Name, h.Sum64())
	live := ctl.lister(l.kind, key.Namespace, key.Name)
	if live != nil && ctl.applied[key] == (written{print, live.GetGeneration()}) {
		return nil
	}
	got, err := ctl.c.Apply(ctx, l.kind, l.obj, manager)
	if err != nil {
		return err
	}
	ctl.applied[key] = written{print, got.GetGeneration()}
	return nil
}

// removeOther deletes the workload of the other kind, left from before a change of templates.
func (ctl *controller) removeOther(ctx context.Context, isvc *unstructured.Unstructured, s *Spec) error {
	other := reconcile.LeaderWorkerSets()
	if s.WorkerTemplate != nil {
		other = reconcile.Deployments()
	}
	live := ctl.lister(other, isvc.GetNamespace(), isvc.GetName())
	if live == nil || live.GetDeletionTimestamp() != nil || !metav1.IsControlledBy(live, isvc) {
		return nil
	}
	background := metav1.DeletePropagationBackground
	err := ctl.c.Resource(other, isvc.GetNamespace()).Delete(ctx, live.GetName(), metav1.DeleteOptions{PropagationPolicy: &background})
	if err != nil && !errors.IsNotFound(err) {
		return fmt.Errorf("delete the former %s %s/%s: %w", other.Name, live.GetNamespace(), live.GetName(), err)
	}
	return nil
}
