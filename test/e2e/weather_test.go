package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestUnreachableClusterNamesTheServer(t *testing.T) {
	u := newUser(t, "e2e-unreachable")
	kubeconfig := filepath.Join(u.dir, "kubeconfig")
	u.write("kubeconfig", `apiVersion: v1
kind: Config
clusters: [{name: local, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: local, user: {}}]
contexts: [{name: localcluster, context: {cluster: local, user: local}}]
`)
	env := u.env
	u.env = append(append([]string{}, env...), "KUBECONFIG="+kubeconfig)
	contains(t, u.must(1, "plan"), "127.0.0.1:1")
	u.env = env
}

func TestWrongContextIsNotGuessed(t *testing.T) {
	u := newUser(t, "e2e-context")
	u.edit(`context = "localcluster"`, `context = "production"`)
	contains(t, u.must(1, "plan"), `"production"`, "localcluster")
	u.edit(`context = "production"`, `context = "localcluster"`)
}

func TestForeignNamespaceIsNotAdopted(t *testing.T) {
	u := newUser(t, "e2e-foreign")
	u.kubectl("create", "namespace", "e2e-foreign")
	out := u.must(1, "apply", "--auto-approve")
	contains(t, out, "e2e-foreign", "adopt")
	u.kubectl("delete", "namespace", "e2e-foreign", "--wait")
}

func TestMissingChartNamesTheRepository(t *testing.T) {
	u := newUser(t, "e2e-chart")
	u.edit(`version            = "v0.7.1"`, `version            = "v9.9.9"`)
	contains(t, u.must(1, "plan"), "heimdall", "v9.9.9")
}

func TestUnknownPresetIsSeen(t *testing.T) {
	u := newUser(t, "e2e-preset")
	u.must(0, "apply", "--auto-approve")
	u.edit("deepseek-r1-decode-amd", "deepseek-r2-decode-amd")
	contains(t, u.must(1, "plan"), "inference_service.decode", "deepseek-r2-decode-amd")
	u.edit("deepseek-r2-decode-amd", "deepseek-r1-decode-amd")
}

func TestDestroyWorksFromStateAlone(t *testing.T) {
	u := newUser(t, "e2e-statealone")
	u.must(0, "apply", "--auto-approve")
	if err := os.Remove(filepath.Join(u.dir, "stack.mif.hcl")); err != nil {
		t.Fatal(err)
	}
	contains(t, u.must(0, "destroy", "--auto-approve"), "0 objects of this stack remain")
}

func TestDestroyNamesWhatElseGoes(t *testing.T) {
	u := newUser(t, "e2e-guest")
	u.must(0, "apply", "--auto-approve", "--target", "namespace.bench")
	u.kubectl("-n", "e2e-guest", "create", "configmap", "of-somebody-else")
	contains(t, u.must(0, "plan", "--destroy"), "of-somebody-else", "not of this stack")
}

func TestStateOfAnotherStackIsRefused(t *testing.T) {
	u := newUser(t, "e2e-other")
	u.must(0, "apply", "--auto-approve", "--target", "namespace.bench")
	u.edit(`stack = "e2e-other"`, `stack = "another"`)
	contains(t, u.must(1, "plan"), `"e2e-other"`, `"another"`)
	u.edit(`stack = "another"`, `stack = "e2e-other"`)
}

func TestSecretsAreNowhere(t *testing.T) {
	u := newUser(t, "e2e-secrets")
	out := u.must(0, "apply", "--auto-approve")
	token := u.kubectl("-n", "e2e-secrets", "get", "secret", "moreh-registry", "-o", "jsonpath={.data.\\.dockerconfigjson}")
	if len(token) < 40 {
		t.Fatalf("the Secret holds %d bytes", len(token))
	}
	state := read(t, filepath.Join(u.dir, "mifbench.state.json"))
	for name, text := range map[string]string{"output": out, "state": state, "plan": u.must(0, "plan", "--json")} {
		if strings.Contains(text, token) {
			t.Errorf("%s holds the token", name)
		}
	}
}
