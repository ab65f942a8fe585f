package helm_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/plan"
)

// What the published charts of Istio and cert-manager brought to light.

// TestSlowHookIsReported: Helm says nothing while a hook runs, for minutes where one never ends.
func TestSlowHookIsReported(t *testing.T) {
	w := newWorld(t)
	q := w.release("a", map[string]any{"wait": true, "chart": chart(t, "hooked", map[string]string{
		"templates/h.yaml": fmt.Sprintf(hooked, "startup-check", "post-install", "sleep 5"),
	})})
	var mu sync.Mutex
	var said []string
	r := deploy.Request{Query: q, Seen: w.observe(q), Report: func(p plan.Readiness) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, p.Reason)
	}}
	if _, err := w.d.Apply(w.ctx(), r); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	if text := strings.Join(said, "\n"); !strings.Contains(text, "hook Job "+w.ns+"/startup-check: ") {
		t.Errorf("reports: %q", said)
	}
	mu.Unlock()
	w.mustGo(q)
}

// TestKeptObjectsAreNamed: what a chart keeps is no part of a plan's removals, and is not passed over in silence.
func TestKeptObjectsAreNamed(t *testing.T) {
	w := newWorld(t)
	q := w.apply(w.release("a", map[string]any{"wait": true, "chart": chart(t, "keeper", map[string]string{
		"templates/a.yaml": configMap("goes", "x: one"),
		"templates/b.yaml": strings.Replace(configMap("stays", "x: one"), "name: stays", "name: stays, annotations: {helm.sh/resource-policy: keep}", 1),
	})}))
	obs, err := w.d.Observe(w.ctx(), deploy.Query{Prior: q.Prior, Stack: "s1"})
	if err != nil || len(obs.Children) != 1 || obs.Children[0].ID.Name != "goes" {
		t.Fatalf("the plan of destruction has %+v, %v", obs.Children, err)
	}
	if want := []string{"1 object(s) stay, since the chart keeps them (helm.sh/resource-policy): ConfigMap " + w.ns + "/stays"}; !cmp.Equal(obs.Notes, want) {
		t.Errorf("notes %q", obs.Notes)
	}
	w.mustGo(q)
	if w.get("v1", "ConfigMap", "stays") == nil {
		t.Error("what the chart keeps is gone")
	}
}

// TestIstioDefaultsAreKnown: its charts keep their defaults under a key of their own.
func TestIstioDefaultsAreKnown(t *testing.T) {
	w := newWorld(t)
	q := w.release("a", map[string]any{
		"chart": chart(t, "istiod", map[string]string{
			"values.yaml":      "_internal_defaults_do_not_set:\n  pilot: {env: {}, traceSampling: 1.0}\n",
			"templates/a.yaml": configMap("a", "x: one"),
		}),
		"values": map[string]any{"pilot": map[string]any{"env": map[string]any{"X": "true"}, "traceSamplin": 2.0}},
	})
	if got := w.observe(q).Warnings; len(got) != 1 || !strings.Contains(got[0], "did you mean pilot.traceSampling?") {
		t.Errorf("warnings: %q", got)
	}
}
