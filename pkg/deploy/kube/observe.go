package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
)

// Observe implements deploy.Driver: one read, and one server-side-apply dry-run when the
// object is wanted. When the server cannot judge, the ladder is: namespace or kind brought
// by the same plan → the author's text, Offline set; no right to patch → a client-side
// comparison and a warning; kind that nothing brings → an error that names its chart.
func (d *Driver) Observe(ctx context.Context, q deploy.Query) (plan.Observation, error) {
	id := queryID(q)
	obs := plan.Observation{ID: id, Provides: provides(q.Want)}
	_, _, err := d.resource(ctx, id)
	switch {
	case isNoKind(err) && q.Want == nil:
		obs.Notes = append(obs.Notes, id.APIVersion+" "+id.Kind+" is not served any more: the object went with its CRD")
		return obs, nil
	case isNoKind(err) && slices.Contains(q.Provided.Kinds, id.Group()+"/"+id.Kind):
		return d.offline(q, obs, "kind comes from this plan"), nil
	case isNoKind(err):
		return obs, fmt.Errorf("%s: %w", id, err)
	case err != nil:
		return obs, err
	}
	live, err := d.get(ctx, id)
	if err != nil {
		return obs, err
	}
	see(&obs, live, q.Want)
	if obs.Ready.Ready && q.Want != nil {
		if obs.Ready, err = d.whole(ctx, id, live, q.Want.Options.Wait); err != nil {
			return obs, err
		}
	}
	if q.Want != nil {
		if err := d.predict(ctx, q, live, &obs); err != nil {
			return obs, err
		}
	}
	obs.Live = normalise(live)
	hide(&obs, q)
	return obs, d.measure(ctx, q, &obs)
}

func queryID(q deploy.Query) resource.ID {
	switch {
	case q.Want != nil:
		return q.Want.ID
	case q.Prior != nil:
		return q.Prior.ID
	}
	panic("kube: a query without Want and Prior")
}

// see copies what the live object tells about itself.
func see(obs *plan.Observation, live map[string]any, want *resource.Object) {
	if live == nil {
		return
	}
	var wait *resource.Wait
	if want != nil {
		wait = want.Options.Wait
	}
	obs.Exists = true
	obs.UID = metaString(live, "uid")
	obs.Version = metaString(live, "resourceVersion")
	obs.Owner = annotation(live, StackAnnotation)
	obs.Adopted = annotation(live, CreatedAnnotation) == "false"
	obs.Terminating = metaString(live, "deletionTimestamp") != ""
	obs.Ready = Ready(live, wait)
	if obs.Terminating {
		obs.Ready = plan.Readiness{Reason: terminatingReason(live)}
	}
}

// hide settles spelling and masks secrets on both sides.
func hide(obs *plan.Observation, q deploy.Query) {
	if obs.Predicted != nil && obs.Live != nil {
		settle(obs.Live, obs.Predicted, "")
	}
	var pointers []string
	if q.Want != nil {
		pointers = q.Want.Sensitive
	}
	mask(obs.Live, q.Salt, pointers)
	mask(obs.Predicted, q.Salt, pointers)
}

func (d *Driver) offline(q deploy.Query, obs plan.Observation, why string) plan.Observation {
	obs.Offline = why
	obs.Predicted = normalise(d.body(q, nil))
	hide(&obs, q)
	return obs
}

// predict fills Predicted by asking the server.
func (d *Driver) predict(ctx context.Context, q deploy.Query, live map[string]any, obs *plan.Observation) error {
	body := d.body(q, live)
	ctx, warned := collectWarnings(ctx)
	// Without force also where the author forces: the plan says from whom the fields are taken.
	after, err := d.patch(ctx, obs.ID, body, false, true)
	obs.Warnings = append(obs.Warnings, warned.all()...)
	if apierrors.IsConflict(err) && len(conflicts(err)) > 0 {
		obs.Conflicts = conflicts(err)
		after, err = d.patch(ctx, obs.ID, body, true, true)
	}
	switch {
	case err == nil:
		obs.Predicted = normalise(after)
		return nil
	case isNamespaceMissing(err) && slices.Contains(q.Provided.Namespaces, obs.ID.Namespace):
		obs.Offline = "namespace comes from this plan"
		obs.Predicted = normalise(body)
		return d.rehearse(ctx, obs.ID, body)
	case namespaceTerminating(err) && slices.Contains(q.Provided.Namespaces, obs.ID.Namespace):
		// The plan stops at the namespace and says what holds it.
		obs.Offline = "its namespace is being deleted"
		obs.Predicted = normalise(body)
		return nil
	case namespaceTerminating(err) || isNamespaceMissing(err):
		return d.explain("plan", obs.ID, err)
	case apierrors.IsForbidden(err) && !isDenied(err):
		obs.Warnings = append(obs.Warnings, fmt.Sprintf("%s: no right to a dry-run (%v): compared on this side, without the server's defaults and webhooks", obs.ID, err))
	case live != nil && immutableFields(err) != nil:
		obs.Immutable = immutablePointers(immutableFields(err), normalise(live), overlay(normalise(live), normalise(body)))
	default:
		return d.explain("plan", obs.ID, err)
	}
	obs.Predicted = clientSide(live, body)
	return nil
}

