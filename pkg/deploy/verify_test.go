package deploy_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/deploy/deploytest"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
)

// left destroys and returns what is said to remain, "ID: why" each.
func (r *rig) left(p plan.Plan) ([]string, deploy.Outcome) {
	r.t.Helper()
	out, err := deploy.Destroy(r.t.Context(), r.run(p))
	var list []string
	for _, rem := range out.Remaining {
		list = append(list, rem.ID.String()+": "+rem.Why)
	}
	if (len(list) > 0) != errors.Is(err, deploy.ErrRemains) {
		r.t.Fatal(err)
	}
	return list, out
}

func (r *rig) wantLeft(want ...string) deploy.Outcome {
	r.t.Helper()
	got, out := r.left(r.mustPlan(plan.Options{Destroy: true}))
	if strings.Join(got, "; ") != strings.Join(want, "; ") {
		r.t.Errorf("remains: %q, want %q", got, want)
	}
	return out
}

// TestLeftoversOfTheStacksOwnKinds: a copy that somebody made of an object carries the annotation, too.
func TestLeftoversOfTheStacksOwnKinds(t *testing.T) {
	r := newRig(t, object("ConfigMap", "a"))
	r.mustApply()
	elsewhere := object("ConfigMap", "copy").ID
	elsewhere.Namespace = "other"
	r.world.Put(deploytest.Thing{ID: elsewhere, Owner: stack})
	r.world.Put(deploytest.Thing{ID: object("Widget", "of-a-kind-that-lives-in-the-same-namespace").ID, Owner: stack})
	r.wantLeft(
		"ConfigMap other/copy: carries the stack's owner annotation",
		"Widget ns/of-a-kind-that-lives-in-the-same-namespace: carries the stack's owner annotation",
	)
}

// TestALostStateIsLookedForEverywhere: nothing is known of the kinds that the stack had.
func TestALostStateIsLookedForEverywhere(t *testing.T) {
	r := newRig(t)
	r.world.Put(deploytest.Thing{ID: object("Widget", "w").ID, Owner: stack})
	r.wantLeft("Widget ns/w: carries the stack's owner annotation")
}

// TestPartsOfAReleaseThatStay are no objects of the state and carry no annotation.
func TestPartsOfAReleaseThatStay(t *testing.T) {
	rel := object("Release", "heimdall")
	rel.ID.Driver, rel.ID.APIVersion = resource.DriverHelm, "helm.sh/v3"
	role := resource.ID{Driver: resource.DriverKube, APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole", Name: "heimdall"}
	r := newRig(t, rel)
	r.driver.Parts = map[string][]resource.ID{rel.ID.Key(): {role}}
	r.mustApply()
	r.world.Put(deploytest.Thing{ID: role})
	r.wantLeft("ClusterRole heimdall: was made by a release that is uninstalled")
	r.mustApply()
	p := r.mustPlan(plan.Options{Destroy: true})
	r.world.Put(deploytest.Thing{ID: role}) // anew: somebody else's
	if got, _ := r.left(p); len(got) > 0 {
		t.Errorf("remains: %q", got)
	}
}

// TestKindsThatCannotBeListedAreAskedForOneByOne: a user with rights in one namespace only.
func TestKindsThatCannotBeListedAreAskedForOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		held, gone := object("ConfigMap", "held"), object("ConfigMap", "gone")
		held.Options.DeleteTimeout = time.Minute
		r := newRig(t, held, gone)
		r.driver.Blind = []string{"/ConfigMap"}
		r.mustApply()
		r.world.Edit(held.ID, func(th *deploytest.Thing) { th.Finalizer = "example.org/hold" })
		out, err := r.apply(plan.Options{Destroy: true})
		if !errors.Is(err, deploy.ErrRemains) || len(out.Remaining) != 1 || out.Remaining[0].ID != held.ID {
			t.Fatal(err, out.Remaining)
		}
		if len(out.Warnings) == 0 || !strings.Contains(out.Warnings[0].Text, "/ConfigMap: not listed") {
			t.Errorf("%+v", out.Warnings)
		}
	})
}
