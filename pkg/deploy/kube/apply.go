package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/state"
)

// csaManager is the field manager of `kubectl apply` without --server-side; while it co-owns
// fields, dropping them from the configuration would have no effect.
const csaManager = "kubectl-client-side-apply"

// Apply implements deploy.Driver: a server-side apply of the author's fields and the owner
// annotations, after checking that the object is ours and still as the plan saw it.
func (d *Driver) Apply(ctx context.Context, r deploy.Request) (deploy.Result, error) {
	if r.Want == nil {
		panic("kube: apply without a wanted object")
	}
	id := r.Want.ID
	if r.Seen.Offline != "" {
		if err := d.awaitKind(ctx, id); err != nil {
			return deploy.Result{}, err
		}
	}
	live, err := d.get(ctx, id)
	if err != nil {
		return deploy.Result{}, err
	}
	if err := d.mayApply(ctx, r, live); err != nil {
		return deploy.Result{}, err
	}
	if r.Replace && live != nil {
		if err := d.remove(ctx, id, live); err != nil {
			return deploy.Result{}, err
		}
		live = nil
	}
	if err := d.takeOver(ctx, id, live); err != nil {
		return deploy.Result{}, err
	}
	d.answers.drop(id)
	body := d.body(r.Query, live)
	if live != nil {
		// A uid in the body makes the server refuse if the object was replaced meanwhile.
		metaOf(body)["uid"] = metaString(live, "uid")
	}
	ctx, warned := collectWarnings(ctx)
	force := r.Want.Options.ForceConflicts || onlyByHand(r.Seen.Conflicts)
	after, err := d.patch(ctx, id, body, force, false)
	if err != nil {
		return deploy.Result{}, d.explain("apply", id, err)
	}
	d.answers.applied(id, after)
	return deploy.Result{
		UID: metaString(after, "uid"), Created: live == nil,
		Fingerprint: state.Fingerprint(r.Salt, r.Want.Spec), Warnings: warned.all(),
	}, nil
}

// kindLimit is how long a kind may take to be served after its definition was established: a
// moment on one API server, a few seconds where several learn of it one after another.
const (
	kindLimit = 30 * time.Second
	kindLook  = 200 * time.Millisecond
)

// awaitKind waits until a kind that the plan expected from an earlier object is served.
func (d *Driver) awaitKind(ctx context.Context, id resource.ID) error {
	for end := d.now().Add(kindLimit); ; {
		_, _, err := d.resource(ctx, id)
		if !isNoKind(err) {
			return err
		}
		if d.now().After(end) {
			return fmt.Errorf("%s: still not served %s after its definition was applied: %w", id, kindLimit, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w: %w", id, err, ctx.Err())
		case <-time.After(kindLook):
		}
	}
}

// onlyByHand tells that every field that another manager owns was edited at a command line.
func onlyByHand(list []plan.Conflict) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(c plan.Conflict) bool { return !c.ByHand() })
}

// mayApply refuses what is not ours and what moved since the plan.
func (d *Driver) mayApply(ctx context.Context, r deploy.Request, live map[string]any) error {
	id := r.Want.ID
	if live == nil {
		if r.Seen.Exists && !r.Replace {
			return fmt.Errorf("%s: deleted meanwhile: %w; plan again", id, deploy.ErrChanged)
		}
		return nil
	}
	if err := ours(r.Query, live, r.Want.Options.Adopt); err != nil {
		return err
	}
	if metaString(live, "deletionTimestamp") != "" && !r.Replace {
		return fmt.Errorf("%s: %w: it is being deleted (%s); wait until it is gone and plan again", id, deploy.ErrChanged, terminatingReason(live))
	}
	switch {
	case r.Seen.Predicted == nil: // the caller made its own comparison
		return nil
	case !r.Seen.Exists && annotation(live, StackAnnotation) == r.Stack:
		return nil // ours, from an apply that died before it was recorded
	case !r.Seen.Exists:
		return fmt.Errorf("%s: created meanwhile: %w; plan again", id, deploy.ErrChanged)
	case r.Seen.UID != "" && r.Seen.UID != metaString(live, "uid"):
		return fmt.Errorf("%s: deleted and made anew meanwhile: %w; plan again", id, deploy.ErrChanged)
	case r.Seen.Version == metaString(live, "resourceVersion"):
		return nil
	}
	return d.unmoved(ctx, r)
}

