package helm_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mifbench/mifbench/pkg/deploy"
)

// publishedVariable names a directory that holds the published archives, which are not ours
// to commit: heimdall-v0.7.1.tgz, moai-inference-preset-v0.5.0.tgz, odin-crd-v0.8.0.tgz.
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
	q = w.apply(q)
	w.fresh()
	obs := w.mustBeEmpty(q)
	t.Logf("%d objects, warnings %q, notes %q", len(obs.Children), obs.Warnings, obs.Notes)
	spec["values"].(map[string]any)["replicas"] = int64(2)
	if got := differences(w.observe(q)); !cmp.Equal(got, []string{"release", "Deployment heimdall"}) {
		t.Fatal(got)
	}
	q = w.apply(q)
	w.mustBeEmpty(q)
	w.mustGo(q)
	for _, c := range obs.Children {
		if live, err := w.k.Get(w.ctx(), c.ID); live != nil || err != nil {
			t.Errorf("%s is left: %v", c.ID, err)
		}
	}
}

func (w *world) mustGo(q deploy.Query) {
	w.t.Helper()
	r := deploy.Request{Query: deploy.Query{Prior: q.Prior, Stack: "s1"}, Gone: true}
	if err := w.d.Delete(w.ctx(), r); err != nil {
		w.t.Fatal(err)
	}
	if err := w.d.Wait(w.ctx(), r, nil); err != nil {
		w.t.Fatal(err)
	}
}

func TestPublishedPresets(t *testing.T) {
	archive := published(t, "moai-inference-preset-v0.5.0.tgz")
	w := newWorld(t)
	q := w.apply(w.release("presets", map[string]any{"chart": archive, "wait": true}))
	obs := w.mustBeEmpty(q)
	t.Logf("%d objects, warnings %q, notes %q", len(obs.Children), obs.Warnings, obs.Notes)
	w.mustGo(q)
}

func TestPublishedOdinCRDsNearlyFillTheirRecord(t *testing.T) {
	archive := published(t, "odin-crd-v0.8.0.tgz")
	w := newWorld(t)
	obs := w.observe(w.release("odin-crd", map[string]any{"chart": archive, "wait": true, "takeOwnership": true}))
	if len(obs.Warnings) == 0 || !strings.Contains(strings.Join(obs.Warnings, "\n"), "% of the one Secret") {
		t.Errorf("warnings: %q", obs.Warnings)
	}
	t.Logf("warnings %.600q provides %v", obs.Warnings, obs.Provides)
}
