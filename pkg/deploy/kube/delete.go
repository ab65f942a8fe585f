package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/resource"
)

// Delete implements deploy.Driver: deletion of exactly the object that was looked at, its
// dependents first. It refuses what is not ours, and a namespace that we did not create. One
// request does where the object is as the plan saw it.
func (d *Driver) Delete(ctx context.Context, r deploy.Request) error {
	id := queryID(r.Query)
	if judged(r) {
		err := d.delete(ctx, id, metav1.Preconditions{UID: new(types.UID(r.Seen.UID)), ResourceVersion: &r.Seen.Version})
		if !apierrors.IsConflict(err) {
			return err
		}
	}
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
	return d.delete(ctx, id, exactly(live))
}

// judged tells that the object was ours when the plan saw it, so that the server may delete it as
// long as it has not changed since. Namespaces are looked at once more: they take others with them.
func judged(r deploy.Request) bool {
	return r.Seen.Exists && r.Seen.UID != "" && r.Seen.Version != "" && r.Seen.Owner == r.Stack && r.Stack != "" &&
		queryID(r.Query).Kind != "Namespace"
}

// exactly limits a deletion to the incarnation that was looked at.
func exactly(live map[string]any) metav1.Preconditions {
	return metav1.Preconditions{UID: new(types.UID(metaString(live, "uid")))}
}

func createdByUs(q deploy.Query, live map[string]any) bool {
	if q.Prior != nil {
		return q.Prior.Created
	}
	return annotation(live, CreatedAnnotation) != "false"
}

// delete asks for deletion, only of the incarnation that only limits it to, and keeps the answer for
// the wait that follows.
func (d *Driver) delete(ctx context.Context, id resource.ID, only metav1.Preconditions) error {
	_, k, err := d.resource(ctx, id)
	if isNoKind(err) {
		return nil
	}
	if err != nil {
		return err
	}
	d.answers.drop(id)
	how := propagation(id)
	var answer []byte
	err = d.retry(ctx, func(ctx context.Context) (err error) {
		answer, err = d.sendDelete(ctx, k.path(id.Namespace, id.Name), metav1.DeleteOptions{PropagationPolicy: &how, Preconditions: &only})
		return err
	})
	switch {
	case isNotFound(err):
		d.answers.leaving(id, text(only.UID), nil)
		return nil
	case apierrors.IsConflict(err):
		return fmt.Errorf("delete %s: it has changed meanwhile: %w", id, err)
	case err != nil:
		return d.explain("delete", id, err)
	}
	d.hear(id, text(only.UID), answer)
	return nil
}

func text(uid *types.UID) string {
	if uid == nil {
		return ""
	}
	return string(*uid)
}

// sendDelete sends a deletion by hand, since the typed clients drop the answer.
func (d *Driver) sendDelete(ctx context.Context, path string, o metav1.DeleteOptions) ([]byte, error) {
	o.APIVersion, o.Kind = "v1", "DeleteOptions"
	body, err := json.Marshal(o)
	if err != nil {
		panic("kube: " + err.Error())
	}
	res := d.kinds.client.RESTClient().Delete().AbsPath(path).SetHeader("Content-Type", "application/json").
		SetHeader("Accept", "application/json").Body(body).Do(ctx)
	if err := res.Error(); err != nil {
		return nil, err
	}
	return res.Raw()
}

// hear keeps what the answer to a deletion says: a Status of success when the object is gone, the
// object as it waits for its finalizers otherwise. Some kinds send back an object that is gone:
// of an answer without a deletionTimestamp nothing is kept.
func (d *Driver) hear(id resource.ID, uid string, answer []byte) {
	var m map[string]any
	if json.Unmarshal(answer, &m) != nil {
		return
	}
	switch {
	case m["kind"] == "Status" && m["status"] == metav1.StatusSuccess && id.Kind != "Status":
		d.answers.leaving(id, uid, nil)
	case (uid == "" || metaString(m, "uid") == uid) && metaString(m, "deletionTimestamp") != "":
		d.answers.leaving(id, metaString(m, "uid"), m)
	}
}

// propagation is foreground, so that an object is gone only after what it owns; kinds that own
// nothing need no visit of the garbage collector.
func propagation(id resource.ID) metav1.DeletionPropagation {
	if slices.Contains(childless(), id.Group()+"/"+id.Kind) {
		return metav1.DeletePropagationBackground
	}
	return metav1.DeletePropagationForeground
}

func childless() []string {
	return []string{
		"/ConfigMap", "/Secret", "/ServiceAccount", "/LimitRange", "/ResourceQuota", "networking.k8s.io/NetworkPolicy", "scheduling.k8s.io/PriorityClass",
		"rbac.authorization.k8s.io/Role", "rbac.authorization.k8s.io/RoleBinding", "rbac.authorization.k8s.io/ClusterRole", "rbac.authorization.k8s.io/ClusterRoleBinding",
	}
}

// remove deletes and waits for absence: the first half of a replacement.
func (d *Driver) remove(ctx context.Context, id resource.ID, live map[string]any) error {
	if err := d.delete(ctx, id, exactly(live)); err != nil {
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
	return d.delete(ctx, id, metav1.Preconditions{})
}
