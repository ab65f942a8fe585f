package deploy_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/deploy/deploytest"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/state"
)

const stack = "s"

// rig is a stack in a world, planned and applied as the commands do it.
type rig struct {
	t       *testing.T
	world   *deploytest.World
	driver  *deploytest.Driver
	store   *deploytest.Store
	objects []resource.Object
	events  []deploy.Event
	stop    chan struct{}
	par     int
}

func newRig(t *testing.T, objects ...resource.Object) *rig {
	w := deploytest.NewWorld()
	return &rig{t: t, world: w, driver: &deploytest.Driver{World: w}, store: &deploytest.Store{World: w}, objects: objects, par: 4}
}

func (r *rig) plan(o plan.Options) (plan.Plan, error) {
	prior := r.store.State(stack)
	desired := r.objects
	if o.Destroy {
		desired = nil
	}
	view, err := deploy.Observe(r.t.Context(), deploy.Look{
		Drivers: r.driver.Drivers(), Stack: stack, Desired: desired, Prior: prior, Parallel: r.par,
	})
	return plan.Build(plan.Input{Stack: stack, Desired: view.Desired, Prior: prior, Observations: view.Seen, Options: o}), err
}

func (r *rig) run(p plan.Plan) deploy.Run {
	r.events = nil
	return deploy.Run{
		Plan: p, State: r.store.State(stack), Cluster: state.ClusterID{UID: "c1"}, Drivers: r.driver.Drivers(), Store: r.store, Parallel: r.par,
		Stop: r.stop, Emit: func(e deploy.Event) { r.events = append(r.events, e) },
	}
}

