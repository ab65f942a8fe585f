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
	"github.com/mifbench/mifbench/pkg/state"
)

func TestImportThenPlanShowsTheDifferenceAndDestroyKeepsAForeignNamespace(t *testing.T) {
	ns, cm := object("Namespace", "ns"), object("ConfigMap", "c")
	r := newRig(t, ns, cm)
	r.world.Put(deploytest.Thing{ID: ns.ID, Spec: ns.Spec})
	r.world.Put(deploytest.Thing{ID: cm.ID, Spec: map[string]any{"data": map[string]any{"k": "by hand"}}})
	if p := r.mustPlan(plan.Options{}); len(p.Problems) != 2 {
		t.Fatalf("problems %v", p.Problems)
	}
	s := r.store.State(stack)
	for _, o := range r.objects {
		next, err := deploy.Import(t.Context(), r.driver.Drivers(), o, s)
		if err != nil {
			t.Fatal(err)
		}
		s = next
		if _, err := deploy.Import(t.Context(), r.driver.Drivers(), o, s); err == nil {
			t.Error("imported twice")
		}
	}
	s.Serial++
	if err := r.store.Save(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	p := r.mustPlan(plan.Options{})
	if len(p.Problems) != 0 || p.Changes[1].Action != plan.Update || len(p.Changes[1].Drift) != 0 {
		t.Fatalf("%+v", p.Changes[1])
	}
	r.mustApply()
	r.wantNothingToDo()
	if _, err := r.apply(plan.Options{Destroy: true}); err != nil {
		t.Fatal(err)
	}
	if keys := r.world.Keys(); len(keys) != 1 || keys[0] != ns.ID.Key() {
		t.Errorf("left in the world: %v", keys)
	}
}

func TestImportRefuses(t *testing.T) {
	cm := object("ConfigMap", "c")
	r := newRig(t, cm)
	if _, err := deploy.Import(t.Context(), r.driver.Drivers(), cm, state.New(stack)); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("absent: %v", err)
	}
	r.world.Put(deploytest.Thing{ID: cm.ID, Owner: "theirs"})
	if _, err := deploy.Import(t.Context(), r.driver.Drivers(), cm, state.New(stack)); !errors.Is(err, deploy.ErrNotOurs) || !strings.Contains(err.Error(), "theirs") {
		t.Errorf("foreign: %v", err)
	}
}

func TestSaveThatFailsInTheMiddleStopsAndHandsTheStateBack(t *testing.T) {
	objects := published()
	r := newRig(t, objects...)
	r.par = 1
	run := r.run(r.mustPlan(plan.Options{}))
	run.Emit = func(e deploy.Event) {
		if s, ok := e.(deploy.Started); ok && s.ID.Kind == "Gateway" {
			r.store.Fail = errors.New("disk full")
		}
	}
	out, err := deploy.Apply(t.Context(), run)
	if !errors.Is(err, deploy.ErrUnsaved) || !strings.Contains(err.Error(), "disk full") {
		t.Fatalf("error %v", err)
	}
	gw := objects[3]
	if e, ok := out.State.Find(gw.ID); !ok || e.Status != state.Applied {
		t.Errorf("the state in the outcome does not know what was made: %+v", e)
	}
	for _, k := range r.world.Keys() {
		if strings.Contains(k, "InferenceService") {
			t.Errorf("%s was made after the state could not be saved", k)
		}
	}
	r.store.Fail = nil // there is room again: what was not recorded carries our mark
	r.mustApply()
	r.wantNothingToDo()
	r.wantOwned(0)
}

func TestDriftIsShownAndHealed(t *testing.T) {
	r := newRig(t, published()...)
	r.mustApply()
	edited, deleted := r.objects[1], r.objects[4]
	r.world.Edit(edited.ID, func(th *deploytest.Thing) {
		th.Spec = map[string]any{"data": map[string]any{"k": "by hand"}}
		th.Version++
	})
	r.world.Remove(deleted.ID)
	p := r.mustPlan(plan.Options{})
	drifted := p.Drifted()
	if len(drifted) != 2 || !drifted[0].Gone || len(drifted[1].Drift) != 1 || drifted[1].Drift[0].After != "by hand" {
		t.Fatalf("drifted %+v", drifted)
	}
	r.mustApply()
	r.wantNothingToDo()
}

func TestRemovedBlockIsDeleted(t *testing.T) {
	r := newRig(t, published()...)
	r.mustApply()
	gone := r.objects[0]
	r.objects = r.objects[1:]
	p := r.mustPlan(plan.Options{})
	if s := p.Summary(); s.Destroy != 1 || s.Add+s.Change != 0 {
		t.Fatalf("summary %+v", s)
	}
	r.mustApply()
	for _, k := range r.world.Keys() {
		if k == gone.ID.Key() {
			t.Error("still there")
		}
	}
	r.wantNothingToDo()
}

func TestObjectBeingDeletedIsWaitedForAndMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := object("Gateway", "g")
		r := newRig(t, o)
		r.driver.Poll = time.Second
		r.mustApply()
		r.world.Edit(o.ID, func(th *deploytest.Thing) { th.Deleting, th.Finalizer = true, "hold" })
		run := r.run(r.mustPlan(plan.Options{}))
		go func() { time.Sleep(15 * time.Second); r.world.Remove(o.ID) }()
		if _, err := deploy.Apply(t.Context(), run); err != nil {
			t.Fatal(err)
		}
		if r.world.Made(o.ID) != 2 {
			t.Errorf("made %d times", r.world.Made(o.ID))
		}
		r.wantNothingToDo()
	})
}

func TestLostAnswerOfAnApplyConverges(t *testing.T) {
	r := newRig(t, published()...)
	r.driver.Faults = []deploytest.Fault{{Op: deploytest.Apply, Nth: 1, Err: errors.New("connection reset"), After: true}}
	if _, err := r.apply(plan.Options{}); err == nil {
		t.Fatal("no error")
	}
	for range 7 { // each level of the graph loses its first answer
		if _, err := r.apply(plan.Options{}); err == nil {
			break
		}
	}
	r.wantNothingToDo()
	r.wantOwned(0)
}

func TestRefreshOnlyChangesTheStateAlone(t *testing.T) {
	r := newRig(t, published()...)
	r.mustApply()
	gone := r.objects[0]
	r.world.Remove(gone.ID)
	log := len(r.world.Log())
	if _, err := r.apply(plan.Options{RefreshOnly: true}); err != nil {
		t.Fatal(err)
	}
	for _, l := range r.world.Log()[log:] {
		if !strings.HasPrefix(l, "save") {
			t.Errorf("refresh did %s", l)
		}
	}
	if _, ok := r.store.State(stack).Find(gone.ID); ok {
		t.Error("what is gone is still recorded")
	}
}

func TestPlanWithProblemsIsNotApplied(t *testing.T) {
	o := object("ConfigMap", "c")
	r := newRig(t, o)
	r.world.Put(deploytest.Thing{ID: o.ID})
	if _, err := r.apply(plan.Options{}); err == nil || !strings.Contains(err.Error(), "1 problem") {
		t.Fatalf("got %v", err)
	}
	if len(r.world.Log()) != 0 {
		t.Error("something was done")
	}
}
