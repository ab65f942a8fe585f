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
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
)

// HelmManager is the field manager that Helm's own client uses.
const HelmManager = "helm"

// Preview observes one object of a Helm release: live, and as a three-way merge of before (the
// release's stored manifest, nil for none), the wanted manifest and live would leave it. An
// unchanged object costs one read; a changed one also a dry-run. For built-in kinds the patch
// is the one that Helm computes; for custom resources it also heals drift, which Helm does not.
// Children carry no owner annotation: they belong to their release.
func (d *Driver) Preview(ctx context.Context, q deploy.Query, before map[string]any) (plan.Observation, error) {
	id := queryID(q)
	obs := plan.Observation{ID: id, Provides: provides(q.Want)}
	_, _, err := d.resource(ctx, id)
	switch {
	case isNoKind(err) && q.Want == nil:
		return obs, nil
	case isNoKind(err) && slices.Contains(q.Provided.Kinds, id.Group()+"/"+id.Kind):
		return previewOffline(q, obs, "kind comes from this plan"), nil
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
	obs.Live = normalise(live)
	if q.Want != nil {
		if err := d.predictMerge(ctx, q, before, live, &obs); err != nil {
			return obs, err
		}
	}
	hide(&obs, q)
	return obs, d.measure(ctx, q, &obs)
}

func previewOffline(q deploy.Query, obs plan.Observation, why string) plan.Observation {
	obs.Offline = why
	obs.Predicted = normalise(q.Want.Spec)
	hide(&obs, q)
	return obs
}

func (d *Driver) predictMerge(ctx context.Context, q deploy.Query, before, live map[string]any, obs *plan.Observation) error {
	var after map[string]any
	var err error
	spec := ignoring(q.Want, live)
	if live == nil {
		after, err = d.create(ctx, obs.ID, spec, true)
	} else {
		after, err = d.merge(ctx, obs.ID, before, spec, live, true)
	}
	switch {
	case err == nil:
		obs.Predicted = normalise(after)
		return nil
	case isNamespaceMissing(err) && slices.Contains(q.Provided.Namespaces, obs.ID.Namespace):
		obs.Offline = "namespace comes from this plan"
	case namespaceTerminating(err) && slices.Contains(q.Provided.Namespaces, obs.ID.Namespace):
		obs.Offline = "its namespace is being deleted"
	case apierrors.IsForbidden(err) && !namespaceTerminating(err) && !isDenied(err):
		obs.Warnings = append(obs.Warnings, fmt.Sprintf("%s: no right to a dry-run (%v): compared on this side, without the server's defaults and webhooks", obs.ID, err))
	case live != nil && immutableFields(err) != nil:
		obs.Immutable = immutablePointers(immutableFields(err), obs.Live, overlay(obs.Live, normalise(spec)))
	default:
		return d.explain("plan", obs.ID, err)
	}
	obs.Predicted = clientSide(live, spec)
	return nil
}

// ignoring is what a child should be like, with live's values in the fields that the author ignores.
func ignoring(want *resource.Object, live map[string]any) map[string]any {
	if live == nil || len(want.Options.IgnoreChanges) == 0 {
		return want.Spec
	}
	out := runtime.DeepCopyJSON(want.Spec)
	keepIgnored(out, live, want.Options.IgnoreChanges)
	return out
}

// Merge makes one object of a release as wanted: created when absent, else patched three ways.
func (d *Driver) Merge(ctx context.Context, want resource.Object, before map[string]any) error {
	live, err := d.get(ctx, want.ID)
	if err != nil {
		return err
	}
	if live == nil {
		_, err = d.create(ctx, want.ID, want.Spec, false)
	} else {
		_, err = d.merge(ctx, want.ID, before, ignoring(&want, live), live, false)
	}
	if err != nil {
		return d.explain("heal", want.ID, err)
	}
	return nil
}

func dryRun(dry bool) []string {
	if dry {
		return []string{metav1.DryRunAll}
	}
	return nil
}

func (d *Driver) create(ctx context.Context, id resource.ID, want map[string]any, dry bool) (map[string]any, error) {
	r, _, err := d.resource(ctx, id)
	if err != nil {
		return nil, err
	}
	body := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(want)}
	var out *unstructured.Unstructured
	create := func(ctx context.Context) (err error) {
		out, err = r.Create(ctx, body, metav1.CreateOptions{FieldManager: HelmManager, DryRun: dryRun(dry)})
		return err
	}
	if dry {
		err = d.retry(ctx, create)
	} else { // a create that was cut may have happened: the next apply sees it
		err = d.once(ctx, create)
	}
	if err != nil {
		return nil, err
	}
	return out.Object, nil
}

// merge patches live three ways; an empty patch is not sent.
func (d *Driver) merge(ctx context.Context, id resource.ID, before, want, live map[string]any, dry bool) (map[string]any, error) {
	kind, patch, err := threeWay(id, before, want, live)
	if err != nil {
		return nil, fmt.Errorf("merge %s: %w", id, err)
	}
	if len(patch) == 0 {
		return live, nil
	}
	r, _, err := d.resource(ctx, id)
	if err != nil {
		return nil, err
	}
	var out *unstructured.Unstructured
	err = d.retry(ctx, func(ctx context.Context) (err error) {
		out, err = r.Patch(ctx, id.Name, kind, patch, metav1.PatchOptions{FieldManager: HelmManager, DryRun: dryRun(dry)})
		return err
	})
	if err != nil {
		return nil, err
	}
	return out.Object, nil
}

// threeWay is the patch that brings live to want and removes what only before had: a strategic
// merge for the kinds that client-go knows, a JSON merge for all others; empty when nothing changes.
func threeWay(id resource.ID, before, want, live map[string]any) (types.PatchType, []byte, error) {
	if before == nil {
		before = want
	}
	var texts [3][]byte
	for i, m := range []map[string]any{before, want, live} {
		text, err := json.Marshal(m)
		if err != nil {
			return "", nil, err
		}
		texts[i] = text
	}
	gvk := schema.FromAPIVersionAndKind(id.APIVersion, id.Kind)
	if typed, err := scheme.Scheme.New(gvk); err == nil {
		lookup, err := strategicpatch.NewPatchMetaFromStruct(typed)
		if err != nil {
			return "", nil, err
		}
		patch, err := strategicpatch.CreateThreeWayMergePatch(texts[0], texts[1], texts[2], lookup, true)
		return types.StrategicMergePatchType, nonEmpty(patch), err
	}
	patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(texts[0], texts[1], texts[2])
	if err != nil {
		return "", nil, err
	}
	return types.MergePatchType, nonEmpty(patch), nil
}

func nonEmpty(patch []byte) []byte {
	if string(patch) == "{}" {
		return nil
	}
	return patch
}
