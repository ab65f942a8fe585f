package replicator

import (
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// replica is the copy of src for a namespace. Where a secret of the name exists, its data and labels are replaced, its
// type and its other annotations stay.
func replica(src, old *corev1.Secret, namespace string, now metav1.Time) *corev1.Secret {
	out := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: src.Name, Namespace: namespace, Annotations: map[string]string{}},
		Type:       src.Type,
	}
	if old != nil {
		out.Type, out.ResourceVersion, out.OwnerReferences, out.Finalizers = old.Type, old.ResourceVersion, old.OwnerReferences, old.Finalizers
		maps.Copy(out.Annotations, old.Annotations)
	}
	out.Labels = maps.Clone(src.Labels)
	out.Data = maps.Clone(src.Data)
	out.Annotations[at] = now.UTC().Format(time.RFC3339)
	out.Annotations[fromVersion] = src.ResourceVersion
	out.Annotations[keys] = strings.Join(slices.Sorted(maps.Keys(src.Data)), ",")
	return out
}
