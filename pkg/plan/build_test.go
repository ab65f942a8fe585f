package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/state"
)

const (
	me   = "mine"
	salt = "s"
)

func want(kind, name string, spec map[string]any) resource.Object {
	return resource.Object{
		Address: resource.Address{Kind: "manifest", Name: name},
		ID:      resource.ID{Driver: resource.DriverKube, APIVersion: "v1", Kind: kind, Name: name, Namespace: "ns"},
		Spec:    spec,
	}
}

func entryOf(o resource.Object, s state.Status) *state.Entry {
	return &state.Entry{
		Address: o.Address, ID: o.ID, Status: s, UID: "u1", Created: true, Options: o.Options,
		Fingerprint: state.Fingerprint(salt, o.Spec), Fields: state.Digests(salt, o.Spec), DependsOn: o.DependsOn,
	}
}

// live is an observation of an object that exists, is ours and ready.
func live(spec, predicted map[string]any) Observation {
	return Observation{Exists: true, UID: "u1", Owner: me, Live: spec, Predicted: predicted, Ready: Readiness{Ready: true}}
}

func one(o *resource.Object, e *state.Entry, obs Observation, opts Options) Plan {
	in := Input{Stack: me, Prior: state.State{Salt: salt}, Observations: map[resource.ID]Observation{}, Options: opts}
	if o != nil {
		in.Desired = []resource.Object{*o}
		in.Observations[o.ID] = obs
	}
	if e != nil {
		in.Prior.Entries = []state.Entry{*e}
		in.Observations[e.ID] = obs
	}
	return Build(in)
}

type scene struct {
	name   string
	want   *resource.Object
	prior  *state.Entry
	obs    Observation
	opts   Options
	action Action
	reason string // part of it
	code   string // of the problem
}

func spec(n int64) map[string]any {
	return map[string]any{"spec": map[string]any{"n": n, "m": int64(1)}}
}

func with(o resource.Object, f func(*resource.Object)) *resource.Object { f(&o); return &o }

func seen(o Observation, f func(*Observation)) Observation { f(&o); return o }