func (r *rig) mustPlan(o plan.Options) plan.Plan {
	r.t.Helper()
	p, err := r.plan(o)
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

func (r *rig) apply(o plan.Options) (deploy.Outcome, error) {
	r.t.Helper()
	p := r.mustPlan(o)
	if o.Destroy {
		return deploy.Destroy(r.t.Context(), r.run(p))
	}
	return deploy.Apply(r.t.Context(), r.run(p))
}

func (r *rig) mustApply() deploy.Outcome {
	r.t.Helper()
	out, err := r.apply(plan.Options{})
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

func (r *rig) wantNothingToDo() {
	r.t.Helper()
	for _, c := range r.mustPlan(plan.Options{}).Changes {
		if c.Pending() {
			r.t.Errorf("after apply %s is still planned to %s (%s) %v", c.ID, c.Action, c.Reason, c.Fields)
		}
	}
}

func object(kind, name string, needs ...resource.Object) resource.Object {
	o := resource.Object{
		Address: resource.Address{Kind: "manifest", Name: strings.ToLower(kind) + "-" + name},
		ID:      resource.ID{Driver: resource.DriverKube, APIVersion: "v1", Kind: kind, Namespace: "ns", Name: name},
		Spec:    map[string]any{"data": map[string]any{"k": name}},
	}
	if kind == "Namespace" {
		o.ID.Namespace = ""
	}
	for _, n := range needs {
		o.DependsOn = append(o.DependsOn, n.ID)
	}
	return o
}

// published is the shape of the reference stack: namespace, credentials, gateway, release, services.
func published() []resource.Object {
	ns := object("Namespace", "ns")
	secret := object("Secret", "pull", ns)
	cm := object("ConfigMap", "infra", ns)
	gw := object("Gateway", "mif", cm)
	rel := object("Release", "heimdall", gw, secret)
	rel.ID.Driver, rel.ID.APIVersion = resource.DriverHelm, "helm.sh/v3"
	pre := object("InferenceService", "prefill", rel)
	dec := object("InferenceService", "decode", rel)
	return []resource.Object{dec, pre, rel, gw, cm, secret, ns}
}

func TestApplyPlanIsEmptyAfterwardsAndDestroyLeavesNothing(t *testing.T) {
	r := newRig(t, published()...)
	out := r.mustApply()
	if len(out.Done) != 7 || len(r.world.Keys()) != 7 {
		t.Fatalf("done %d, in the world %v", len(out.Done), r.world.Keys())
	}
	r.wantNothingToDo()
	r.objects = nil // the file may be gone
	out, err := r.apply(plan.Options{Destroy: true})
	if err != nil || len(out.Remaining) != 0 || len(r.world.Keys()) != 0 || len(r.store.State(stack).Entries) != 0 {
		t.Fatalf("destroy: %v, remaining %v, world %v", err, out.Remaining, r.world.Keys())
	}
}

func TestDependencyOrderBothWays(t *testing.T) {
	r := newRig(t, published()...)
	r.mustApply()
	place := map[string]int{}
	for i, l := range r.world.Log() {
		place[l] = i
	}
	before := func(a, b resource.ID, verb string, swap bool) {
		x, y := place[verb+a.Key()], place[verb+b.Key()]
		if swap {
			x, y = y, x
		}
		if x >= y {
			t.Errorf("%s%s and %s are in the wrong order", verb, a, b)
		}
	}
	for _, o := range r.objects {
		for _, need := range o.DependsOn {
			before(need, o.ID, "apply ", false)
		}
	}
	if _, err := r.apply(plan.Options{Destroy: true}); err != nil {
		t.Fatal(err)
	}
	for i, l := range r.world.Log() {
		place[l] = i
	}
	for _, o := range r.objects {
		for _, need := range o.DependsOn {
			before(need, o.ID, "delete ", true)
		}
	}
}

// A kill at every effect of apply, then apply again: converges, each object made once, the state
// reads back and owns everything.
func TestKillAtEveryStepOfApply(t *testing.T) {
	for _, par := range []int{1, 4} {
		total := countEffects(t, par, plan.Options{})
		for n := 1; n <= total; n++ {
			r := newRig(t, published()...)
			r.par = par
			r.world.Freeze(n)
			// Objects worked on at the same time share saves, so a parallel apply may need fewer
			// effects than the one that was counted and end before the kill.
			if _, err := r.apply(plan.Options{}); n < total && par == 1 && err == nil {
				t.Fatalf("kill at %d of %d: apply noticed nothing", n, total)
			}
			r.world.Freeze(-1)
			r.mustApply()
			r.wantNothingToDo()
			r.wantOwned(n)
		}
	}
}

func (r *rig) wantOwned(n int) {
	r.t.Helper()
	s := r.store.State(stack)
	for _, o := range r.objects {
		if made := r.world.Made(o.ID); made != 1 {
			r.t.Errorf("kill at %d: %s was made %d times", n, o.ID, made)
		}
		e, ok := s.Find(o.ID)
		if !ok || !e.Created {
			r.t.Errorf("kill at %d: %s is not recorded as ours: %+v", n, o.ID, e)
		}
	}
}

func countEffects(t *testing.T, par int, o plan.Options) int {
	r := newRig(t, published()...)
	r.par = par
	if o.Destroy {
		r.mustApply()
	}
	r.world.Freeze(-1)
	if _, err := r.apply(o); err != nil {
		t.Fatal(err)
	}
	return r.world.Effects()
}

func TestKillAtEveryStepOfDestroy(t *testing.T) {
	for _, par := range []int{1, 4} {
		total := countEffects(t, par, plan.Options{Destroy: true})
		for n := 1; n <= total; n++ {
			r := newRig(t, published()...)
			r.par = par
			r.mustApply()
			r.world.Freeze(n)
			_, _ = r.apply(plan.Options{Destroy: true}) // dies somewhere
			r.world.Freeze(-1)
			out, err := r.apply(plan.Options{Destroy: true})
			if err != nil || len(out.Remaining) > 0 || len(r.world.Keys()) > 0 {
				t.Fatalf("kill at %d of %d: destroy again: %v, world %v", n, total, err, r.world.Keys())
			}
			if e := r.store.State(stack).Entries; len(e) > 0 {
				t.Errorf("kill at %d: state still holds %v", n, e)
			}
		}
	}
}

func TestKillDuringApplyThenDestroyLeavesNothing(t *testing.T) {
	total := countEffects(t, 1, plan.Options{})
	for n := 1; n <= total; n++ {
		r := newRig(t, published()...)
		r.par = 1
		r.world.Freeze(n)
		_, _ = r.apply(plan.Options{})
		r.world.Freeze(-1)
		if _, err := r.apply(plan.Options{Destroy: true}); err != nil || len(r.world.Keys()) > 0 {
			t.Fatalf("kill at %d: %v, world %v", n, err, r.world.Keys())
		}
	}
}

func TestRow04WaitTimeoutKeepsState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ns := object("Namespace", "ns")
		dep := object("Deployment", "d", ns)
		dep.Options.CreateTimeout = time.Minute
		r := newRig(t, ns, dep)
		r.driver.Poll = time.Second
		p := r.mustPlan(plan.Options{})
		emit := func(e deploy.Event) {
			if s, ok := e.(deploy.Started); ok && s.ID == dep.ID {
				r.world.Put(deploytest.Thing{ID: dep.ID, Owner: stack, NotReady: "0/1 pods", Spec: dep.Spec})
			}
		}
		run := r.run(p)
		run.Emit = emit
		_, err := deploy.Apply(t.Context(), run)
		if !errors.Is(err, deploy.ErrNotReady) || !strings.Contains(err.Error(), "0/1 pods") {
			t.Fatalf("want a not-ready error with the reason, got %v", err)
		}
		if e, ok := r.store.State(stack).Find(dep.ID); !ok || e.Status != state.Applied {
			t.Fatalf("the object is not recorded as applied: %+v", e)
		}
		next := r.mustPlan(plan.Options{})
		if c := next.Changes[1]; c.Action != plan.Wait || c.Reason != "0/1 pods" {
			t.Fatalf("the next apply should wait on, got %s (%s)", c.Action, c.Reason)
		}
		r.world.Edit(dep.ID, func(th *deploytest.Thing) { th.NotReady = "" })
		r.mustApply()
		r.wantNothingToDo()
	})
}

