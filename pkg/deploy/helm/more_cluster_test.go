package helm_test

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/registry"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	helmregistry "helm.sh/helm/v3/pkg/registry"
	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/deploy/kube"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
)

// configMap is the text of a small object.
func configMap(name, data string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\ndata: {" + data + "}\n"
}

func (w *world) get(apiVersion, kind, name string) map[string]any {
	w.t.Helper()
	live, err := w.k.Get(w.ctx(), resource.ID{Driver: resource.DriverKube, APIVersion: apiVersion, Kind: kind, Namespace: w.ns, Name: name})
	if err != nil {
		w.t.Fatal(err)
	}
	return live
}

func at(t *testing.T, v any, path ...string) any {
	t.Helper()
	for _, p := range path {
		m, ok := v.(map[string]any)
		if !ok {
			t.Fatalf("no %v in %v", path, v)
		}
		v = m[p]
	}
	return v
}

// TestPrivateRegistry installs from a registry that wants a password, which appears nowhere.
func TestPrivateRegistry(t *testing.T) {
	w := newWorld(t)
	store := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if u, p, _ := r.BasicAuth(); u+p != "puller"+"hunter2hunter2" {
			rw.Header().Set("Www-Authenticate", `Basic realm="test"`)
			rw.WriteHeader(http.StatusUnauthorized)
			return
		}
		store.ServeHTTP(rw, r)
	}))
	defer srv.Close()
	host := strings.TrimPrefix(srv.URL, "http://")
	client, err := helmregistry.NewClient(helmregistry.ClientOptPlainHTTP(), helmregistry.ClientOptBasicAuth("puller", "hunter2hunter2"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Push(packed(t, plain(t)), host+"/charts/plain:1.0.0"); err != nil {
		t.Fatal(err)
	}
	q := w.release("a", map[string]any{
		"repository": "oci://" + host + "/charts", "chart": "plain", "version": "^1", "wait": true,
		"username": "puller", "password": "hunter2hunter2",
	})
	q.Want.Sensitive = []string{"/password"}
	if text := dump(t, w.observe(q)); strings.Contains(text, "hunter2") {
		t.Error(text)
	}
	q = w.apply(q)
	obs := w.mustBeEmpty(q)
	if obs.Facts["version"] != "1.0.0" || !strings.Contains(fmt.Sprint(obs.Facts["origin"]), "/charts/plain@sha256:") || strings.Contains(dump(t, q.Prior), "hunter2") {
		t.Errorf("%v", obs.Facts)
	}
	w.mustGo(q)
}

// packed is the archive of a chart directory.
func packed(t *testing.T, dir string) []byte {
	t.Helper()
	ch, err := loader.LoadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	file, err := chartutil.Save(ch, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// dice is a chart whose every rendering is another one, in an object, a Secret and a hook.
func dice(t *testing.T) string {
	return chart(t, "dice", map[string]string{
		"values.yaml": "size: 8\n",
		"templates/all.yaml": "{{- $p := randAlphaNum 12 }}\napiVersion: v1\nkind: Secret\nmetadata: {name: dice}\nstringData: {password: {{ $p | quote }}, size: {{ .Values.size | quote }}}\n---\n" +
			configMap("dice", `hash: {{ $p | sha256sum | quote }}, at: {{ now | date "2006-01-02" | quote }}, size: {{ .Values.size | quote }}`) + "---\n" +
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: dice-hook, annotations: {helm.sh/hook: pre-install}}\ndata: {hash: {{ $p | sha256sum | quote }}}\n",
	})
}

// TestRandomValuesUnderASavedPlan: another process than the plan's renders anew; both plans say the
// same, and apply of the one accepts the other.
func TestRandomValuesUnderASavedPlan(t *testing.T) {
	w := newWorld(t)
	q := w.release("a", map[string]any{"chart": dice(t), "wait": true})
	planned := w.observe(q)
	for _, c := range planned.Children {
		switch c.ID.Kind {
		case "Secret":
			if at(t, c.Predicted, "data", "password") != plan.Unknown || at(t, c.Predicted, "data", "size") == plan.Unknown {
				t.Errorf("%v", c.Predicted)
			}
		case "ConfigMap":
			if diff := cmp.Diff(map[string]any{"hash": plan.Unknown, "at": plan.Unknown, "size": "8"}, at(t, c.Predicted, "data")); diff != "" {
				t.Error(diff)
			}
		}
	}
	w.fresh()
	if again := w.observe(q); again.Facts["manifest"] != planned.Facts["manifest"] || !cmp.Equal(again.Children, planned.Children) {
		t.Fatal(cmp.Diff(planned, again))
	}
	w.fresh()
	r := deploy.Request{Query: q, Seen: planned}
	res, err := w.d.Apply(w.ctx(), r)
	if err != nil {
		t.Fatal(err)
	}
	object, hook := w.get("v1", "ConfigMap", "dice"), w.get("v1", "ConfigMap", "dice-hook")
	if at(t, object, "data", "hash") != at(t, hook, "data", "hash") {
		t.Error("hook and object hold values of two renderings")
	}
	q.Prior = entry(q, res)
	w.fresh()
	w.mustBeEmpty(q)
	q.Want.Spec["values"] = map[string]any{"size": int64(9)}
	if got := differences(w.observe(q)); !cmp.Equal(got, []string{"release", "Secret dice", "ConfigMap dice"}) {
		t.Fatal(got)
	}
	q = w.apply(q)
	w.fresh()
	w.mustBeEmpty(q)
	w.mustGo(q)
	if w.get("v1", "ConfigMap", "dice-hook") != nil {
		t.Error("the hook's object is left")
	}
}

func TestTemplatesThatMovedSinceThePlan(t *testing.T) {
	w := newWorld(t)
	q := w.release("a", map[string]any{"chart": dice(t), "values": map[string]any{"size": int64(8)}})
	planned := w.observe(q)
	w.fresh()
	q.Want.Spec["values"] = map[string]any{"size": int64(9)}
	if _, err := w.d.Apply(w.ctx(), deploy.Request{Query: q, Seen: planned}); !errors.Is(err, deploy.ErrChanged) {
		t.Fatal(err)
	}
}

// gauge is a chart with a definition in crds/.
func gauge(t *testing.T, group, extra string) string {
	version := func(name string) string {
		return "{name: " + name + ", served: true, storage: " + fmt.Sprint(name == "v1") + ", schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {a: {type: integer}" + extra + "}}}}}}"
	}
	versions := version("v1")
	if extra != "" {
		versions += ", " + version("v2")
	}
	return chart(t, "gauge", map[string]string{
		"crds/g.yaml": "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: gauges." + group + "}\nspec: {group: " + group +
			", scope: Namespaced, names: {plural: gauges, singular: gauge, kind: Gauge}, versions: [" + versions + "]}\n",
		"templates/g.yaml": "apiVersion: " + group + "/v1\nkind: Gauge\nmetadata: {name: g}\nspec: {a: 1}\n",
	})
}

// TestComplaint18NewerCRDs: Helm leaves crds/ alone after the first revision; the plan says so, and
// upgrade_crds applies them.
func TestComplaint18NewerCRDs(t *testing.T) {
	w := newWorld(t)
	group := w.ns + ".example.org"
	q := w.apply(w.release("a", map[string]any{"chart": gauge(t, group, ""), "wait": true}))
	w.mustBeEmpty(q)
	q.Want.Spec["chart"] = gauge(t, group, ", b: {type: string}")
	obs := w.observe(q)
	if len(obs.Notes) != 1 || !strings.Contains(obs.Notes[0], "it serves v1, v2, the cluster's serves v1") || !strings.Contains(obs.Notes[0], "upgrade_crds") {
		t.Fatalf("notes %q", obs.Notes)
	}
	q = w.apply(q) // without: the release is upgraded, the definition is not
	crd := resource.ID{Driver: resource.DriverKube, APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: "gauges." + group}
	t.Cleanup(func() { _ = w.k.Remove(w.t.Context(), crd) })
	q.Want.Spec["upgradeCRDs"] = true
	obs = w.observe(q)
	if got := differences(obs); !cmp.Equal(got, []string{"CustomResourceDefinition gauges." + group}) || obs.Facts["action"] != "heal" {
		t.Fatalf("%v, action %v", got, obs.Facts["action"])
	}
	q = w.apply(q)
	w.mustBeEmpty(q)
	q.Want.Spec["chart"] = gauge(t, group, "")
	if obs := w.observe(q); !strings.Contains(strings.Join(obs.Warnings, "\n"), "does not serve v2") {
		t.Errorf("a step back: warnings %q", obs.Warnings)
	}
	w.mustGo(q)
}

const hooked = `apiVersion: batch/v1
kind: Job
metadata: {name: "%s", annotations: {helm.sh/hook: "%s"}}
spec: {backoffLimit: 0, template: {spec: {restartPolicy: Never, containers: [{name: main, image: any, command: [sh, -c, "%s"]}]}}}
`

// TestHooks: the plan names them, a failing one is explained, and nothing of them is left.
func TestHooks(t *testing.T) {
	w := newWorld(t)
	files := map[string]string{
		"templates/a.yaml": configMap("a", "x: one"),
		"templates/h.yaml": fmt.Sprintf(hooked, "before", "pre-install,pre-upgrade", "exit 0") + "---\n" + fmt.Sprintf(hooked, "after", "post-install", "exit 0"),
	}
	q := w.release("a", map[string]any{"chart": chart(t, "hooked", files), "wait": true})
	obs := w.observe(q)
	if len(obs.Notes) != 1 || !strings.Contains(obs.Notes[0], "Job before (pre-install, pre-upgrade)") || !strings.Contains(obs.Notes[0], "Job after (post-install)") {
		t.Fatalf("notes %q", obs.Notes)
	}
	q = w.apply(q)
	w.mustBeEmpty(q)
	gone, err := w.d.Observe(w.ctx(), deploy.Query{Prior: q.Prior, Stack: "s1"})
	if err != nil || len(gone.Children) != 3 {
		t.Fatalf("the plan of destruction has %d objects, want ConfigMap and two Jobs; %v", len(gone.Children), err)
	}
	w.mustGo(q)
	for _, name := range []string{"before", "after"} {
		if w.get("batch/v1", "Job", name) != nil {
			t.Errorf("Job %s is left", name)
		}
	}
	delete(files, "Chart.yaml")
	files["templates/h.yaml"] = fmt.Sprintf(hooked, "before", "pre-install", "echo no licence found; exit 3")
	q = w.release("b", map[string]any{"chart": chart(t, "hooked", files), "wait": true})
	_, err = w.d.Apply(w.ctx(), deploy.Request{Query: q, Seen: w.observe(q)})
	if err == nil || !strings.Contains(err.Error(), "pre-install") || !strings.Contains(err.Error(), "no licence found") {
		t.Fatal(err)
	}
	if live := w.get("v1", "ConfigMap", "a"); live != nil {
		t.Error("the objects were made after a failed pre-install hook")
	}
	w.mustGo(deploy.Query{Want: q.Want})
}

// web is a chart of one Deployment; a fault keeps its pods from starting.
func web(t *testing.T) string {
	return chart(t, "web", map[string]string{
		"values.yaml": "fault: none\n",
		"templates/d.yaml": `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}, annotations: {localcluster.mifbench.dev/fault: {{ .Values.fault }}}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: main, image: any, command: [sh, -c, "trap 'exit 0' TERM; while :; do sleep 0.1; done"]}]
`})
}

func TestAtomicReleases(t *testing.T) {
	w := newWorld(t)
	w.k.SetPatience(kube.Patience{Image: time.Second, Config: time.Second, Unschedulable: time.Minute, Crashes: 2})
	bad, good := map[string]any{"fault": "image-pull"}, map[string]any{"fault": ""}
	q := w.release("a", map[string]any{"chart": web(t), "atomic": true, "values": bad})
	try := func() error {
		r := deploy.Request{Query: q, Seen: w.observe(q)}
		res, err := w.d.Apply(w.ctx(), r)
		if err != nil {
			t.Fatal(err)
		}
		q.Prior = entry(q, res)
		return w.d.Wait(w.ctx(), r, nil)
	}
	err := try()
	if !errors.Is(err, deploy.ErrNotReady) || !strings.Contains(err.Error(), "ImagePullBackOff") && !strings.Contains(err.Error(), "ErrImagePull") || !strings.Contains(err.Error(), "uninstalled again") {
		t.Fatal(err)
	}
	if _, err := w.records().Last("a"); !errors.Is(err, driver.ErrReleaseNotFound) {
		t.Fatalf("the record is left: %v", err)
	}
	q.Want.Spec["values"] = good
	if err := try(); err != nil {
		t.Fatal(err)
	}
	q.Want.Spec["values"] = bad
	if err := try(); err == nil || !strings.Contains(err.Error(), "rolled back to revision 1") {
		t.Fatal(err)
	}
	last, err := w.records().Last("a")
	if err != nil || last.Info.Status != release.StatusDeployed || last.Config["fault"] != "" {
		t.Fatalf("%+v, %v", last, err)
	}
	if got := differences(w.observe(q)); !cmp.Equal(got, []string{"release", "Deployment web"}) {
		t.Errorf("after the rollback the next plan must show the change again: %v", got)
	}
	q.Want.Spec["values"] = good
	w.mustBeEmpty(w.apply(q))
	w.mustGo(q)
}

// TestTakeOwnership: objects that exist without Helm's marks stop the release, unless it may take them.
func TestTakeOwnership(t *testing.T) {
	w := newWorld(t)
	dir := chart(t, "own", map[string]string{"templates/a.yaml": configMap("a", "x: new")})
	w.kube(&resource.Object{
		ID:   resource.ID{Driver: resource.DriverKube, APIVersion: "v1", Kind: "ConfigMap", Namespace: w.ns, Name: "a"},
		Spec: map[string]any{"data": map[string]any{"x": "old"}},
	})
	q := w.release("a", map[string]any{"chart": dir, "wait": true})
	if _, err := w.d.Apply(w.ctx(), deploy.Request{Query: q, Seen: w.observe(q)}); !errors.Is(err, deploy.ErrNotOurs) || !strings.Contains(err.Error(), "take_ownership") {
		t.Fatal(err)
	}
	q.Want.Spec["takeOwnership"] = true
	q = w.apply(q)
	w.mustBeEmpty(q)
	if got := at(t, w.get("v1", "ConfigMap", "a"), "data", "x"); got != "new" {
		t.Errorf("x = %v", got)
	}
	w.mustGo(q)
}

// TestChartFromEverySource: the same chart as directory, archive and repository on disk.
func TestChartFromEverySource(t *testing.T) {
	w := newWorld(t)
	dir := plain(t)
	file := filepath.Join(t.TempDir(), "plain-1.0.0.tgz")
	if err := os.WriteFile(file, packed(t, dir), 0o600); err != nil {
		t.Fatal(err)
	}
	q := w.apply(w.release("a", map[string]any{"chart": dir, "wait": true}))
	q.Want.Spec = map[string]any{"chart": file, "wait": true}
	if got := differences(w.observe(q)); !cmp.Equal(got, []string{"release"}) {
		t.Errorf("another content of the same version: %v", got)
	}
	q = w.apply(q)
	q.Want.Spec = map[string]any{"repository": filepath.Dir(file), "chart": "plain-1.0.0.tgz", "version": "1.x", "wait": true}
	w.mustBeEmpty(q)
	w.mustGo(q)
}
