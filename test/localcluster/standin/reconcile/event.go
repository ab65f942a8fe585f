package reconcile

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Event records a happening on an object. Events are comfort: a failure to write one is only logged.
func (c *Cluster) Event(ctx context.Context, k Kind, about *unstructured.Unstructured, typ, reason, message string) {
	now := metav1.NewTime(time.Now())
	ev, err := Object(Events(), &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{GenerateName: about.GetName() + ".", Namespace: about.GetNamespace()},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: k.GroupVersion().String(), Kind: k.Name, Namespace: about.GetNamespace(), Name: about.GetName(), UID: about.GetUID(),
		},
		Type: typ, Reason: reason, Message: message, Count: 1, FirstTimestamp: now, LastTimestamp: now,
		Source: corev1.EventSource{Component: "stand-in"},
	})
	if err == nil {
		_, err = c.Resource(Events(), about.GetNamespace()).Create(ctx, ev, metav1.CreateOptions{})
	}
	if err != nil && ctx.Err() == nil {
		c.Log("event %s on %s %s/%s: %v", reason, k.Name, about.GetNamespace(), about.GetName(), err)
	}
}