func scenes() []scene {
	o := want("ConfigMap", "c", spec(1))
	ns := want("Namespace", "n", spec(1))
	ns.ID.Namespace = ""
	ok := live(spec(1), spec(1))
	changed := live(spec(0), spec(1))
	old := want("ConfigMap", "c", spec(0))
	adopting := with(o, func(o *resource.Object) { o.Options.Adopt = true })
	foreign := seen(ok, func(o *Observation) { o.Owner = "" })
	other := seen(ok, func(o *Observation) { o.Owner = "theirs" })
	all := []scene{
		{name: "absent: create", want: &o, obs: Observation{Predicted: spec(1)}, action: Create},
		{name: "deleted outside: create and say so", want: &o, prior: entryOf(o, state.Ready), obs: Observation{Predicted: spec(1)}, action: Create, reason: "deleted outside"},
		{name: "equal: nothing", want: &o, prior: entryOf(o, state.Ready), obs: ok, action: NoOp},
		{name: "row 2: what the server defaulted is on both sides: nothing", want: &o, prior: entryOf(o, state.Ready), obs: live(spec(7), spec(7)), action: NoOp},
		{name: "the file changed: update", want: &o, prior: entryOf(old, state.Ready), obs: changed, action: Update},
		{name: "row 4: applied, not ready: wait", want: &o, prior: entryOf(o, state.Applied), obs: seen(ok, func(o *Observation) { o.Ready = Readiness{Reason: "0/1"} }), action: Wait, reason: "0/1"},
		{name: "row 14: not ready and failed is no replacement", want: &o, prior: entryOf(o, state.Applied), obs: seen(ok, func(o *Observation) { o.Ready = Readiness{Failed: true, Reason: "crash"} }), action: Wait},
		{name: "row 31: exists without owner: refuse", want: &o, obs: foreign, action: NoOp, code: "foreign"},
		{name: "row 32: of another stack: refuse", want: &o, obs: other, action: NoOp, code: "foreign"},
		{name: "adopt = true", want: adopting, obs: foreign, action: Adopt},
		{name: "adopt = true takes it from another stack, visibly", want: adopting, obs: other, action: Adopt},
		{name: "our mark without an entry: taken back", want: &o, obs: ok, action: Adopt, reason: "taken back"},
		{name: "planned, killed, found with our mark", want: &o, prior: entryOf(o, state.Planned), obs: ok, action: Wait, reason: "recorded now"},
		{name: "planned, somebody else was faster: refuse", want: &o, prior: entryOf(o, state.Planned), obs: foreign, action: NoOp, code: "foreign"},
		{name: "recreated by hand under our name: refuse", want: &o, prior: entryOf(o, state.Ready), obs: seen(foreign, func(o *Observation) { o.UID = "u2" }), action: NoOp, code: "foreign"},
		{name: "imported: no mark but recorded", want: &o, prior: entryOf(o, state.Applied), obs: foreign, action: NoOp},
		{name: "immutable: replace", want: &o, prior: entryOf(old, state.Ready), obs: seen(changed, func(o *Observation) { o.Immutable = []string{"/spec/n"} }), action: Replace},
		{name: "--replace", want: &o, prior: entryOf(o, state.Ready), obs: ok, opts: Options{Replace: []resource.Address{o.Address}}, action: Replace, reason: "asked"},
		{name: "prevent_destroy stops a replacement", want: with(o, func(o *resource.Object) { o.Options.PreventDestroy = true }), prior: entryOf(o, state.Ready), obs: ok,
			opts: Options{Replace: []resource.Address{o.Address}}, action: Replace, code: "prevent-destroy"},
		{name: "a namespace is not replaced", want: &ns, prior: entryOf(ns, state.Ready), obs: ok, opts: Options{Replace: []resource.Address{ns.Address}}, action: Replace, code: "replace"},
		{name: "row 17: stuck release: recover", want: &o, prior: entryOf(o, state.Applied), obs: seen(changed, func(o *Observation) { o.Recover = "pending-upgrade for 2h" }), action: Recover, reason: "pending"},
		{name: "token expires: renew", want: &o, prior: entryOf(o, state.Ready), obs: seen(ok, func(o *Observation) { o.Renew = "token expires in 20m" }), action: Renew, reason: "expires"},
		{name: "namespace terminating: refuse", want: &ns, obs: seen(ok, func(o *Observation) { o.Terminating = true }), action: NoOp, code: "terminating"},
		{name: "object terminating: create after it is gone", want: &o, prior: entryOf(o, state.Deleting), obs: seen(ok, func(o *Observation) { o.Terminating = true }), action: Create, reason: "waits until it is gone"},
		{name: "borrowed and absent: wait", want: &o, obs: Observation{Borrowed: true}, action: Wait},
		{name: "borrowed and there: nothing, never adopted", want: &o, obs: seen(foreign, func(o *Observation) { o.Borrowed = true }), action: NoOp},
		{name: "row 9: conflict: refuse", want: &o, prior: entryOf(old, state.Ready), obs: seen(changed, func(o *Observation) { o.Conflicts = []Conflict{{".spec.n", "hpa"}} }), action: Update, code: "conflict"},
		{name: "row 9: force_conflicts", want: with(o, func(o *resource.Object) { o.Options.ForceConflicts = true }), prior: entryOf(old, state.Ready),
			obs: seen(changed, func(o *Observation) { o.Conflicts = []Conflict{{".spec.n", "hpa"}} }), action: Update},
		{name: "an ignored field conflicts with nobody", want: with(o, func(o *resource.Object) { o.Options.IgnoreChanges = []string{"/spec/n"} }), prior: entryOf(old, state.Ready),
			obs: seen(changed, func(o *Observation) { o.Conflicts = []Conflict{{".spec.n", "hpa"}} }), action: NoOp},
		{name: "row 10: ignore_changes holds at adoption", want: with(o, func(o *resource.Object) { o.Options.Adopt, o.Options.IgnoreChanges = true, []string{"/spec"} }),
			obs: seen(changed, func(o *Observation) { o.Owner = "" }), action: Adopt},
		{name: "refresh only plans nothing", want: &o, prior: entryOf(old, state.Ready), obs: changed, opts: Options{RefreshOnly: true}, action: NoOp},
		{name: "refresh only forgets what is gone", want: &o, prior: entryOf(o, state.Ready), obs: Observation{}, opts: Options{RefreshOnly: true}, action: Forget},
	}
	return append(all, removals()...)
}

