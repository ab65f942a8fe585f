package kube

import (
	"context"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/resource"
)

// Delete implements deploy.Driver: foreground deletion of exactly the object that was looked
// at (UID precondition). It refuses what is not ours, and a namespace that we did not create.
func (d *Driver) Delete(ctx context.Context, r deploy.Request) error {
	id := queryID(r.Query)
	live, err := d.get(ctx, id)
	if err != nil || live == nil {
		return err
	}
	if err := ours(r.Query, live, false); err != nil {
		return err
	}
	if id.Kind == "Namespace" && !createdByUs(r.Query, live) {
		return fmt.Errorf("%s: %w: it existed before this stack and is left alone; forget it with `state rm`, or delete it by hand", id, deploy.ErrNotOurs)
	}
	return d.delete(ctx, id, live)
}

func createdByUs(q deploy.Query, live map[string]any) bool {
	if q.Prior != nil {
		return q.Prior.Created
	}
	return annotation(live, CreatedAnnotation) != "false"
}

func (d *Driver) delete(ctx context.Context, id resource.ID, live map[string]any) error {
	r, _, err := d.resource(ctx, id)
	if isNoKind(err) {
		return nil
	}
	if err != nil {
		return err
	}
	uid, how := types.UID(metaString(live, "uid")), metav1.DeletePropagationForeground
	err = d.retry(ctx, func(ctx context.Context) error {
		return r.Delete(ctx, id.Name, metav1.DeleteOptions{PropagationPolicy: &how, Preconditions: &metav1.Preconditions{UID: &uid}})
	})
	if isNotFound(err) {
		return nil
	}
	if err != nil {
		return d.explain("delete", id, err)
	}
	return nil
}

// remove deletes and waits for absence: the first half of a replacement.
func (d *Driver) remove(ctx context.Context, id resource.ID, live map[string]any) error {
	if err := d.delete(ctx, id, live); err != nil {
		return err
	}
	return d.waitGone(ctx, id, metaString(live, "uid"), defaultTimeout(id.Kind, true), nil)
}

// terminatingReason says what a deletion waits for: finalizers, and for a namespace the
// conditions that its controller writes.
func terminatingReason(live map[string]any) string {
	parts := []string{"being deleted"}
	if f, _, _ := unstructured.NestedStringSlice(live, "metadata", "finalizers"); len(f) > 0 {
		parts = append(parts, "finalizers "+strings.Join(f, ", "))
	}
	if f, _, _ := unstructured.NestedStringSlice(live, "spec", "finalizers"); len(f) > 0 {
		parts = append(parts, "finalizers "+strings.Join(f, ", "))
	}
	if live["kind"] == "Namespace" {
		for _, c := range conditions(live) {
			if c.status == "True" && strings.HasPrefix(c.kind, "Namespace") {
				parts = append(parts, c.kind+": "+c.message)
			}
		}
	}
	if since, err := time.Parse(time.RFC3339, metaString(live, "deletionTimestamp")); err == nil {
		parts[0] = "being deleted since " + since.Format(time.RFC3339)
	}
	return strings.Join(parts, "; ")
}

// Remove deletes an object whoever made it, if it exists: for the objects of a Helm release.
func (d *Driver) Remove(ctx context.Context, id resource.ID) error {
	live, err := d.get(ctx, id)
	if err != nil || live == nil {
		return err
	}
	return d.delete(ctx, id, live)
}