// unmoved looks again: a new resourceVersion matters only when it changes what the plan showed.
func (d *Driver) unmoved(ctx context.Context, r deploy.Request) error {
	now, err := d.Observe(ctx, r.Query)
	if err != nil {
		return err
	}
	before, after := shown(r.Seen), shown(now)
	var moved []string
	for _, k := range unionKeys(before, after) {
		if before[k] != after[k] {
			moved = append(moved, k)
		}
	}
	if len(moved) > 0 {
		return fmt.Errorf("%s: %w in %s; plan again", r.Want.ID, deploy.ErrChanged, strings.Join(moved, ", "))
	}
	return nil
}

// shown is the diff of an observation: pointer → both sides as text.
func shown(o plan.Observation) map[string]any {
	out := map[string]any{}
	for _, p := range changes("", any(o.Live), any(o.Predicted)) {
		a, _ := state.Lookup(o.Live, p)
		b, _ := state.Lookup(o.Predicted, p)
		text, err := json.Marshal([]any{a, b})
		if err != nil {
			panic("kube: " + err.Error())
		}
		out[p] = string(text)
	}
	return out
}

// ours refuses an object of another stack, and one of nobody's that we neither made nor may adopt.
func ours(q deploy.Query, live map[string]any, adopt bool) error {
	id := queryID(q)
	owner := annotation(live, StackAnnotation)
	switch {
	case owner == q.Stack:
		return nil
	case owner != "":
		return fmt.Errorf("%s: %w: it belongs to the stack %q (block %s)", id, deploy.ErrNotOurs, owner, annotation(live, AddressAnnotation))
	case adopt:
		return nil
	case q.Prior != nil && (q.Prior.UID == "" || q.Prior.UID == metaString(live, "uid")):
		return nil
	case q.Prior != nil:
		return fmt.Errorf("%s: %w: the one that this stack made is gone and somebody made another; import it, set adopt = true, or delete it", id, deploy.ErrNotOurs)
	}
	return fmt.Errorf("%s: %w; import it, set adopt = true, or choose another name", id, deploy.ErrNotOurs)
}

// takeOver hands the fields of client-side kubectl apply to our manager.
func (d *Driver) takeOver(ctx context.Context, id resource.ID, live map[string]any) error {
	if live == nil {
		return nil
	}
	u := &unstructured.Unstructured{Object: live}
	if !hasManager(u, csaManager) {
		return nil
	}
	patch, err := csaupgrade.UpgradeManagedFieldsPatch(u, sets.New(csaManager), Manager)
	if err != nil {
		return fmt.Errorf("take over the fields of %s in %s: %w", csaManager, id, err)
	}
	if len(patch) == 0 {
		return nil
	}
	r, _, err := d.resource(ctx, id)
	if err != nil {
		return err
	}
	err = d.once(ctx, func(ctx context.Context) error {
		_, err := r.Patch(ctx, id.Name, types.JSONPatchType, patch, metav1.PatchOptions{})
		return err
	})
	if err != nil { // not repeated: the patch holds for one resourceVersion only
		return d.explain("take over the fields of "+csaManager+" in", id, err)
	}
	return nil
}

func hasManager(o metav1.Object, name string) bool {
	acc, err := meta.Accessor(o)
	if err != nil {
		return false
	}
	for _, f := range acc.GetManagedFields() {
		if f.Manager == name {
			return true
		}
	}
	return false
}