func removals() []scene {
	o := want("ConfigMap", "c", spec(1))
	ns := want("Namespace", "n", spec(1))
	ns.ID.Namespace = ""
	ok := live(spec(1), nil)
	borrowed := entryOf(o, state.Ready)
	borrowed.Borrowed = true
	preexisting := entryOf(ns, state.Ready)
	preexisting.Created = false
	adopted := entryOf(o, state.Ready)
	adopted.Created = false
	keep := entryOf(o, state.Ready)
	keep.Options.KeepOnDestroy = true
	prevent := entryOf(o, state.Ready)
	prevent.Options.PreventDestroy = true
	destroy := Options{Destroy: true}
	return []scene{
		{name: "left the file: delete", prior: entryOf(o, state.Ready), obs: ok, action: Delete, reason: "not in the configuration"},
		{name: "destroy", prior: entryOf(o, state.Ready), obs: ok, opts: destroy, action: Delete},
		{name: "gone: forget", prior: entryOf(o, state.Ready), obs: Observation{}, opts: destroy, action: Forget},
		{name: "row 26: keep_on_destroy", prior: keep, obs: ok, opts: destroy, action: Keep},
		{name: "row 26: prevent_destroy names the object", prior: prevent, obs: ok, opts: destroy, action: Delete, code: "prevent-destroy"},
		{name: "row 31: a namespace that we did not create stays", prior: preexisting, obs: ok, opts: destroy, action: Keep, reason: "not created"},
		{name: "a namespace that we created goes", prior: entryOf(ns, state.Ready), obs: ok, opts: destroy, action: Delete},
		{name: "an adopted object goes, saying so", prior: adopted, obs: ok, opts: destroy, action: Delete},
		{name: "taken by another stack: left alone", prior: entryOf(o, state.Ready), obs: seen(ok, func(o *Observation) { o.Owner = "theirs" }), opts: destroy, action: Forget},
		{name: "another object of the same name: left alone", prior: entryOf(o, state.Ready), obs: seen(ok, func(o *Observation) { o.Owner, o.UID = "", "u2" }), opts: destroy, action: Forget},
		{name: "planned only and not ours: left alone", prior: entryOf(o, state.Planned), obs: seen(ok, func(o *Observation) { o.Owner = "" }), opts: destroy, action: Forget},
		{name: "borrowed: stays", prior: borrowed, obs: ok, opts: destroy, action: Keep},
		{name: "being deleted already: waited for", prior: entryOf(o, state.Deleting), obs: seen(ok, func(o *Observation) { o.Terminating = true }), opts: destroy, action: Delete, reason: "already"},
	}
}

func TestDecisions(t *testing.T) {
	for _, s := range scenes() {
		t.Run(s.name, func(t *testing.T) {
			p := one(s.want, s.prior, s.obs, s.opts)
			if len(p.Changes) != 1 {
				t.Fatalf("changes %+v", p.Changes)
			}
			c := p.Changes[0]
			if c.Action != s.action || !strings.Contains(c.Reason, s.reason) {
				t.Errorf("got %s (%s), want %s (…%s…)", c.Action, c.Reason, s.action, s.reason)
			}
			code := ""
			if len(p.Problems) > 0 {
				code = p.Problems[0].Code
			}
			if code != s.code {
				t.Errorf("problem %q, want %q: %+v", code, s.code, p.Problems)
			}
		})
	}
}

func TestRow34DriftIsToldFromChangesOfTheFile(t *testing.T) {
	before := want("Deployment", "d", map[string]any{"spec": map[string]any{"replicas": int64(3), "image": "a"}})
	after := want("Deployment", "d", map[string]any{"spec": map[string]any{"replicas": int64(3), "image": "b"}})
	liveSpec := map[string]any{"spec": map[string]any{"replicas": int64(5), "image": "a"}}
	p := one(&after, entryOf(before, state.Ready), live(liveSpec, after.Spec), Options{})
	c := p.Changes[0]
	if got := show(c.Drift); got != "change /spec/replicas 3 -> 5" {
		t.Errorf("drift %q", got)
	}
	if got := show(c.Fields); got != "change /spec/image a -> b\nchange /spec/replicas 5 -> 3" {
		t.Errorf("fields %q", got)
	}
}

