package helm_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage"
	"helm.sh/helm/v3/pkg/storage/driver"
	"k8s.io/client-go/kubernetes"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
)

// heimdall is the release of the published benchmark, from the stand-in's repository.
func (w *world) heimdall() deploy.Query {
	w.kube(&resource.Object{
		ID: resource.ID{Driver: resource.DriverKube, APIVersion: "gateway.networking.k8s.io/v1", Kind: "Gateway", Namespace: w.ns, Name: "mif"},
		Spec: map[string]any{"spec": map[string]any{"gatewayClassName": "istio", "listeners": []any{
			map[string]any{"name": "http", "port": int64(80), "protocol": "HTTP"},
		}}},
	})
	return w.release("heimdall", map[string]any{
		"repository": w.c.Env["MIFBENCH_VAR_chart_repository"], "chart": "heimdall", "version": "~0.7.0", "wait": true,
		"values": map[string]any{
			"gateway":       map[string]any{"name": "mif", "gatewayClassName": "istio"},
			"inferencePool": map[string]any{"targetPorts": []any{map[string]any{"number": int64(8000)}, map[string]any{"number": int64(8001)}}},
		},
	})
}

func TestReleaseLife(t *testing.T) {
	w := newWorld(t)
	q := w.heimdall()
	if obs := w.observe(q); obs.Exists || len(obs.Children) < 9 || obs.Facts["version"] != "v0.7.1" || !strings.HasPrefix(obs.Facts["digest"].(string), "sha256:") {
		t.Fatalf("first plan: %+v", obs.Facts)
	}
	q = w.apply(q)
	obs := w.mustBeEmpty(q)
	if !obs.Ready.Ready || obs.Owner != "s1" {
		t.Fatalf("%+v %s", obs.Ready, obs.Owner)
	}
	w.fresh()
	before := w.requests.Load()
	w.mustBeEmpty(q)
	t.Logf("a plan without changes of %d objects: %d requests", len(obs.Children), w.requests.Load()-before)
	before = w.requests.Load()
	w.mustBeEmpty(q)
	if n := int(w.requests.Load() - before); n > 2*len(obs.Children)+1 {
		t.Errorf("a second plan without changes of %d objects took %d requests", len(obs.Children), n)
	}
	values := q.Want.Spec["values"].(map[string]any)
	values["replicas"] = int64(2)
	if got := differences(w.observe(q)); !cmp.Equal(got, []string{"release", "Deployment heimdall"}) {
		t.Fatalf("one value changed: %v", got)
	}
	q = w.apply(q)
	w.mustBeEmpty(q)
	found, err := w.d.List(w.ctx(), "s1", deploy.Scope{})
	if err != nil || !hasRelease(found, q.Want.ID, q.Want.Address) {
		t.Fatalf("%+v %v", found, err)
	}
	r := deploy.Request{Query: deploy.Query{Prior: q.Prior, Stack: "s1"}, Gone: true}
	if err := w.d.Delete(w.ctx(), r); err != nil {
		t.Fatal(err)
	}
	if err := w.d.Wait(w.ctx(), r, nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range obs.Children {
		if live, err := w.k.Get(w.ctx(), c.ID); live != nil || err != nil {
			t.Errorf("%s is left: %v", c.ID, err)
		}
	}
	if err := w.d.Delete(w.ctx(), r); err != nil {
		t.Fatalf("deleting twice: %v", err)
	}
}

func hasRelease(list []deploy.Found, id resource.ID, a resource.Address) bool {
	for _, f := range list {
		if f.ID == id && f.Address == a {
			return true
		}
	}
	return false
}

func TestComplaint11DriftOfEveryKindIsSeenAndHealed(t *testing.T) {
	w := newWorld(t)
	q := w.apply(w.heimdall())
	obs := w.observe(q)
	for _, c := range obs.Children {
		switch c.ID.Kind {
		case "InferencePool": // a custom resource, which helm upgrade would not heal
			pool := resource.Object{ID: c.ID, Spec: map[string]any{"spec": map[string]any{"targetPorts": []any{map[string]any{"number": int64(9999)}}}}}
			if err := w.k.Merge(w.ctx(), pool, map[string]any{}); err != nil {
				t.Fatal(err)
			}
		case "Service":
			w.mustLose(c.ID)
		}
	}
	if got := differences(w.observe(q)); !cmp.Equal(got, []string{"Service heimdall", "InferencePool heimdall"}) && !cmp.Equal(got, []string{"InferencePool heimdall", "Service heimdall"}) {
		t.Fatalf("drift: %v", got)
	}
	revision := obs.Version
	q = w.apply(q)
	if obs := w.mustBeEmpty(q); obs.Version != revision {
		t.Errorf("healing made revision %s of %s", obs.Version, revision)
	}
}

func (w *world) records() *storage.Storage {
	c, err := kubernetes.NewForConfig(w.config)
	if err != nil {
		w.t.Fatal(err)
	}
	return storage.Init(driver.NewSecrets(c.CoreV1().Secrets(w.ns)))
}

// rewrite changes the newest record as a crash or another tool would have left it.
func (w *world) rewrite(name string, change func(*release.Release)) {
	w.t.Helper()
	s := w.records()
	last, err := s.Last(name)
	if err != nil {
		w.t.Fatal(err)
	}
	change(last)
	if err := s.Update(last); err != nil {
		w.t.Fatal(err)
	}
}

func plain(t *testing.T) string {
	return chart(t, "plain", map[string]string{
		"values.yaml":         "greeting: hello\nnested: {known: 1}\nfree: {}\n",
		"templates/c.yaml":    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}}\ndata: {greeting: {{ .Values.greeting | quote }}, big: {{ .Values.big | default 1 | quote }}}\n",
		"templates/hook.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}-hook, annotations: {helm.sh/hook: pre-install}}\n",
	})
}

