package helm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mifbench/mifbench/pkg/deploy"
)

// helmVariable names the variable that holds the path of the helm command; the default is bin/helm of this
// repository, which `make helm-build` builds from the module that the driver is built from.
const helmVariable = "MIFBENCH_HELM"

// commandLine is the helm command with a configuration of its own.
type commandLine struct {
	w    *world
	path string
	env  []string
}

func newCommandLine(w *world) commandLine {
	w.t.Helper()
	path := os.Getenv(helmVariable)
	if path == "" {
		path = filepath.Join("..", "..", "..", "bin", "helm")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("MIFBENCH_REQUIRE_HELM") == "1" {
			w.t.Fatal(err)
		}
		w.t.Skip("no helm command; build it with: make helm-build")
	}
	dir := w.t.TempDir()
	return commandLine{w, path, append(os.Environ(), "KUBECONFIG="+w.c.Kubeconfig, "HELM_NAMESPACE="+w.ns,
		"HELM_CONFIG_HOME="+dir, "HELM_CACHE_HOME="+dir, "HELM_DATA_HOME="+dir)}
}

func (h commandLine) run(args ...string) string {
	h.w.t.Helper()
	ctx, cancel := context.WithTimeout(h.w.t.Context(), 90*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, h.path, args...)
	cmd.Env = h.env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		h.w.t.Fatalf("helm %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

func (h commandLine) json(into any, args ...string) {
	h.w.t.Helper()
	out := h.run(append(args, "-o", "json")...)
	if err := json.Unmarshal([]byte(out), into); err != nil {
		h.w.t.Fatalf("helm %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

type listed struct {
	Name, Revision, Status, Chart string
}

func (h commandLine) list() []listed {
	var out []listed
	h.json(&out, "list")
	return out
}

func (w *world) data(name, key string) any {
	w.t.Helper()
	return at(w.t, w.get("v1", "ConfigMap", name), "data", key)
}

// TestOurReleasesAreHelms: a release of ours is one of the helm command's in every way, and what that
// does to it is seen and healed.
func TestOurReleasesAreHelms(t *testing.T) {
	w := newWorld(t)
	h := newCommandLine(w)
	dir := plain(t)
	q := w.apply(w.release("a", map[string]any{"chart": dir, "wait": true, "values": map[string]any{"greeting": "ours"}}))
	if diff := cmp.Diff([]listed{{"a", "1", "deployed", "plain-1.0.0"}}, h.list()); diff != "" {
		t.Error(diff)
	}
	var values map[string]any
	if h.json(&values, "get", "values", "a"); !cmp.Equal(values, map[string]any{"greeting": "ours"}) {
		t.Error(values)
	}
	if out := h.run("status", "a"); !strings.Contains(out, "STATUS: deployed") {
		t.Error(out)
	}
	if out := h.run("get", "hooks", "a"); !strings.Contains(out, "a-hook") {
		t.Error(out)
	}
	heal := func(revision, by string) {
		t.Helper()
		w.fresh()
		obs := w.observe(q)
		if got := differences(obs); obs.Version != revision || obs.Owner != "s1" || !cmp.Equal(got, []string{"release", "ConfigMap a"}) {
			t.Fatalf("after %s: revision %s, owner %q, differences %v", by, obs.Version, obs.Owner, got)
		}
		q = w.apply(q)
		w.mustBeEmpty(q)
		if got := w.data("a", "greeting"); got != "ours" {
			t.Fatalf("after %s and apply: %v", by, got)
		}
	}
	h.run("upgrade", "a", dir, "--set", "greeting=by-hand")
	heal("2", "helm upgrade")
	h.run("rollback", "a", "2")
	heal("4", "helm rollback")
	h.run("upgrade", "a", dir, "--reuse-values")
	w.fresh()
	if obs := w.mustBeEmpty(q); obs.Version != "6" {
		t.Errorf("an upgrade that changes nothing is revision %s", obs.Version)
	}
	h.run("uninstall", "a")
	if obs := w.observe(q); obs.Exists || obs.Facts["action"] != "install" {
		t.Fatalf("after helm uninstall: %+v", obs)
	}
	q = w.apply(q)
	w.mustBeEmpty(q)
	w.mustGo(q)
	if got := h.list(); len(got) != 0 {
		t.Errorf("after destroy helm still lists %v", got)
	}
}

// TestHelmsReleasesBecomeOurs: one that the helm command made is refused, then adopted or imported without a
// new revision; the command goes on working.
func TestHelmsReleasesBecomeOurs(t *testing.T) {
	w := newWorld(t)
	h := newCommandLine(w)
	dir := plain(t)
	h.run("install", "a", dir, "--set", "greeting=theirs")
	q := w.release("a", map[string]any{"chart": dir, "wait": true, "values": map[string]any{"greeting": "theirs"}})
	if _, err := w.d.Apply(w.ctx(), deploy.Request{Query: q, Seen: w.observe(q)}); !errors.Is(err, deploy.ErrNotOurs) {
		t.Fatal(err)
	}
	q.Want.Options.Adopt = true
	if obs := w.observe(q); obs.Facts["action"] != "own" || !cmp.Equal(differences(obs), []string{"release"}) {
		t.Fatalf("%v %v", obs.Facts["action"], differences(obs))
	}
	q = w.apply(q)
	if obs := w.mustBeEmpty(q); obs.Owner != "s1" || obs.Version != "1" {
		t.Errorf("owner %q, revision %s", obs.Owner, obs.Version)
	}
	found, err := w.d.List(w.ctx(), "s1", deploy.Scope{})
	if err != nil || !hasRelease(found, q.Want.ID, q.Want.Address) {
		t.Errorf("%+v, %v", found, err)
	}
	h.run("upgrade", "a", dir, "--set", "greeting=by-hand")
	q = w.apply(q)
	w.mustBeEmpty(q)
	if got := w.data("a", "greeting"); got != "theirs" {
		t.Error(got)
	}
	h.run("uninstall", "a")
}
