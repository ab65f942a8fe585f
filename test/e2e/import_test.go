package e2e

import (
	"os"
	"path/filepath"
	"testing"
)

const importedStack = `mifbench { stack = "e2e-import" }
cluster { context = "localcluster" }
namespace "bench" { name = "e2e-import" }
helm_release "chart" {
  namespace = namespace.bench.name
  chart     = "./chart"
  values    = { level = "low" }
}
`

// TestImportOfAHelmUsersRelease: a release of the helm command line is taken over as it is, and stays one
// that the helm command line can go on with.
func TestImportOfAHelmUsersRelease(t *testing.T) {
	u := newUser(t, "e2e-import")
	u.write("stack.mif.hcl", importedStack)
	chart := filepath.Join(u.dir, "chart")
	if err := os.CopyFS(chart, os.DirFS("testdata/chart")); err != nil {
		t.Fatal(err)
	}
	u.env = append(u.env, "HELM_CONFIG_HOME="+u.dir, "HELM_CACHE_HOME="+u.dir, "HELM_DATA_HOME="+u.dir)
	u.helm("install", "chart", chart, "-n", "e2e-import", "--create-namespace", "--set", "level=low")
	before := u.kubectl("-n", "e2e-import", "get", "service,configmap", "-o", "jsonpath={.items[*].metadata.resourceVersion}")

	contains(t, u.must(1, "plan"), "import", "helm_release.chart")
	contains(t, u.must(0, "import", "namespace.bench"), "imported namespace.bench")
	contains(t, u.must(0, "import", "helm_release.chart"), "imported helm_release.chart")
	out := u.must(2, "plan", "--detailed-exitcode")
	contains(t, out, "2 to change", "stack", "e2e-import")
	u.must(0, "apply", "--auto-approve")
	contains(t, u.must(0, "plan", "--detailed-exitcode"), "No changes.")
	if after := u.kubectl("-n", "e2e-import", "get", "service,configmap", "-o", "jsonpath={.items[*].metadata.resourceVersion}"); after != before {
		t.Errorf("the release's objects were written: %s, before %s", after, before)
	}

	contains(t, u.helm("history", "chart", "-n", "e2e-import"), "deployed")
	contains(t, u.helm("upgrade", "chart", chart, "-n", "e2e-import", "--set", "level=high"), "REVISION: 2")
	contains(t, u.must(2, "plan", "--detailed-exitcode"), "high", "low")
	u.must(0, "apply", "--auto-approve")
	contains(t, u.must(0, "plan", "--detailed-exitcode"), "No changes.")
	contains(t, u.helm("history", "chart", "-n", "e2e-import"), "superseded")
	u.helm("rollback", "chart", "1", "-n", "e2e-import")
	contains(t, u.must(0, "apply", "--auto-approve"), "No changes.")
}
