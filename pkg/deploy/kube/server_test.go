package kube

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/state"
)

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - {name: main, image: "example.org/web:1", resources: {requests: {cpu: 1000m}}}
`

func configMap(ns, name string, data map[string]any) *resource.Object {
	return object("v1", "ConfigMap", ns, name, map[string]any{"data": data})
}

func TestPlanAfterApplyIsEmpty(t *testing.T) {
	w := newWorld(t)
	for _, o := range []*resource.Object{
		configMap(w.ns, "config", map[string]any{"a": "1"}),
		yamlObject(t, w.ns, deployment),
		yamlObject(t, w.ns, "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web}, ports: [{port: 80}]}"),
		yamlObject(t, w.ns, "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: mif}\nspec: {gatewayClassName: istio, listeners: [{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]}"),
	} {
		q := w.query(o)
		if obs := w.observe(q); obs.Exists || obs.Predicted == nil || obs.Offline != "" {
			t.Fatalf("%s before apply: %+v", o.ID, obs)
		}
		q = w.apply(q)
		before := w.requests.Load()
		w.mustBeEmpty(q)
		if n := w.requests.Load() - before; n > 2 {
			t.Errorf("%s: a plan without changes took %d requests: %v", o.ID, n, w.log)
		}
		if err := w.d.Wait(w.ctx(), deploy.Request{Query: q}, nil); err != nil {
			t.Error(err)
		}
	}
}

func TestComplaint2And3ServerEditsAndQuantities(t *testing.T) {
	w := newWorld(t)
	q := w.apply(w.query(yamlObject(t, w.ns, deployment)))
	q.Want = yamlObject(t, w.ns, strings.Replace(deployment, "1000m", `"1"`, 1))
	w.mustBeEmpty(q)
}

func TestDriftIsSeenAndHealed(t *testing.T) {
	w := newWorld(t)
	o := configMap(w.ns, "config", map[string]any{"a": "1"})
	q := w.apply(w.query(o))
	if err := w.d.edit(w.ctx(), o.ID, `{"data":{"a":"2","theirs":"x"}}`, "vim"); err != nil {
		t.Fatal(err)
	}
	obs := w.observe(q)
	if diff := cmp.Diff([]plan.Conflict{{Field: ".data.a", Manager: "vim"}}, obs.Conflicts); diff != "" {
		t.Fatal(diff)
	}
	if got := changes("", any(obs.Live), any(obs.Predicted)); !cmp.Equal(got, []string{"/data/a"}) {
		t.Fatalf("changes %v", got)
	}
	_, err := w.tryApply(q)
	if !errors.Is(err, deploy.ErrConflict) || !strings.Contains(err.Error(), ".data.a → vim") {
		t.Fatalf("complaint 9: %v", err)
	}
	q.Want.Options.ForceConflicts = true
	w.apply(q)
	w.mustBeEmpty(q)
	live, err := w.d.Get(w.ctx(), o.ID)
	if err != nil || live["data"].(map[string]any)["theirs"] != "x" {
		t.Fatalf("the other manager's field is gone: %v, %v", live["data"], err)
	}
}

func TestComplaint1MissingKindNamesItsChart(t *testing.T) {
	w := newWorld(t)
	o := object("keda.sh/v1alpha1", "ScaledObject", w.ns, "x", map[string]any{"spec": map[string]any{}})
	_, err := w.d.Observe(w.ctx(), w.query(o))
	if !errors.Is(err, deploy.ErrNoKind) || !strings.Contains(err.Error(), "chart keda") {
		t.Fatal(err)
	}
	q := w.query(o)
	q.Provided.Kinds = []string{"keda.sh/ScaledObject"}
	if obs := w.observe(q); obs.Offline == "" || obs.Predicted == nil {
		t.Fatalf("%+v", obs)
	}
	o = object("apps/v1beta1", "Deployment", w.ns, "x", nil)
	if _, err := w.d.Observe(w.ctx(), w.query(o)); !errors.Is(err, deploy.ErrNoKind) || !strings.Contains(err.Error(), "apps/v1") {
		t.Fatal(err)
	}
}

func TestComplaint1CRDAndItsObjectInOneGo(t *testing.T) {
	w := newWorld(t)
	group := w.ns + ".example.org"
	crd := yamlObject(t, "", `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.`+group+`}