func TestComplaint17And12StuckReleases(t *testing.T) {
	dir := plain(t)
	for _, status := range []release.Status{release.StatusPendingInstall, release.StatusPendingUpgrade, release.StatusFailed, release.StatusUninstalling} {
		t.Run(status.String(), func(t *testing.T) {
			w := newWorld(t)
			q := w.apply(w.release("a", map[string]any{"chart": dir, "wait": true}))
			w.rewrite("a", func(r *release.Release) { r.Info.Status = status })
			obs := w.observe(q)
			if (obs.Recover == "") != (status == release.StatusFailed) || !cmp.Equal(differences(obs)[:1], []string{"release"}) {
				t.Fatalf("recover %q, differences %v", obs.Recover, differences(obs))
			}
			q = w.apply(q)
			w.mustBeEmpty(q)
		})
	}
}

func TestForeignReleases(t *testing.T) {
	w := newWorld(t)
	q := w.apply(w.release("a", map[string]any{"chart": plain(t), "wait": true}))
	w.rewrite("a", func(r *release.Release) {
		r.Labels = map[string]string{}
		r.Info.Status = release.StatusPendingUpgrade
	})
	q.Prior = nil
	if _, err := w.d.Observe(w.ctx(), q); err == nil || !strings.Contains(err.Error(), "somebody else is working on it") {
		t.Fatal(err)
	}
	w.rewrite("a", func(r *release.Release) { r.Info.Status = release.StatusDeployed })
	obs := w.observe(q)
	if obs.Owner != "" {
		t.Fatal(obs.Owner)
	}
	if _, err := w.d.Apply(w.ctx(), deploy.Request{Query: q, Seen: obs}); !errors.Is(err, deploy.ErrNotOurs) {
		t.Fatal(err)
	}
	if err := w.d.Delete(w.ctx(), deploy.Request{Query: deploy.Query{Want: q.Want, Stack: "s1"}}); !errors.Is(err, deploy.ErrNotOurs) {
		t.Fatal(err)
	}
}

