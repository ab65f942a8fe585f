package e2e

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mifbench/mifbench/internal/faultproxy"
)

// stormy is a user whose way to the API server leads through a fault proxy.
type stormy struct {
	*user
	p *faultproxy.Proxy
}

// newStormy gives a test the configuration in testdata under its own stack's name.
func newStormy(t *testing.T, config, stack string, opts ...faultproxy.Option) stormy {
	t.Helper()
	if _, err := os.Stat(binaryPath()); err != nil {
		t.Skip("bin/mifbench is missing: make build")
	}
	c := cluster.Get(t)
	u := stormy{&user{t: t, dir: t.TempDir(), env: os.Environ()}, faultproxy.Start(t, c.Kubeconfig, opts...)}
	for k, v := range c.Env {
		u.env = append(u.env, k+"="+v)
	}
	u.env = append(u.env, "KUBECONFIG="+u.p.Kubeconfig)
	u.write("stack.mif.hcl", strings.ReplaceAll(read(t, "testdata/"+config), "e2e", stack))
	if err := os.CopyFS(filepath.Join(u.dir, "chart"), os.DirFS("testdata/chart")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		u.p.Clear()
		if out, err := u.try("destroy", "--auto-approve"); err != nil {
			t.Errorf("destroy at the end: %v\n%s", err, out)
		}
	})
	return u
}

// converge expects that an apply in fair weather comes to its end and leaves nothing to do.
func (u stormy) converge() {
	u.t.Helper()
	u.p.Clear()
	u.must(0, "apply", "--auto-approve")
	contains(u.t, u.must(0, "plan", "--detailed-exitcode"), "No changes.")
}

// live reads an object as the server has it, nil when there is none.
func (u stormy) live(path string) map[string]any {
	u.t.Helper()
	status, body := u.p.Do(u.t, http.MethodGet, path, "", "")
	if status == http.StatusNotFound {
		return nil
	}
	var out map[string]any
	if err := json.Unmarshal(body, &out); err != nil || status != http.StatusOK {
		u.t.Fatalf("read %s: %d %v %s", path, status, err, body)
	}
	return out
}

// patch writes a merge patch as somebody else.
func (u stormy) patch(path, manager, text string) {
	u.t.Helper()
	status, body := u.p.Do(u.t, http.MethodPatch, path+"?fieldManager="+manager, "application/merge-patch+json", text)
	if status != http.StatusOK {
		u.t.Fatalf("patch %s: %d %s", path, status, body)
	}
}

// at follows map keys.
func at(v any, path ...string) any {
	for _, p := range path {
		m, _ := v.(map[string]any)
		v = m[p]
	}
	return v
}