func TestRow22FailureSkipsDependantsOnly(t *testing.T) {
	objects := published()
	r := newRig(t, objects...)
	gw := objects[3]
	r.driver.Faults = []deploytest.Fault{{Op: deploytest.Apply, ID: gw.ID, Err: errors.New("quota exceeded")}}
	out, err := r.apply(plan.Options{})
	if err == nil || !strings.Contains(err.Error(), "manifest.gateway-mif: create Gateway ns/mif: quota exceeded") {
		t.Fatalf("error %v", err)
	}
	var skipped []string
	for _, s := range out.Skipped {
		skipped = append(skipped, s.ID.Name+": "+s.Because)
	}
	want := []string{"heimdall: Gateway ns/mif failed", "decode: Gateway ns/mif failed", "prefill: Gateway ns/mif failed"}
	if d := cmp.Diff(want, skipped); d != "" {
		t.Error(d)
	}
	if len(out.Done) != 3 { // namespace, ConfigMap, Secret: the independent branch went on
		t.Errorf("done %v", out.Done)
	}
}

func TestRow21KindFromEarlierObjectIsFoundWithoutDependsOn(t *testing.T) {
	rel := object("Release", "operator")
	rel.ID.Driver = resource.DriverHelm
	cr := object("Widget", "w")
	cr.ID.APIVersion = "example.org/v1"
	r := newRig(t, cr, rel)
	r.driver.Kinds = map[string]bool{}
	r.driver.Provides = map[string]plan.Provided{rel.ID.Key(): {Kinds: []string{"example.org/Widget"}}}
	p := r.mustPlan(plan.Options{})
	if p.Changes[0].ID != rel.ID || !cmp.Equal(p.Changes[1].DependsOn, []resource.ID{rel.ID}) {
		t.Fatalf("order %v, %v after %v", p.Changes[0].ID, p.Changes[1].ID, p.Changes[1].DependsOn)
	}
	r.driver.Provides = nil
	if _, err := r.plan(plan.Options{}); !errors.Is(err, deploy.ErrNoKind) {
		t.Fatalf("nothing provides the kind: %v", err)
	}
}

