package helm_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

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

// TestInterruptDuringAHook: the wait for a hook ends with the context, and Helm has recorded that before
// Apply returns; nothing of it goes on behind our back.
func TestInterruptDuringAHook(t *testing.T) {
	w := newWorld(t)
	files := map[string]string{
		"templates/a.yaml": configMap("a", "x: one"),
		"templates/h.yaml": fmt.Sprintf(hooked, "slow", "pre-install,pre-upgrade", "{{ .Values.command }}"),
		"values.yaml":      "command: sleep 300\n",
	}
	q := w.release("a", map[string]any{"chart": chart(t, "slow", files), "wait": true})
	ctx, cancel := context.WithCancel(w.ctx())
	cfg := rest.CopyConfig(w.config)
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.URL.Query().Get("watch") != "" && strings.HasSuffix(r.URL.Path, "/jobs") {
				cancel()
			}
			return next.RoundTrip(r)
		})
	})
	d, err := helm.New(cfg, w.k, helm.Options{CacheDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	seen := w.observe(q)
	start := time.Now()
	if _, err := d.Apply(ctx, deploy.Request{Query: q, Seen: seen}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("Apply returned after %s", took)
	}
	last, err := w.records().Last("a")
	if err != nil || last.Info.Status != "failed" {
		t.Fatalf("%+v, %v", last, err)
	}
	if w.get("v1", "ConfigMap", "a") != nil {
		t.Error("Helm went on")
	}
	q.Want.Spec["values"] = map[string]any{"command": "exit 0"}
	q = w.apply(q)
	w.mustBeEmpty(q)
	w.mustGo(q)
}
