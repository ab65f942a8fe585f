package kube

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/mifbench/mifbench/internal/clustertest"
	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/state"
)

var cluster = clustertest.NewShared(clustertest.RestartBackoff("100ms"))

func TestMain(m *testing.M) { os.Exit(cluster.Main(m)) }

// world is one test's view of the shared cluster: a driver that counts requests, a namespace.
type world struct {
	t  *testing.T
	d  *Driver
	ns string

	requests atomic.Int64
	mu       sync.Mutex
	log      []string
}

var namespaces atomic.Int64

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t}
	w.d = w.driver(nil)
	w.ns = fmt.Sprintf("t%d-%d", os.Getpid(), namespaces.Add(1))
	w.kubectl(object("v1", "Namespace", "", w.ns, nil))
	t.Cleanup(func() {
		_ = w.d.Remove(context.Background(), resource.ID{APIVersion: "v1", Kind: "Namespace", Name: w.ns})
	})
	return w
}

// driver makes a further driver, with the configuration changed by change.
func (w *world) driver(change func(*rest.Config)) *Driver {
	w.t.Helper()
	c := cluster.Get(w.t)
	cfg, _, err := load(Options{Kubeconfig: c.Kubeconfig, Context: c.Context})
	if err != nil {
		w.t.Fatal(err)
	}
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			w.requests.Add(1)
			w.mu.Lock()
			w.log = append(w.log, r.Method+" "+r.URL.Path+"?"+r.URL.RawQuery)
			w.mu.Unlock()
			return next.RoundTrip(r)
		})
	})
	if change != nil {
		change(cfg)
	}
	d, err := New(cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	d.cluster.Context = c.Context
	return d
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (w *world) ctx() context.Context {
	ctx, cancel := context.WithTimeout(w.t.Context(), 90*time.Second)
	w.t.Cleanup(cancel)
	return ctx
}

// kubectl writes an object as somebody else, by another field manager.
func (w *world) kubectl(o *resource.Object) {
	w.t.Helper()
	w.as("kubectl-edit", o)
}

func (w *world) as(manager string, o *resource.Object) {
	w.t.Helper()
	body, err := yaml.Marshal(o.Spec)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.d.applyAs(w.ctx(), o.ID, body, manager); err != nil {
		w.t.Fatal(err)
	}
}

func object(apiVersion, kind, ns, name string, body map[string]any) *resource.Object {
	meta := map[string]any{"name": name}
	if ns != "" {
		meta["namespace"] = ns
	}
	spec := map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": meta}
	for k, v := range body {
		spec[k] = v
	}
	return &resource.Object{
		Address: resource.Address{Kind: "manifest", Name: strings.ReplaceAll(name, "-", "_")},
		ID:      resource.ID{Driver: resource.DriverKube, APIVersion: apiVersion, Kind: kind, Namespace: ns, Name: name},
		Spec:    spec,
	}
}

// yamlObject reads a manifest; whole numbers become int64 as the configuration's are.
func yamlObject(t *testing.T, ns, text string) *resource.Object {
	t.Helper()
	o := decode(t, text)
	meta := metaOf(o)
	if ns != "" {
		meta["namespace"] = ns
	}
	return object(o["apiVersion"].(string), o["kind"].(string), ns, meta["name"].(string), o)
}

func (w *world) query(o *resource.Object) deploy.Query {
	return deploy.Query{Want: o, Stack: "s1", Salt: "salt"}
}

func (w *world) observe(q deploy.Query) plan.Observation {
	w.t.Helper()
	obs, err := w.d.Observe(w.ctx(), q)
	if err != nil {
		w.t.Fatal(err)
	}
	return obs
}

// apply plans and applies; the result is the query with the entry that the engine would record.
func (w *world) apply(q deploy.Query) deploy.Query {
	w.t.Helper()
	q, err := w.tryApply(q)
	if err != nil {
		w.t.Fatal(err)
	}
	return q
}

func (w *world) tryApply(q deploy.Query) (deploy.Query, error) {
	w.t.Helper()
	res, err := w.d.Apply(w.ctx(), deploy.Request{Query: q, Seen: w.observe(q)})
	if err != nil {
		return q, err
	}
	created := res.Created || q.Prior != nil && q.Prior.Created
	q.Prior = &state.Entry{ID: q.Want.ID, UID: res.UID, Created: created, Fingerprint: res.Fingerprint}
	return q, nil
}

func (w *world) mustBeEmpty(q deploy.Query) {
	w.t.Helper()
	obs := w.observe(q)
	if c := changes("", any(obs.Live), any(obs.Predicted)); len(c) > 0 || !obs.Exists {
		w.t.Fatalf("the plan after apply is not empty: exists %v, changes %v\nlive %v\npredicted %v", obs.Exists, c, obs.Live, obs.Predicted)
	}
}
