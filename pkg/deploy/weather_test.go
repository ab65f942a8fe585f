package deploy_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/deploy/deploytest"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/state"
)

func TestARunThatCannotRecordItsPlanChangesNothing(t *testing.T) {
	ns := object("Namespace", "ns")
	r := newRig(t, ns)
	r.store.Fail = errors.New("no space left on device")
	_, err := r.apply(plan.Options{})
	if !errors.Is(err, deploy.ErrUntouched) || !errors.Is(err, deploy.ErrUnsaved) || r.world.Made(ns.ID) != 0 {
		t.Fatal(err, r.world.Made(ns.ID))
	}
	r.store.Fail = nil
	r.mustApply()
	r.wantNothingToDo()
}

// TestAWaitThatFailsTakesTheWordReadyBack: an object that was ready once and is not now is recorded as applied.
func TestAWaitThatFailsTakesTheWordReadyBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dep := object("Deployment", "d")
		dep.Options.CreateTimeout = time.Minute
		r := newRig(t, dep)
		r.driver.Poll = time.Second
		r.mustApply()
		r.world.Edit(dep.ID, func(th *deploytest.Thing) { th.NotReady = "0/1 pods" })
		if _, err := r.apply(plan.Options{}); !errors.Is(err, deploy.ErrNotReady) {
			t.Fatal(err)
		}
		if e, _ := r.store.State(stack).Find(dep.ID); e.Status != state.Applied {
			t.Errorf("recorded as %s", e.Status)
		}
		r.world.Edit(dep.ID, func(th *deploytest.Thing) { th.NotReady = "" })
		r.mustApply()
		if e, _ := r.store.State(stack).Find(dep.ID); e.Status != state.Ready {
			t.Errorf("an apply with nothing to do records %s", e.Status)
		}
	})
}

// TestWhatIsKeptIsNoLeftover: a second destroy does not complain of what the first one kept.
func TestWhatIsKeptIsNoLeftover(t *testing.T) {
	kept, gone := object("ConfigMap", "kept"), object("ConfigMap", "gone")
	kept.Options.KeepOnDestroy = true
	r := newRig(t, kept, gone)
	r.mustApply()
	for range 2 {
		run := r.run(r.mustPlan(plan.Options{Destroy: true}))
		run.Kept = []resource.ID{kept.ID}
		out, err := deploy.Destroy(t.Context(), run)
		if err != nil || len(out.Remaining) > 0 {
			t.Fatal(err, out.Remaining)
		}
	}
	run := r.run(r.mustPlan(plan.Options{Destroy: true}))
	if out, err := deploy.Destroy(t.Context(), run); !errors.Is(err, deploy.ErrRemains) || len(out.Remaining) != 1 {
		t.Fatal("without the configuration's word it is one:", err, out.Remaining)
	}
}
