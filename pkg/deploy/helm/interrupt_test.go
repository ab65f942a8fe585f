package helm_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/deploy/helm"
)

func TestInterruptedInstallConverges(t *testing.T) {
	w := newWorld(t)
	dir := chart(t, "two", map[string]string{
		"templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Service\nmetadata: {name: b}\nspec: {ports: [{port: 80}]}\n",
	})
	q := w.release("a", map[string]any{"chart": dir, "wait": true})
	ctx, cancel := context.WithCancel(w.ctx())
	cfg := rest.CopyConfig(w.config)
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/secrets") {
				defer cancel() // once the record is written, before the objects are made
			}
			return next.RoundTrip(r)
		})
	})
	d, err := helm.New(cfg, w.k, helm.Options{CacheDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Apply(ctx, deploy.Request{Query: q, Seen: w.observe(q)}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	last, err := w.records().Last("a")
	if err != nil || last.Info.Status == "deployed" {
		t.Fatalf("%v %v", last, err)
	}
	t.Logf("left as %s: %s", last.Info.Status, last.Info.Description)
	q = w.apply(q)
	w.mustBeEmpty(q)
	w.mustGo(q)
}