func clientSide(live, body map[string]any) map[string]any {
	if live == nil {
		return normalise(body)
	}
	return overlay(normalise(live), normalise(body)).(map[string]any)
}

// rehearse asks the server to judge an object whose namespace does not exist yet, by a dry-run
// under another name in the namespace default. Only mistakes of the object itself count;
// policies of that namespace, webhooks and missing rights do not.
func (d *Driver) rehearse(ctx context.Context, id resource.ID, body map[string]any) error {
	other := id
	other.Namespace = metav1.NamespaceDefault
	trial := runtime.DeepCopyJSON(body)
	metaOf(trial)["namespace"] = other.Namespace
	_, err := d.patch(ctx, other, trial, true, true)
	wrong := apierrors.IsInvalid(err) || apierrors.IsBadRequest(err)
	if wrong && immutableFields(err) == nil && !isAdmission(err) {
		return d.explain("plan", id, err)
	}
	return nil
}

// body is what apply sends: the author's fields and our annotations, nothing else. Where live
// exists, the fields that the author ignores keep live's values.
func (d *Driver) body(q deploy.Query, live map[string]any) map[string]any {
	id := q.Want.ID
	out := runtime.DeepCopyJSON(q.Want.Spec)
	delete(out, "status")
	out["apiVersion"], out["kind"] = id.APIVersion, id.Kind
	meta := metaOf(out)
	if meta == nil {
		meta = map[string]any{}
		out["metadata"] = meta
	}
	meta["name"] = id.Name
	if id.Namespace != "" {
		meta["namespace"] = id.Namespace
	}
	notes, ok := meta["annotations"].(map[string]any)
	if !ok {
		notes = map[string]any{}
		meta["annotations"] = notes
	}
	own(notes, q, live)
	if live != nil {
		keepIgnored(out, live, q.Want.Options.IgnoreChanges)
	}
	return out
}

// own writes the marks by which the stack finds its objects again without a state file.
func own(notes map[string]any, q deploy.Query, live map[string]any) {
	notes[StackAnnotation] = q.Stack
	notes[AddressAnnotation] = q.Want.Address.String()
	adopted := q.Prior != nil && !q.Prior.Created
	if q.Prior == nil && live != nil && annotation(live, StackAnnotation) == "" {
		adopted = true
	}
	if adopted || live != nil && q.Prior == nil && annotation(live, CreatedAnnotation) == "false" {
		notes[CreatedAnnotation] = "false"
	}
	if len(q.Want.DependsOn) > 0 {
		text, err := json.Marshal(q.Want.DependsOn)
		if err != nil {
			panic("kube: " + err.Error())
		}
		notes[DependsOnAnnotation] = string(text)
	}
}

// patch server-side-applies body and returns the server's answer.
func (d *Driver) patch(ctx context.Context, id resource.ID, body map[string]any, force, dryRun bool) (map[string]any, error) {
	r, _, err := d.resource(ctx, id)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(body)
	if err != nil {
		panic("kube: " + err.Error())
	}
	opts := metav1.PatchOptions{FieldManager: Manager, Force: &force, FieldValidation: metav1.FieldValidationStrict}
	if dryRun {
		opts.DryRun = []string{metav1.DryRunAll}
	}
	var out *unstructured.Unstructured
	err = d.retry(ctx, func(ctx context.Context) (err error) {
		out, err = r.Patch(ctx, id.Name, types.ApplyPatchType, text, opts)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out.Object, nil
}

// provides tells what exists once the object is applied: a CRD brings its kind, a Namespace itself.
func provides(want *resource.Object) plan.Provided {
	if want == nil {
		return plan.Provided{}
	}
	switch want.ID.Kind {
	case "Namespace":
		return plan.Provided{Namespaces: []string{want.ID.Name}}
	case "CustomResourceDefinition":
		group, _, _ := unstructured.NestedString(want.Spec, "spec", "group")
		kind, _, _ := unstructured.NestedString(want.Spec, "spec", "names", "kind")
		return plan.Provided{Kinds: []string{group + "/" + kind}}
	}
	return plan.Provided{}
}
