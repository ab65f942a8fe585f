package helm_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/mifbench/mifbench/internal/clustertest"
	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/deploy/helm"
	"github.com/mifbench/mifbench/pkg/deploy/kube"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/state"
)

var cluster = clustertest.NewShared(clustertest.RestartBackoff("100ms"))

func TestMain(m *testing.M) { os.Exit(cluster.Main(m)) }

// world is one test's view of the shared cluster.
type world struct {
	t        *testing.T
	c        *clustertest.Cluster
	config   *rest.Config
	k        *kube.Driver
	d        *helm.Driver
	ns       string
	requests atomic.Int64
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

var namespaces atomic.Int64

func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldOn(t, cluster.Get(t))
}

func newWorldOn(t *testing.T, c *clustertest.Cluster) *world {
	t.Helper()
	w := &world{t: t, c: c, ns: fmt.Sprintf("h%d-%d", os.Getpid(), namespaces.Add(1))}
	cfg, err := clientcmd.BuildConfigFromFlags("", w.c.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	cfg.QPS = -1
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			w.requests.Add(1)
			return next.RoundTrip(r)
		})
	})
	w.config = cfg
	w.fresh()
	id := resource.ID{Driver: resource.DriverKube, APIVersion: "v1", Kind: "Namespace", Name: w.ns}
	w.kube(&resource.Object{ID: id, Spec: map[string]any{"metadata": map[string]any{"name": w.ns}}})
	t.Cleanup(func() { _ = w.k.Remove(context.Background(), id) })
	return w
}

// fresh makes the drivers anew, as another process would.
func (w *world) fresh() {
	w.t.Helper()
	var err error
	if w.k, err = kube.New(w.config); err != nil {
		w.t.Fatal(err)
	}
	if w.d, err = helm.New(w.config, w.k, helm.Options{CacheDir: w.t.TempDir()}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) ctx() context.Context {
	ctx, cancel := context.WithTimeout(w.t.Context(), 4*time.Minute)
	w.t.Cleanup(cancel)
	return ctx
}

// kube applies a Kubernetes object.
func (w *world) kube(o *resource.Object) {
	w.t.Helper()
	if _, err := w.k.Apply(w.ctx(), deploy.Request{Query: deploy.Query{Want: o, Stack: "s1"}}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) release(name string, spec map[string]any) deploy.Query {
	return deploy.Query{Stack: "s1", Salt: "salt", Want: &resource.Object{
		Address: resource.Address{Kind: "helm_release", Name: name},
		ID:      resource.ID{Driver: resource.DriverHelm, APIVersion: helm.APIVersion, Kind: helm.Kind, Namespace: w.ns, Name: name},
		Spec:    spec,
	}}
}

func (w *world) observe(q deploy.Query) plan.Observation {
	w.t.Helper()
	obs, err := w.d.Observe(w.ctx(), q)
	if err != nil {
		w.t.Fatal(err)
	}
	return obs
}

// apply plans, applies and waits; the result holds the entry that the engine would record.
func (w *world) apply(q deploy.Query) deploy.Query {
	w.t.Helper()
	r := deploy.Request{Query: q, Seen: w.observe(q)}
	res, err := w.d.Apply(w.ctx(), r)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.d.Wait(w.ctx(), r, nil); err != nil {
		w.t.Fatal(err)
	}
	q.Prior = entry(q, res)
	return q
}

// entry is what the engine would record.
func entry(q deploy.Query, res deploy.Result) *state.Entry {
	return &state.Entry{ID: q.Want.ID, Created: res.Created, Facts: res.Facts, Fingerprint: res.Fingerprint}
}

// mustGo plans the removal, as from state alone, does it and waits.
func (w *world) mustGo(q deploy.Query) {
	w.t.Helper()
	prior := q.Prior
	if prior == nil {
		prior = &state.Entry{ID: q.Want.ID, Created: true}
	}
	r := deploy.Request{Query: deploy.Query{Prior: prior, Stack: "s1", Salt: "salt"}, Gone: true}
	r.Seen = w.observe(r.Query)
	if err := w.d.Delete(w.ctx(), r); err != nil {
		w.t.Fatal(err)
	}
	if err := w.d.Wait(w.ctx(), r, nil); err != nil {
		w.t.Fatal(err)
	}
}

// mustLose removes an object behind everybody's back and waits until it is gone.
func (w *world) mustLose(id resource.ID) {
	w.t.Helper()
	if err := w.k.Remove(w.ctx(), id); err != nil {
		w.t.Fatal(err)
	}
	if err := w.k.Wait(w.ctx(), deploy.Request{Gone: true, Query: deploy.Query{Want: &resource.Object{ID: id}}}, nil); err != nil {
		w.t.Fatal(err)
	}
}

// differences lists what an observation would change: "release" and the children by kind.
func differences(obs plan.Observation) []string {
	var out []string
	if state.Fingerprint("", obs.Live) != state.Fingerprint("", obs.Predicted) {
		out = append(out, "release")
	}
	for _, c := range obs.Children {
		if state.Fingerprint("", c.Live) != state.Fingerprint("", c.Predicted) {
			out = append(out, c.ID.Kind+" "+c.ID.Name)
		}
	}
	return out
}

func (w *world) mustBeEmpty(q deploy.Query) plan.Observation {
	w.t.Helper()
	obs := w.observe(q)
	if d := differences(obs); len(d) > 0 || obs.Recover != "" || obs.Facts["action"] != "none" {
		for _, c := range obs.Children {
			w.t.Log(cmp.Diff(c.Live, c.Predicted))
		}
		w.t.Fatalf("the plan after apply is not empty: %v, action %v\n%+v\n%+v", d, obs.Facts["action"], obs.Live, obs.Predicted)
	}
	return obs
}

// chart writes a small chart and returns its directory.
func chart(t *testing.T, name string, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	files["Chart.yaml"] = "apiVersion: v2\nname: " + name + "\nversion: 1.0.0\n"
	for path, text := range files {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