func TestUnchangedFileMeansEverythingIsDrift(t *testing.T) {
	o := want("ConfigMap", "c", spec(1))
	c := one(&o, entryOf(o, state.Ready), live(spec(2), spec(1)), Options{}).Changes[0]
	if c.Action != Update || len(c.Drift) != 1 {
		t.Errorf("%s, drift %v", c.Action, c.Drift)
	}
}

func TestRow11DriftBehindAReleaseIsSeen(t *testing.T) {
	o := want("Release", "r", map[string]any{"chart": "x"})
	o.ID.Driver = resource.DriverHelm
	obs := live(o.Spec, o.Spec)
	obs.Children = []Observation{
		{ID: resource.ID{Kind: "Deployment", Name: "same"}, Exists: true, Live: spec(1), Predicted: spec(1)},
		{ID: resource.ID{Kind: "HTTPRoute", Name: "edited"}, Exists: true, Live: spec(2), Predicted: spec(1)},
		{ID: resource.ID{Kind: "Service", Name: "deleted"}, Predicted: spec(1)},
		{ID: resource.ID{Kind: "Secret", Name: "dropped"}, Exists: true, Live: spec(1)},
	}
	c := one(&o, entryOf(o, state.Ready), obs, Options{}).Changes[0]
	got := map[string]Action{}
	for _, k := range c.Children {
		got[k.ID.Name] = k.Action
	}
	if d := cmp.Diff(map[string]Action{"edited": Update, "deleted": Create, "dropped": Delete}, got); d != "" || c.Action != Update {
		t.Errorf("%s\n%s", c.Action, d)
	}
}

func TestSecretThatTheDriverMasksAlikeIsStillAChange(t *testing.T) {
	secret := func(v string) resource.Object {
		o := want("Secret", "s", map[string]any{"data": map[string]any{"p": v}})
		o.Sensitive = []string{"/data/p"}
		return o
	}
	old, now := secret("old"), secret("new")
	masked := map[string]any{"data": map[string]any{"p": Hidden}}
	c := one(&now, entryOf(old, state.Ready), live(masked, masked), Options{}).Changes[0]
	if c.Action != Update || len(c.Fields) != 1 || !c.Fields[0].Sensitive || c.Fields[0].After != Hidden {
		t.Errorf("%s %+v", c.Action, c.Fields)
	}
	if c := one(&now, entryOf(now, state.Ready), live(masked, masked), Options{}).Changes[0]; c.Action != NoOp {
		t.Errorf("unchanged secret: %s", c.Action)
	}
}

func TestMovedAddressIsNoNewObject(t *testing.T) {
	o := want("ConfigMap", "c", spec(1))
	e := entryOf(o, state.Ready)
	e.Address.Name = "former"
	p := one(&o, e, live(spec(1), spec(1)), Options{})
	c := p.Changes[0]
	if len(p.Changes) != 1 || c.Action != NoOp || c.MovedFrom == nil || c.MovedFrom.Name != "former" || !p.HasChanges() {
		t.Errorf("%+v", p.Changes)
	}
}

// chain is namespace <- gateway <- service.
func chain() []resource.Object {
	ns := want("Namespace", "ns", nil)
	ns.ID.Namespace = ""
	gw := want("Gateway", "gw", nil)
	svc := want("Service", "svc", nil)
	svc.DependsOn = []resource.ID{gw.ID}
	return []resource.Object{svc, gw, ns}
}

func buildChain(opts Options, exists bool, dropped string) Plan {
	in := Input{Stack: me, Prior: state.State{Salt: salt}, Observations: map[resource.ID]Observation{}, Options: opts}
	for _, o := range Link(chain()) {
		obs := Observation{}
		if exists {
			obs = live(nil, nil)
			in.Prior.Entries = append(in.Prior.Entries, *entryOf(o, state.Ready))
		}
		in.Observations[o.ID] = obs
		if o.ID.Name != dropped {
			in.Desired = append(in.Desired, o)
		}
	}
	return Build(in)
}

func names(p Plan) string {
	var out []string
	for _, c := range p.Changes {
		out = append(out, string(c.Action)+" "+c.ID.Name)
	}
	return strings.Join(out, ", ")
}

