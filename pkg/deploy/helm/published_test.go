package helm_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mifbench/mifbench/internal/clustertest"
	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
)

// publishedVariable names a directory that holds the published archives, which are not ours
// to commit: heimdall-v0.7.1.tgz, moai-inference-preset-v0.5.0.tgz, odin-crd-v0.8.0.tgz, and
// odin-crd-v0.7.0.tgz for an upgrade of the definitions.
const publishedVariable = "MIFBENCH_PUBLISHED_CHARTS"

func published(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv(publishedVariable)
	if dir == "" {
		t.Skip(publishedVariable + " is not set")
	}
	return filepath.Join(dir, name)
}

func TestPublishedHeimdall(t *testing.T) {
	archive := published(t, "heimdall-v0.7.1.tgz")
	w := newWorld(t)
	q := w.heimdall()
	spec := map[string]any{"chart": archive, "wait": true, "values": q.Want.Spec["values"]}
	q.Want.Spec = spec
	q.Want.Options.CreateTimeout = 0
	w.cycle(q, func(spec map[string]any) {
		spec["values"].(map[string]any)["replicas"] = int64(2)
	}, "release", "Deployment heimdall")
}

// cycle installs, plans again, changes one thing and uninstalls; it logs what each took, in time and requests.
// The objects that differ afterwards are those that the plan named, and nothing else is touched.
func (w *world) cycle(q deploy.Query, change func(spec map[string]any), changed ...string) {
	w.t.Helper()
	step := func(name string, do func()) {
		start, sent := time.Now(), w.requests.Load()
		do()
		w.t.Logf("%-12s %6.2f s, %4d requests", name, time.Since(start).Seconds(), w.requests.Load()-sent)
	}
	step("install", func() { q = w.apply(q) })
	w.fresh()
	var obs plan.Observation
	step("second plan", func() { obs = w.mustBeEmpty(q) })
	w.t.Logf("%d objects, warnings %q, notes %q", len(obs.Children), obs.Warnings, obs.Notes)
	change(q.Want.Spec)
	planned := w.observe(q)
	got := differences(planned)
	if len(changed) > 0 && !cmp.Equal(got, changed) {
		w.t.Errorf("one thing changed: %v, want %v", got, changed)
	}
	before := w.versions(planned)
	step("upgrade", func() { q = w.apply(q) })
	w.t.Logf("one thing changed: %d live objects", len(got)-1)
	if differ := w.differ(before, w.versions(planned)); !cmp.Equal(differ, got[1:]) {
		w.t.Errorf("the upgrade changed %v, the plan said %v", differ, got[1:])
	}
	w.mustBeEmpty(q)
	step("uninstall", func() { w.mustGo(q) })
	for _, c := range obs.Children {
		if live, err := w.k.Get(w.ctx(), c.ID); live != nil || err != nil {
			w.t.Errorf("%s is left: %v", c.ID, err)
		}
	}
	if list, err := w.d.List(w.ctx(), "s1", deploy.Scope{}); err != nil || len(list) > 0 {
		w.t.Errorf("records are left: %v, %v", list, err)
	}
}

// version is what the server has of an object.
type version struct {
	id     resource.ID
	object map[string]any
}

// versions reads the objects of a release, without what the server writes about them.
func (w *world) versions(obs plan.Observation) []version {
	w.t.Helper()
	var out []version
	for _, c := range obs.Children {
		live, err := w.k.Get(w.ctx(), c.ID)
		if err != nil {
			w.t.Fatal(err)
		}
		if live == nil {
			out = append(out, version{c.ID, nil})
			continue
		}
		delete(live, "status")
		meta := live["metadata"].(map[string]any)
		for _, own := range []string{"resourceVersion", "managedFields", "generation"} {
			delete(meta, own)
		}
		if notes, ok := meta["annotations"].(map[string]any); ok {
			delete(notes, "deployment.kubernetes.io/revision")
		}
		out = append(out, version{c.ID, live})
	}
	return out
}

// differ names the objects that are not as they were.
func (w *world) differ(before, after []version) []string {
	out := []string{}
	for i, b := range before {
		if !cmp.Equal(b.object, after[i].object) {
			out = append(out, b.id.Kind+" "+b.id.Name)
		}
	}
	return out
}

func TestPublishedPresets(t *testing.T) {
	archive := published(t, "moai-inference-preset-v0.5.0.tgz")
	w := newWorld(t)
	w.cycle(w.release("presets", map[string]any{"chart": archive, "wait": true}), func(spec map[string]any) {
		spec["values"] = map[string]any{"commonLabels": map[string]any{"team": "bench"}}
	})
}

// TestPublishedOdinCRDs needs a cluster of its own: the shared one has the definitions already.
func TestPublishedOdinCRDs(t *testing.T) {
	archive := published(t, "odin-crd-v0.8.0.tgz")
	w := newWorldOn(t, clustertest.Start(t, clustertest.WithoutCRDs()))
	q := w.release("odin-crd", map[string]any{"chart": archive, "wait": true})
	obs := w.observe(q)
	if !strings.Contains(strings.Join(obs.Warnings, "\n"), "% of the one Secret") {
		t.Errorf("warnings: %q", obs.Warnings)
	}
	t.Logf("provides %v", obs.Provides.Kinds)
	// The chart has no values and no template actions: any value changes the record alone.
	w.cycle(q, func(spec map[string]any) {
		spec["values"] = map[string]any{"commonLabels": map[string]any{"team": "bench"}}
	}, "release")
}

// TestPublishedOdinCRDsUpgraded: what changes live definitions is another version of the chart.
func TestPublishedOdinCRDsUpgraded(t *testing.T) {
	older, archive := published(t, "odin-crd-v0.7.0.tgz"), published(t, "odin-crd-v0.8.0.tgz")
	if _, err := os.Stat(older); err != nil {
		t.Skip(err)
	}
	w := newWorldOn(t, clustertest.Start(t, clustertest.WithoutCRDs()))
	w.cycle(w.release("odin-crd", map[string]any{"chart": older, "wait": true}), func(spec map[string]any) { spec["chart"] = archive })
}