spec:
  group: `+group+`
  scope: Namespaced
  names: {plural: things, singular: thing, kind: Thing}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {x-kubernetes-int-or-string: true}, fixed: {type: string, x-kubernetes-validations: [{rule: "self == oldSelf", message: "fixed is immutable"}]}}}}}}
`)
	t.Cleanup(func() { _ = w.d.Remove(t.Context(), crd.ID) })
	thing := object(group+"/v1", "Thing", w.ns, "x", map[string]any{"spec": map[string]any{"size": "1", "fixed": "a"}})
	obs := w.observe(w.query(crd))
	if want := []string{group + "/Thing"}; !cmp.Equal(obs.Provides.Kinds, want) {
		t.Fatalf("provides %v", obs.Provides)
	}
	q := w.query(thing)
	q.Provided = obs.Provides
	w.observe(q)
	qc := w.apply(w.query(crd))
	if err := w.d.Wait(w.ctx(), deploy.Request{Query: qc}, nil); err != nil {
		t.Fatal(err)
	}
	q = w.apply(q)
	w.mustBeEmpty(q)
	q.Want = object(group+"/v1", "Thing", w.ns, "x", map[string]any{"spec": map[string]any{"size": int64(1), "fixed": "a"}})
	w.mustBeEmpty(q) // complaint 3: int-or-string
	q.Want = object(group+"/v1", "Thing", w.ns, "x", map[string]any{"spec": map[string]any{"size": "1", "fixed": "b"}})
	if obs := w.observe(q); !cmp.Equal(obs.Immutable, []string{"/spec/fixed"}) {
		t.Fatalf("immutable %v", obs.Immutable)
	}
	old := q.Prior.UID
	res, err := w.d.Apply(w.ctx(), deploy.Request{Query: q, Seen: w.observe(q), Replace: true})
	if err != nil || res.UID == old {
		t.Fatalf("replace: %+v, %v", res, err)
	}
}

func TestComplaint33NamespaceFromTheSamePlan(t *testing.T) {
	w := newWorld(t)
	ns := w.ns + "-new"
	q := w.query(configMap(ns, "c", map[string]any{"a": "1"}))
	if _, err := w.d.Observe(w.ctx(), q); err == nil || !strings.Contains(err.Error(), "namespace "+ns+" does not exist") {
		t.Fatal(err)
	}
	q.Provided.Namespaces = []string{ns}
	if obs := w.observe(q); obs.Offline == "" || obs.Live != nil || obs.Predicted == nil {
		t.Fatalf("%+v", obs)
	}
	q.Want = configMap(ns, "c", map[string]any{"a": int64(1)})
	if _, err := w.d.Observe(w.ctx(), q); err == nil || !strings.Contains(err.Error(), "expected string") {
		t.Fatalf("a mistake is seen at plan although the namespace is new: %v", err)
	}
}

func TestComplaint8SecretsAreMasked(t *testing.T) {
	w := newWorld(t)
	o := object("v1", "Secret", w.ns, "s", map[string]any{"stringData": map[string]any{"password": "hunter2hunter2"}})
	q := w.apply(w.query(o))
	w.mustBeEmptySecret(q)
	q.Want = object("v1", "Secret", w.ns, "s", map[string]any{"stringData": map[string]any{"password": "other"}})
	obs := w.observe(q)
	if text := dump(obs); strings.Contains(text, "hunter2") || strings.Contains(text, "aHVudGVy") || strings.Contains(text, "other") {
		t.Fatal(text)
	}
	if got := changes("", any(obs.Live), any(obs.Predicted)); !cmp.Equal(got, []string{"/data/password"}) {
		t.Fatalf("changes %v in %s", got, dump(obs))
	}
	m := configMap(w.ns, "c", map[string]any{"token": "hunter2hunter2"})
	m.Sensitive = []string{"/data/token"}
	if text := dump(w.observe(w.query(m))); strings.Contains(text, "hunter2") {
		t.Fatal(text)
	}
}

func (w *world) mustBeEmptySecret(q deploy.Query) {
	w.t.Helper()
	w.mustBeEmpty(q)
}

func TestComplaint32CreateIsNotAdopt(t *testing.T) {
	w := newWorld(t)
	o := configMap(w.ns, "theirs", map[string]any{"a": "1"})
	w.kubectl(o)
	q := w.query(configMap(w.ns, "theirs", map[string]any{"a": "1"}))
	if _, err := w.tryApply(q); !errors.Is(err, deploy.ErrNotOurs) {
		t.Fatal(err)
	}
	q.Want.Options.Adopt = true
	q = w.apply(q)
	if q.Prior.Created {
		t.Error("an adopted object counts as created")
	}
	found, err := w.d.List(w.ctx(), "s1", deploy.Scope{})
	if err != nil {
		t.Fatal(err)
	}
	ok := false
	for _, f := range found {
		ok = ok || f.ID.Key() == o.ID.Key() && !f.Created && f.Address == q.Want.Address
	}
	if !ok {
		t.Errorf("not found by its annotation: %v", found)
	}
	other := q
	other.Stack, other.Prior = "s2", nil
	if _, err := w.tryApply(other); !errors.Is(err, deploy.ErrNotOurs) || !strings.Contains(err.Error(), `stack "s1"`) {
		t.Fatalf("complaint 31: %v", err)
	}
	other.Prior = &state.Entry{ID: o.ID}
	if err := w.d.Delete(w.ctx(), deploy.Request{Query: other}); !errors.Is(err, deploy.ErrNotOurs) {
		t.Fatal(err)
	}
}

func TestChangedBetweenPlanAndApply(t *testing.T) {
	w := newWorld(t)
	o := configMap(w.ns, "c", map[string]any{"a": "1"})
	q := w.apply(w.query(o))
	q.Want = configMap(w.ns, "c", map[string]any{"a": "2"})
	seen := w.observe(q)
	if err := w.d.edit(w.ctx(), o.ID, `{"metadata":{"labels":{"x":"y"}}}`, "vim"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.d.Apply(w.ctx(), deploy.Request{Query: q, Seen: seen}); err != nil {
		t.Fatalf("a change beside the compared fields is no obstacle: %v", err)
	}
	q.Want = configMap(w.ns, "c", map[string]any{"a": "3"})
	seen = w.observe(q)
	if err := w.d.edit(w.ctx(), o.ID, `{"data":{"a":"9"}}`, "vim"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.d.Apply(w.ctx(), deploy.Request{Query: q, Seen: seen}); !errors.Is(err, deploy.ErrChanged) || !strings.Contains(err.Error(), "/data/a") {
		t.Fatal(err)
	}
	seen = w.observe(q)
	if err := w.d.Remove(w.ctx(), o.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := w.d.Apply(w.ctx(), deploy.Request{Query: q, Seen: seen}); !errors.Is(err, deploy.ErrChanged) {
		t.Fatal(err)
	}
}

func TestComplaint10And34IgnoreChanges(t *testing.T) {
	w := newWorld(t)
	o := yamlObject(t, w.ns, deployment)
	o.Options.IgnoreChanges = []string{"/spec/replicas"}
	q := w.apply(w.query(o))
	if err := w.d.edit(w.ctx(), o.ID, `{"spec":{"replicas":1}}`, "hpa", "scale"); err != nil {
		t.Fatal(err)
	}
	w.mustBeEmpty(q)
	q.Want = yamlObject(t, w.ns, strings.Replace(deployment, "web:1", "web:2", 1))
	q.Want.Options = o.Options
	w.apply(q)
	live, err := w.d.Get(w.ctx(), o.ID)
	if err != nil || specInt(live, "replicas", -1) != 1 {
		t.Fatalf("apply reset the autoscaler's replicas: %v %v", live["spec"], err)
	}
}

func TestRemovedFieldOfAClientSideAppliedObject(t *testing.T) {
	w := newWorld(t)
	o := configMap(w.ns, "c", map[string]any{"a": "1", "b": "1"})
	r, _, err := w.d.resource(w.ctx(), o.ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := createAs(w.ctx(), r, o, csaManager); err != nil {
		t.Fatal(err)
	}
	q := w.query(o)
	q.Want.Options.Adopt = true
	q = w.apply(q)
	q.Want = configMap(w.ns, "c", map[string]any{"a": "1"})
	obs := w.observe(q)
	if got := changes("", any(obs.Live), any(obs.Predicted)); !cmp.Equal(got, []string{"/data/b"}) {
		t.Fatalf("changes %v", got)
	}
}

func TestComplaint5DoomedPodsFailEarly(t *testing.T) {
	for _, c := range []struct{ fault, want, detail string }{
		{"image-pull", "ImagePullBackOff", "event Failed"},
		{"crash-loop", "CrashLoopBackOff", "no config.json found"},
	} {
		t.Run(c.fault, func(t *testing.T) {
			w := newWorld(t)
			w.d.SetPatience(Patience{Image: time.Second, Crashes: 2})
			text := strings.Replace(deployment, "metadata: {labels: {app: web}}", "metadata: {labels: {app: web}, annotations: {localcluster.mifbench.dev/fault: "+c.fault+"}}", 1)
			q := w.apply(w.query(yamlObject(t, w.ns, text)))
			start := time.Now()
			err := w.d.Wait(w.ctx(), deploy.Request{Query: q}, func(r plan.Readiness) { t.Log(r.Reason) })
			if !errors.Is(err, deploy.ErrNotReady) || !strings.Contains(err.Error(), "container main: "+c.want) && !strings.Contains(err.Error(), "container main: ErrImagePull") || !strings.Contains(err.Error(), c.detail) {
				t.Fatal(err)
			}
			if time.Since(start) > 45*time.Second {
				t.Errorf("took %s", time.Since(start))
			}
		})
	}
}

func TestUnschedulablePodIsNamed(t *testing.T) {
	w := newWorld(t)
	w.d.SetPatience(Patience{Unschedulable: time.Second})
	text := strings.Replace(deployment, "{cpu: 1000m}", "{cpu: 900000}", 1)
	q := w.apply(w.query(yamlObject(t, w.ns, text)))
	err := w.d.Wait(w.ctx(), deploy.Request{Query: q}, nil)
	if !errors.Is(err, deploy.ErrNotReady) || !strings.Contains(err.Error(), "Insufficient cpu") {
		t.Fatal(err)
	}
}

func TestComplaint7FinalizerHoldersAreNamed(t *testing.T) {
	w := newWorld(t)
	name := w.ns + "-held"
	ns := w.apply(w.query(object("v1", "Namespace", "", name, nil)))
	c := configMap(name, "held", nil)
	c.Spec["metadata"].(map[string]any)["finalizers"] = []any{"example.org/hold"}
	w.kubectl(c)
	t.Cleanup(func() {
		_ = w.d.edit(t.Context(), c.ID, `{"metadata":{"finalizers":null}}`, "vim")
	})
	r := deploy.Request{Query: deploy.Query{Prior: ns.Prior, Stack: "s1"}, Gone: true}
	if err := w.d.Delete(w.ctx(), r); err != nil {
		t.Fatal(err)
	}
	r.Prior.Options.DeleteTimeout = 6 * time.Second
	err := w.d.Wait(w.ctx(), r, nil)
	if !errors.Is(err, deploy.ErrNotReady) || !strings.Contains(err.Error(), "ConfigMap "+name+"/held (finalizers example.org/hold)") {
		t.Fatal(err)
	}
	held := func() plan.Observation {
		return w.observe(deploy.Query{Want: object("v1", "Namespace", "", name, nil), Prior: ns.Prior, Stack: "s1"})
	}
	obs := held()
	for end := time.Now().Add(time.Minute); !strings.Contains(obs.Ready.Reason, "Namespace") && time.Now().Before(end); obs = held() {
		time.Sleep(100 * time.Millisecond) // the namespace controller writes its conditions when it gets to it
	}
	if !obs.Terminating || !strings.Contains(obs.Ready.Reason, "example.org/hold") && !strings.Contains(obs.Ready.Reason, "Namespace") {
		t.Fatalf("%+v", obs.Ready)
	}
	_, err = w.d.Observe(w.ctx(), w.query(configMap(name, "new", nil)))
	if err == nil || !strings.Contains(err.Error(), "is being deleted") {
		t.Fatal(err)
	}
	if err := w.d.edit(w.ctx(), c.ID, `{"metadata":{"finalizers":null}}`, "vim"); err != nil {
		t.Fatal(err)
	}
	r.Prior.Options.DeleteTimeout = time.Minute
	if err := w.d.Wait(w.ctx(), r, nil); err != nil {
		t.Fatal(err)
	}
}

func TestNamespaceThatWeDidNotCreateStays(t *testing.T) {
	w := newWorld(t)
	o := object("v1", "Namespace", "", w.ns, map[string]any{})
	o.Options.Adopt = true
	q := w.apply(w.query(o))
	if err := w.d.Delete(w.ctx(), deploy.Request{Query: deploy.Query{Prior: q.Prior, Stack: "s1"}}); !errors.Is(err, deploy.ErrNotOurs) {
		t.Fatal(err)
	}
	w.kubectl(configMap(w.ns, "foreign", nil))
	w.apply(w.query(configMap(w.ns, "ours", nil)))
	ids, gaps, err := w.d.ForeignObjects(w.ctx(), w.ns, "s1")
	if err != nil || len(gaps) > 0 || len(ids) != 1 || ids[0].Name != "foreign" {
		t.Fatalf("%v %v %v", ids, gaps, err)
	}
}

func TestDeleteWaitsForPods(t *testing.T) {
	w := newWorld(t)
	q := w.apply(w.query(yamlObject(t, w.ns, deployment)))
	if err := w.d.Wait(w.ctx(), deploy.Request{Query: q}, nil); err != nil {
		t.Fatal(err)
	}
	pods, err := w.d.PodsOf(w.ctx(), q.Want.ID)
	if err != nil || len(pods) != 2 || !pods[0].Ready {
		t.Fatalf("%+v %v", pods, err)
	}
	q.Want = yamlObject(t, w.ns, strings.Replace(deployment, "web:1", "web:2", 1))
	if obs := w.observe(q); obs.Interrupts != "2 pods restart" {
		t.Errorf("interrupts %q", obs.Interrupts)
	}
	r := deploy.Request{Query: deploy.Query{Prior: q.Prior, Stack: "s1"}, Gone: true}
	if err := w.d.Delete(w.ctx(), r); err != nil {
		t.Fatal(err)
	}
	if err := w.d.Wait(w.ctx(), r, nil); err != nil {
		t.Fatal(err)
	}
	left, err := w.d.Objects(w.ctx(), "v1", "Pod", w.ns, "app=web")
	if err != nil || len(left) > 0 {
		t.Fatalf("%d pods left, %v", len(left), err)
	}
	if err := w.d.Delete(w.ctx(), r); err != nil {
		t.Fatalf("deleting twice: %v", err)
	}
}