func TestSecretsUnknownKeysAndNumbers(t *testing.T) {
	w := newWorld(t)
	q := w.release("a", map[string]any{"chart": plain(t), "wait": true, "values": map[string]any{
		"greeting": "hunter2hunter2", "greetin": "x", "nested": map[string]any{"knwon": int64(1)}, "free": map[string]any{"any": int64(1)}, "big": int64(32400000),
	}})
	q.Want.Sensitive = []string{"/values/greeting"}
	obs := w.observe(q)
	if text := dump(t, obs); strings.Contains(text, "hunter2") {
		t.Fatal(text)
	}
	if !strings.Contains(dump(t, obs), "32400000") {
		t.Error("a whole number lost its digits")
	}
	if len(obs.Warnings) != 2 || !strings.Contains(obs.Warnings[0], `did you mean greeting?`) || !strings.Contains(obs.Warnings[1], "did you mean nested.known?") {
		t.Fatalf("warnings: %q", obs.Warnings)
	}
	if len(obs.Notes) != 1 || !strings.Contains(obs.Notes[0], "1 hook") {
		t.Errorf("notes: %q", obs.Notes)
	}
	q = w.apply(q)
	w.mustBeEmpty(q)
	q.Want.Spec["values"].(map[string]any)["greeting"] = "changed-secret"
	obs = w.observe(q)
	if text := dump(t, obs); strings.Contains(text, "hunter2") || strings.Contains(text, "changed-secret") {
		// The old value is known from the release's record only, not from the configuration.
		t.Error(text)
	}
	if got := differences(obs); !cmp.Equal(got, []string{"release", "ConfigMap a"}) {
		t.Fatal(got)
	}
}

func TestRandomValuesAreRenderedOnce(t *testing.T) {
	w := newWorld(t)
	dir := chart(t, "dice", map[string]string{
		"values.yaml":      "size: 8\n",
		"templates/s.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: dice}\nstringData: {password: {{ randAlphaNum 12 | quote }}, size: {{ .Values.size | quote }}}\n",
	})
	q := w.apply(w.release("a", map[string]any{"chart": dir, "wait": true}))
	w.fresh()
	w.mustBeEmpty(q)
}

func TestComplaint21CRDFromAnEarlierRelease(t *testing.T) {
	w := newWorld(t)
	dir := chart(t, "monitored", map[string]string{
		"templates/x.yaml": "apiVersion: example.org/v1\nkind: Widget\nmetadata: {name: x}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n",
	})
	q := w.release("a", map[string]any{"chart": dir})
	if _, err := w.d.Observe(w.ctx(), q); !errors.Is(err, deploy.ErrNoKind) || !strings.Contains(err.Error(), "Widget") {
		t.Fatal(err)
	}
	q.Provided.Kinds = []string{"example.org/Widget"}
	obs := w.observe(q)
	if len(obs.Children) != 2 || offline(obs) != 1 {
		t.Fatalf("%+v", obs.Children)
	}
}

func offline(obs plan.Observation) int {
	n := 0
	for _, c := range obs.Children {
		if c.Offline != "" {
			n++
		}
	}
	return n
}

func TestCRDsAndTheirObjectsInOneChart(t *testing.T) {
	w := newWorld(t)
	group := w.ns + ".example.org"
	dir := chart(t, "own", map[string]string{
		"crds/w.yaml": "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: widgets." + group + "}\nspec: {group: " + group +
			", scope: Cluster, names: {plural: widgets, singular: widget, kind: Widget}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}\n",
		"templates/x.yaml": "apiVersion: " + group + "/v1\nkind: Widget\nmetadata: {name: x}\nspec: {a: 1}\n",
	})
	q := w.release("a", map[string]any{"chart": dir, "wait": true})
	if obs := w.observe(q); !cmp.Equal(obs.Provides.Kinds, []string{group + "/Widget"}) || len(obs.Children) != 2 {
		t.Fatalf("%+v", obs)
	}
	q = w.apply(q)
	w.fresh()
	w.mustBeEmpty(q)
	// Complaint 19: the CRD is gone before the release.
	crd := resource.ID{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: "widgets." + group}
	w.mustLose(crd)
	w.fresh()
	if err := w.d.Delete(w.ctx(), deploy.Request{Query: deploy.Query{Prior: q.Prior, Stack: "s1"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.records().Last("a"); !errors.Is(err, driver.ErrReleaseNotFound) {
		t.Fatalf("the record is left: %v", err)
	}
}

func TestTooLargeReleaseIsExplainedAtPlan(t *testing.T) {
	w := newWorld(t)
	var noise strings.Builder
	for i, x := 0, uint32(1); i < 1500000; i++ {
		x = x*1664525 + 1013904223
		noise.WriteByte("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"[x>>26])
	}
	dir := chart(t, "large", map[string]string{"templates/_noise.tpl": noise.String(), "templates/c.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"})
	_, err := w.d.Observe(w.ctx(), w.release("a", map[string]any{"chart": dir}))
	if err == nil || !strings.Contains(err.Error(), "one Secret of at most 1048576 bytes") {
		t.Fatal(err)
	}
}
