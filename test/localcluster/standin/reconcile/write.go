package reconcile

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// Resource returns the client of a kind in a namespace ("" for cluster-scoped kinds).
func (c *Cluster) Resource(k Kind, namespace string) dynamic.ResourceInterface {
	if namespace == "" {
		return c.Dynamic.Resource(k.GroupVersionResource)
	}
	return c.Dynamic.Resource(k.GroupVersionResource).Namespace(namespace)
}

// Object converts a typed object, or a map, to an unstructured one of the kind.
func Object(k Kind, obj any) (*unstructured.Unstructured, error) {
	m, err := toMap(obj)
	if err != nil {
		return nil, fmt.Errorf("convert %s: %w", k.Name, err)
	}
	u := &unstructured.Unstructured{Object: m}
	u.SetGroupVersionKind(k.GVK())
	// Typed objects carry an empty status and a null creation time, which are not ours to write.
	unstructured.RemoveNestedField(u.Object, "status")
	unstructured.RemoveNestedField(u.Object, "metadata", "creationTimestamp")
	return u, nil
}

func toMap(obj any) (map[string]any, error) {
	if m, ok := obj.(map[string]any); ok {
		return runtime.DeepCopyJSON(m), nil
	}
	return runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
}

// Apply writes an object with server-side apply as the given manager, taking over contested fields,
// and returns the object as it is now.
func (c *Cluster) Apply(ctx context.Context, k Kind, obj *unstructured.Unstructured, manager string) (*unstructured.Unstructured, error) {
	got, err := c.Resource(k, obj.GetNamespace()).Apply(ctx, obj.GetName(), obj, metav1.ApplyOptions{FieldManager: manager, Force: true})
	if err != nil {
		return nil, fmt.Errorf("apply %s %s/%s: %w", k.Name, obj.GetNamespace(), obj.GetName(), err)
	}
	return got, nil
}

// PatchStatus merges status into the object's unless that changes nothing. An object that is gone is no error.
func (c *Cluster) PatchStatus(ctx context.Context, k Kind, obj *unstructured.Unstructured, status map[string]any) error {
	want, err := normal(status)
	if err != nil {
		return fmt.Errorf("status of %s %s/%s: %w", k.Name, obj.GetNamespace(), obj.GetName(), err)
	}
	have, _ := obj.Object["status"].(map[string]any)
	same := true
	for f, v := range want {
		same = same && reflect.DeepEqual(have[f], v)
	}
	if same {
		return nil
	}
	body, err := json.Marshal(map[string]any{"status": want})
	if err != nil {
		return fmt.Errorf("status of %s %s/%s: %w", k.Name, obj.GetNamespace(), obj.GetName(), err)
	}
	_, err = c.Resource(k, obj.GetNamespace()).Patch(ctx, obj.GetName(), types.MergePatchType, body, metav1.PatchOptions{}, "status")
	if err != nil && !errors.IsNotFound(err) {
		return fmt.Errorf("write status of %s %s/%s: %w", k.Name, obj.GetNamespace(), obj.GetName(), err)
	}
	return nil
}

// normal brings a value into the shape that JSON from the API server has (int64, []any).
func normal(v map[string]any) (map[string]any, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(append(append([]byte(`{"apiVersion":"v1","kind":"X","v":`), raw...), '}')); err != nil {
		return nil, err
	}
	return u.Object["v"].(map[string]any), nil
}

// Conditions returns old with the new ones put in: a condition whose status did not change keeps its transition time.
func Conditions(old any, news ...metav1.Condition) []metav1.Condition {
	var out []metav1.Condition
	if raw, err := json.Marshal(old); err == nil {
		// What cannot be read as conditions is replaced by what can.
		if json.Unmarshal(raw, &out) != nil {
			out = nil
		}
	}
	for _, n := range news {
		apimeta.SetStatusCondition(&out, n)
	}
	return out
}

// Condition is shorthand for a condition at a generation.
func Condition(typ string, ok bool, generation int64, reason, message string) metav1.Condition {
	status := metav1.ConditionFalse
	if ok {
		status = metav1.ConditionTrue
	}
	return metav1.Condition{Type: typ, Status: status, ObservedGeneration: generation, Reason: reason, Message: message}
}

// Owner returns the reference that makes the garbage collector delete a dependant after its owner.
func Owner(k Kind, owner *unstructured.Unstructured) metav1.OwnerReference {
	yes := true
	return metav1.OwnerReference{
		APIVersion: k.GroupVersion().String(), Kind: k.Name, Name: owner.GetName(), UID: owner.GetUID(),
		Controller: &yes, BlockOwnerDeletion: &yes,
	}
}
