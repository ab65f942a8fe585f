package helm_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/mifbench/mifbench/pkg/deploy/helm"
)

// TestRecord: a release as the checks see it, in one request.
func TestRecord(t *testing.T) {
	w := newWorld(t)
	if r, err := w.d.Record(w.ctx(), w.ns, "heimdall"); r != nil || err != nil {
		t.Fatalf("no release: %+v, %v", r, err)
	}
	w.apply(w.heimdall())
	before := w.requests.Load()
	r, err := w.d.Record(w.ctx(), w.ns, "heimdall")
	if err != nil {
		t.Fatal(err)
	}
	if n := w.requests.Load() - before; n != 1 {
		t.Errorf("%d requests", n)
	}
	if r.Updated.IsZero() || r.About == "" {
		t.Errorf("%+v", *r)
	}
	got := []any{r.Revision, r.Status, r.Chart, r.Version, r.Stack}
	if diff := cmp.Diff([]any{1, "deployed", "heimdall", "v0.7.1", "s1"}, got); diff != "" {
		t.Error(diff)
	}
	w.rewrite("heimdall", func(r *release.Release) { r.Info.Status = release.StatusPendingUpgrade })
	if r, err = w.d.Record(w.ctx(), w.ns, "heimdall"); err != nil || r.Status != "pending-upgrade" {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestRecordSaysForbidden: a missing right is told from a failure by its class.
func TestRecordSaysForbidden(t *testing.T) {
	w := newWorld(t)
	cfg := rest.CopyConfig(w.config)
	cfg.Impersonate.UserName = "nobody"
	d, err := helm.New(cfg, w.k, helm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Record(w.ctx(), w.ns, "heimdall"); !errors.IsForbidden(err) {
		t.Errorf("got %v", err)
	}
}
