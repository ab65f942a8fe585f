package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const credentials = `mifbench { stack = "STACK" }
cluster { context = "localcluster" }
namespace "bench" {
  name   = "STACK"
  labels = LABELS
}
ecr_credentials "moreh" {
  namespace = namespace.bench.name
  registry  = "255250787067.dkr.ecr.ap-northeast-2.amazonaws.com"
  MODE
}
`

func (u *user) credentials(stack, labels, mode string) {
	u.write("stack.mif.hcl", strings.NewReplacer("STACK", stack, "LABELS", labels, "MODE", mode).Replace(credentials))
}

// can asks the API server what the refresher's ServiceAccount may do.
func (u *user) can(stack string, words ...string) bool {
	u.t.Helper()
	args := append([]string{"auth", "can-i", "-n", stack, "--as=system:serviceaccount:" + stack + ":moreh-registry-refresher"}, words...)
	cmd := exec.Command(u.tool("kubectl", "MIFBENCH_REQUIRE_KUBECTL"), args...)
	cmd.Env = u.env
	out, err := cmd.Output()
	answer := strings.TrimSpace(string(out))
	if answer != "yes" && answer != "no" {
		u.t.Fatalf("kubectl %v: %q, %v", args, out, err)
	}
	return answer == "yes"
}

// TestPullSecretTellsWhenItIsRenewed: a plan with nothing to do says it, and an in-cluster refresher may
// change its one Secret, nothing else, and is understood by the next plan.
func TestPullSecretTellsWhenItIsRenewed(t *testing.T) {
	const stack = "e2e-refresh"
	u := newUser(t, stack)
	u.credentials(stack, "{}", `mode = "aws"
  refresh { schedule = "0 */6 * * *" }`)
	u.must(0, "apply", "--auto-approve")
	contains(t, u.must(0, "plan", "--detailed-exitcode"), "ecr_credentials.moreh stays as it is: renews in 6h (token expires in 12h)", "No changes.")
	for words, want := range map[string]bool{
		"get secret/moreh-registry": true, "patch secret/moreh-registry": true, "create secrets": true,
		"get secret/other": false, "patch secret/other": false, "delete secret/moreh-registry": false,
		"list secrets": false, "get pods": false, "get secrets --all-namespaces": false,
	} {
		if got := u.can(stack, strings.Fields(words)...); got != want {
			t.Errorf("the refresher may %s: %t, want %t", words, got, want)
		}
	}
	script := u.kubectl("-n", stack, "get", "cronjob", "moreh-registry-refresher", "-o", "jsonpath={.spec.jobTemplate.spec.template.spec.containers[0].command[2]}")
	bin := t.TempDir()
	aws := "#!/bin/sh\nprintf 'QVdTOmR1bW15\\t2099-01-02T03:04:05.123000+00:00\\n'\n"
	if err := os.WriteFile(filepath.Join(bin, "aws"), []byte(aws), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/sh", "-ec", script)
	cmd.Env = append(u.env, "PATH="+bin+":"+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the refresher's script: %v\n%s", err, out)
	}
	plan := u.must(0, "plan", "--detailed-exitcode")
	contains(t, plan, "ecr_credentials.moreh stays as it is: renews in", "No changes.")
	if strings.Contains(plan, "renews in 6h (") {
		t.Errorf("the refresher's expiry was not read:\n%s", plan)
	}
	if strings.Contains(plan, "QVdTOmR1bW15") {
		t.Error("the plan shows the token")
	}
}

// TestReplicatedPullSecretIsLeftToItsReplicator: it is waited for, never changed and never deleted by us.
func TestReplicatedPullSecretIsLeftToItsReplicator(t *testing.T) {
	const stack = "e2e-replica"
	u := newUser(t, stack)
	u.credentials(stack, `{ mif = "enabled" }`, `mode = "replicated"`)
	contains(t, u.must(0, "apply", "--auto-approve"), "ecr_credentials.moreh")
	contains(t, u.must(0, "plan", "--detailed-exitcode"), "No changes.", "expires in")
	if owner := u.kubectl("-n", stack, "get", "secret", "moreh-registry", "-o", "jsonpath={.metadata.annotations.mifbench\\.dev/stack}"); owner != "" {
		t.Errorf("the copy carries the mark of stack %q", owner)
	}
	u.kubectl("-n", stack, "delete", "secret", "moreh-registry")
	contains(t, u.must(2, "plan", "--detailed-exitcode"), "is made by somebody else; apply waits for it")
	contains(t, u.must(0, "destroy", "--auto-approve"), "0 objects of this stack remain")
}