func TestObserveCollectsAllErrors(t *testing.T) {
	r := newRig(t, published()...)
	r.driver.Faults = []deploytest.Fault{{Op: deploytest.Observe, Err: deploy.ErrForbidden}}
	_, err := r.plan(plan.Options{})
	if n := strings.Count(err.Error(), "forbidden"); n != 7 {
		t.Fatalf("%d of 7 errors in %v", n, err)
	}
}

func TestRow31RefusedWhenSomebodyElseMadeItMeanwhile(t *testing.T) {
	r := newRig(t, object("ConfigMap", "c"))
	p := r.mustPlan(plan.Options{})
	r.world.Put(deploytest.Thing{ID: r.objects[0].ID, Owner: "other"})
	_, err := deploy.Apply(t.Context(), r.run(p))
	if !errors.Is(err, deploy.ErrChanged) {
		t.Fatalf("got %v", err)
	}
	q := r.mustPlan(plan.Options{})
	if len(q.Problems) != 1 || !strings.Contains(q.Problems[0].Detail, `stack "other"`) {
		t.Fatalf("problems %v", q.Problems)
	}
	if _, err := r.apply(plan.Options{Destroy: true}); err != nil {
		t.Fatal(err)
	}
	if len(r.world.Keys()) != 1 {
		t.Error("destroy deleted an object that is not ours")
	}
}

func TestRow07DestroyTimeoutNamesWhatHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := object("Service", "svc")
		o.Options.DeleteTimeout = time.Minute
		r := newRig(t, o)
		r.mustApply()
		r.world.Edit(o.ID, func(th *deploytest.Thing) { th.Finalizer = "example.org/hold" })
		out, err := r.apply(plan.Options{Destroy: true})
		if !errors.Is(err, deploy.ErrRemains) || !strings.Contains(err.Error(), "example.org/hold") || len(out.Remaining) != 1 {
			t.Fatalf("error %v, remaining %v", err, out.Remaining)
		}
		if e, ok := r.store.State(stack).Find(o.ID); !ok || e.Status != state.Deleting {
			t.Errorf("entry %+v", e)
		}
	})
}

func TestFirstInterruptFinishesWhatIsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ns := object("Namespace", "ns")
		slow := object("Deployment", "slow", ns)
		after := object("Service", "after", slow)
		r := newRig(t, ns, slow, after)
		r.stop = make(chan struct{})
		r.driver.Faults = []deploytest.Fault{{Op: deploytest.Apply, ID: slow.ID, Slow: 10 * time.Second}}
		p := r.mustPlan(plan.Options{})
		go func() { time.Sleep(5 * time.Second); close(r.stop) }()
		out, err := deploy.Apply(t.Context(), r.run(p))
		if !errors.Is(err, deploy.ErrInterrupted) || !out.Interrupted {
			t.Fatalf("error %v", err)
		}
		if e, _ := r.store.State(stack).Find(slow.ID); e.Status == state.Planned {
			t.Errorf("what was in flight was not finished: %+v", e)
		}
		if len(out.Skipped) != 1 || out.Skipped[0].ID != after.ID {
			t.Errorf("skipped %v", out.Skipped)
		}
		r.stop, r.driver.Faults = nil, nil
		r.mustApply()
		r.wantNothingToDo()
	})
}

func TestInterruptCutsAWaitShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := object("Deployment", "never")
		r := newRig(t, o)
		r.driver.Poll = time.Second
		r.mustApply()
		r.world.Edit(o.ID, func(th *deploytest.Thing) { th.NotReady = "image pull" })
		r.stop = make(chan struct{})
		p := r.mustPlan(plan.Options{})
		go func() { time.Sleep(25 * time.Second); close(r.stop) }()
		out, err := deploy.Apply(t.Context(), r.run(p))
		if !errors.Is(err, deploy.ErrInterrupted) || len(out.Waiting) != 1 || len(out.Failed) != 0 {
			t.Fatalf("error %v, waiting %v, failed %v", err, out.Waiting, out.Failed)
		}
		beats := 0
		for _, e := range r.events {
			if p, ok := e.(deploy.Progress); ok && p.Readiness.Reason == "image pull" {
				beats++
			}
		}
		if beats != 3 { // the report, and heartbeats after 10 s and 20 s
			t.Errorf("%d progress events", beats)
		}
	})
}

func TestSecondInterruptStopsAtOnceAndSaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := object("Deployment", "slow")
		r := newRig(t, o)
		r.driver.Faults = []deploytest.Fault{{Op: deploytest.Apply, Slow: time.Hour}}
		p := r.mustPlan(plan.Options{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		out, err := deploy.Apply(ctx, r.run(p))
		if !errors.Is(err, deploy.ErrInterrupted) || time.Since(start) > 2*time.Second {
			t.Fatalf("error %v after %s", err, time.Since(start))
		}
		if e, ok := out.State.Find(o.ID); !ok || e.Status != state.Planned {
			t.Errorf("entry %+v", e)
		}
	})
}

func TestUnsavedStateStopsTheRunAndIsHandedBack(t *testing.T) {
	r := newRig(t, published()...)
	p := r.mustPlan(plan.Options{})
	r.store.Fail = errors.New("disk full")
	_, err := deploy.Apply(t.Context(), r.run(p))
	if !errors.Is(err, deploy.ErrUnsaved) || len(r.world.Keys()) != 0 {
		t.Fatalf("nothing may be made before the plan is recorded: %v, world %v", err, r.world.Keys())
	}
}

func TestRecoverFromOwnerAnnotations(t *testing.T) {
	r := newRig(t, published()...)
	r.mustApply()
	fresh, warnings, err := deploy.Recover(t.Context(), r.driver.Drivers(), state.New(stack))
	if err != nil || len(warnings) > 0 || len(fresh.Entries) != 7 {
		t.Fatalf("%v %v %d entries", err, warnings, len(fresh.Entries))
	}
	view, err := deploy.Observe(t.Context(), deploy.Look{Drivers: r.driver.Drivers(), Stack: stack, Desired: r.objects, Prior: fresh})
	if err != nil {
		t.Fatal(err)
	}
	p := plan.Build(plan.Input{Stack: stack, Desired: view.Desired, Prior: fresh, Observations: view.Seen})
	for _, c := range p.Changes {
		if c.Action != plan.NoOp {
			t.Errorf("%s: %s", c.ID, c.Action)
		}
	}
}

// What -exclude and -target leave out need not be seen: an object that cannot be looked at
// stops only plans that touch it.
func TestWhatIsLeftOutNeedNotBeSeen(t *testing.T) {
	r := newRig(t, published()...)
	bad, namespace := r.objects[0], r.objects[len(r.objects)-1]
	r.driver.Faults = []deploytest.Fault{{Op: deploytest.Observe, ID: bad.ID, Err: errors.New("cannot be rendered")}}
	for _, c := range []struct {
		o    plan.Options
		want bool
	}{
		{plan.Options{}, true},
		{plan.Options{Exclude: []resource.Address{bad.Address}}, false},
		{plan.Options{Targets: []resource.Address{namespace.Address}}, false},
		{plan.Options{Targets: []resource.Address{bad.Address}}, true},
	} {
		p, err := r.plan(c.o)
		if err = deploy.Concerning(err, p); (err != nil) != c.want {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
}

func TestAnotherClusterIsRefused(t *testing.T) {
	r := newRig(t, published()...)
	r.mustApply()
	run := r.run(r.mustPlan(plan.Options{}))
	run.Cluster.UID = "c2"
	if _, err := deploy.Apply(t.Context(), run); err == nil || !strings.Contains(err.Error(), "cluster c2") {
		t.Fatalf("got %v", err)
	}
}
