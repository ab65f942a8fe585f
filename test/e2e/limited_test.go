package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The stack of somebody who has rights in one namespace that others made.
const limitedStack = `mifbench {
  stack = "e2e-limited"
  backend "kubernetes" { namespace = "e2e-limited" }
}
cluster { context = "localcluster" }
manifest "settings" {
  object = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "settings", namespace = "e2e-limited" }
    data       = { level = "low" }
  }
}
helm_release "chart" {
  namespace = "e2e-limited"
  chart     = "./chart"
  values    = { image = "example.org/web:1" }
}
`

// What its user may do there, and nowhere else.
const limitedRights = `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: limited, namespace: e2e-limited}
rules:
- {apiGroups: ["", apps], resources: [configmaps, secrets, services, deployments], verbs: [get, list, watch, create, update, patch, delete]}
- {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [get, create, update, delete]}
- {apiGroups: ["", apps], resources: [pods, pods/log, events, replicasets], verbs: [get, list, watch]}
`

// limited is a user with rights in one namespace only, and admin the same one with all rights.
func limited(t *testing.T) (u, admin *user) {
	t.Helper()
	u = bareUser(t)
	u.write("stack.mif.hcl", limitedStack)
	u.write("rights.yaml", limitedRights)
	if err := os.CopyFS(filepath.Join(u.dir, "chart"), os.DirFS("testdata/chart")); err != nil {
		t.Fatal(err)
	}
	admin = &user{t: t, dir: u.dir, env: u.env}
	admin.kubectl("create", "namespace", "e2e-limited")
	t.Cleanup(func() { admin.kubectl("delete", "namespace", "e2e-limited") })
	admin.kubectl("apply", "-f", filepath.Join(u.dir, "rights.yaml"))
	admin.kubectl("-n", "e2e-limited", "create", "serviceaccount", "limited")
	admin.kubectl("-n", "e2e-limited", "create", "rolebinding", "limited", "--role=limited", "--serviceaccount=e2e-limited:limited")
	u.as("limited", "-n", "e2e-limited")
	return u, admin
}

const knownByCA = "Known by its CA (ConfigMap kube-root-ca.crt)"

func TestLimitedUser(t *testing.T) {
	u, admin := limited(t)
	contains(t, u.must(2, "plan", "--detailed-exitcode"), knownByCA, "Plan: 2 to add")
	contains(t, u.must(0, "apply", "--auto-approve"), "2 added")
	contains(t, u.must(0, "plan", "--detailed-exitcode"), knownByCA, "No changes.")
	u.must(0, "check")

	// The administrator's word and the user's are of one cluster, whoever comes first.
	if out := admin.must(0, "plan", "--detailed-exitcode"); strings.Contains(out, knownByCA) {
		t.Errorf("an administrator knows better:\n%s", out)
	}
	contains(t, admin.must(0, "apply", "--auto-approve"), "No changes.")
	contains(t, admin.must(0, "state", "pull"), `"clusterUID"`, `"clusterCA": "sha256:`)
	contains(t, u.must(0, "plan", "--detailed-exitcode"), "No changes.")
	contains(t, u.must(0, "destroy", "--auto-approve"), "0 objects of this stack remain", "no right to list")
	left := admin.kubectl("-n", "e2e-limited", "get", "deployment,service,configmap,secret", "-o", "name")
	if strings.Contains(left, "chart") || strings.Contains(left, "settings") || strings.Contains(left, "helm") {
		t.Errorf("left in the cluster:\n%s", left)
	}
}