func TestOrderTargetsAndExclusions(t *testing.T) {
	at := func(name string) []resource.Address { return []resource.Address{{Kind: "manifest", Name: name}} }
	cases := []struct {
		name, want string
		opts       Options
		exists     bool
		dropped    string
	}{
		{name: "creation in dependency order, the namespace implied", want: "create ns, create gw, create svc"},
		{name: "destroy in reverse", opts: Options{Destroy: true}, exists: true, want: "delete svc, delete gw, delete ns"},
		{name: "a target brings what it needs", opts: Options{Targets: at("gw")}, want: "create ns, create gw"},
		{name: "a destroyed target brings what needs it", opts: Options{Targets: at("gw"), Destroy: true}, exists: true, want: "delete svc, delete gw"},
		{name: "an exclusion takes what needs it along", opts: Options{Exclude: at("gw")}, want: "create ns"},
		{name: "row 26: destroy everything but X keeps what X needs", opts: Options{Exclude: at("gw"), Destroy: true}, exists: true, want: "delete svc"},
		{name: "a block that left the file goes last", exists: true, dropped: "svc", want: "no-op ns, no-op gw, delete svc"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := names(buildChain(c.opts, c.exists, c.dropped)); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestRemovedObjectGoesAfterItsUserIsUpdated(t *testing.T) {
	o := chain()
	gw, svc := o[1], o[0]
	free := svc
	free.DependsOn = nil
	in := Input{
		Stack: me, Desired: []resource.Object{free},
		Prior:        state.State{Salt: salt, Entries: []state.Entry{*entryOf(gw, state.Ready), *entryOf(svc, state.Ready)}},
		Observations: map[resource.ID]Observation{gw.ID: live(nil, nil), svc.ID: live(spec(0), spec(1))},
	}
	p := Build(in)
	if names(p) != "update svc, delete gw" || !cmp.Equal(p.Changes[1].DependsOn, []resource.ID{svc.ID}) {
		t.Errorf("%s, gw after %v", names(p), p.Changes[1].DependsOn)
	}
}

func TestRecordedCycleDoesNotStopADestroy(t *testing.T) {
	a, b := want("A", "a", nil), want("B", "b", nil)
	ea, eb := entryOf(a, state.Ready), entryOf(b, state.Ready)
	ea.DependsOn, eb.DependsOn = []resource.ID{b.ID}, []resource.ID{a.ID}
	p := Build(Input{
		Stack: me, Options: Options{Destroy: true}, Prior: state.State{Salt: salt, Entries: []state.Entry{*ea, *eb}},
		Observations: map[resource.ID]Observation{a.ID: live(nil, nil), b.ID: live(nil, nil)},
	})
	if len(p.Changes) != 2 || len(p.Changes[0].DependsOn)+len(p.Changes[1].DependsOn) != 1 {
		t.Errorf("%s", names(p))
	}
}

func TestRow01CustomResourceComesAfterItsDefinition(t *testing.T) {
	crd := want("CustomResourceDefinition", "widgets", map[string]any{"spec": map[string]any{
		"group": "example.org", "names": map[string]any{"kind": "Widget"}}})
	crd.ID.APIVersion, crd.ID.Namespace = "apiextensions.k8s.io/v1", ""
	w := want("Widget", "w", nil)
	w.ID.APIVersion = "example.org/v1"
	got := Link([]resource.Object{w, crd})
	if got[0].ID != crd.ID || !cmp.Equal(got[1].DependsOn, []resource.ID{crd.ID}) {
		t.Errorf("order %v, needs %v", got[0].ID, got[1].DependsOn)
	}
}

func TestSummaryCountsReplacementTwice(t *testing.T) {
	p := Plan{Changes: []Change{{Action: Create}, {Action: Replace}, {Action: Renew}, {Action: Delete}, {Action: NoOp}}}
	if d := cmp.Diff(Summary{Add: 2, Change: 1, Destroy: 2, NoOp: 1}, p.Summary()); d != "" {
		t.Error(d)
	}
}

func TestHandEditIsDriftAndAControllerIsAnOwner(t *testing.T) {
	for manager, byHand := range map[string]bool{
		"kubectl-edit": true, "kubectl-patch": true, "kubectl-client-side-apply": true,
		"kube-controller-manager": false, "argocd-controller": false, "helm": false,
	} {
		if got := (Conflict{Field: ".spec.replicas", Manager: manager}).ByHand(); got != byHand {
			t.Errorf("%s: by hand %v, want %v", manager, got, byHand)
		}
	}
}
