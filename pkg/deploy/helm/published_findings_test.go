package helm_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
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

// TestIgnoredFieldsOfARelease: what healing can leave alone it does; what an upgrade cannot is said.
func TestIgnoredFieldsOfARelease(t *testing.T) {
	w := newWorld(t)
	q := w.release("a", map[string]any{"chart": chart(t, "scaled", map[string]string{
		"values.yaml": "level: low\n",
		"templates/a.yaml": configMap("settings", "level: {{ .Values.level }}") + "---\n" +
			"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 1\n  selector: {matchLabels: {app: web}}\n" +
			"  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: any}]}}\n",
	})})
	q.Want.Options.IgnoreChanges = []string{"/spec/replicas"}
	q = w.apply(q)
	change := func(kind, name string, spec map[string]any) {
		t.Helper()
		version := map[string]string{"Deployment": "apps/v1", "ConfigMap": "v1"}[kind]
		id := resource.ID{Driver: resource.DriverKube, APIVersion: version, Kind: kind, Namespace: w.ns, Name: name}
		spec["apiVersion"], spec["kind"], spec["metadata"] = version, kind, map[string]any{"name": name, "namespace": w.ns}
		if err := w.k.Merge(w.ctx(), resource.Object{ID: id, Spec: spec}, nil); err != nil {
			t.Fatal(err)
		}
	}
	replicas := func() any { return at(t, w.get("apps/v1", "Deployment", "web"), "spec", "replicas") }
	change("Deployment", "web", map[string]any{"spec": map[string]any{"replicas": int64(3)}}) // an autoscaler
	w.mustBeEmpty(q)
	change("ConfigMap", "settings", map[string]any{"data": map[string]any{"level": "edited"}})
	if got := differences(w.observe(q)); !cmp.Equal(got, []string{"ConfigMap settings"}) {
		t.Fatal(got)
	}
	q = w.apply(q)
	if got := replicas(); fmt.Sprint(got) != "3" {
		t.Fatalf("healing another object set the ignored field to %v", got)
	}
	q.Want.Spec["values"] = map[string]any{"level": "high"}
	obs := w.observe(q)
	if want := "ignore_changes cannot keep /spec/replicas through an upgrade, for which Helm writes what the chart renders (3 -> 1)"; len(obs.Warnings) != 1 || !strings.Contains(obs.Warnings[0], want) {
		t.Errorf("warnings: %q", obs.Warnings)
	}
	w.apply(q)
	if got := replicas(); fmt.Sprint(got) != "1" {
		t.Errorf("the warning is wrong: the upgrade left %v", got)
	}
}

// TestIstioDefaultsAreKnown: its charts keep their defaults under a key of their own.
func TestIstioDefaultsAreKnown(t *testing.T) {
	w := newWorld(t)
	q := w.release("a", map[string]any{
		"chart": chart(t, "istiod", map[string]string{
			"values.yaml":      "_internal_defaults_do_not_set:\n  pilot: {env: {}, traceSampling: 1.0}\n",
			"templates/a.yaml": configMap("a", "x: one"),
			"templates/z.yaml": "{{- with index $.Values \"legacy\" }}{{ end }}",
		}),
		"values": map[string]any{"legacy": map[string]any{"x": "y"}, "pilot": map[string]any{"env": map[string]any{"X": "true"}, "traceSamplin": 2.0}},
	})
	if got := w.observe(q).Warnings; len(got) != 1 || !strings.Contains(got[0], "did you mean pilot.traceSampling?") {
		t.Errorf("warnings: %q", got)
	}
}
