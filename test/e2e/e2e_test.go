// Package e2e tests the product as its users meet it: the binary, a real API server, and a
// stack of simulated engines. The tests need bin/mifbench and bin/localcluster (make build
// cluster-build) and are skipped without them.
package e2e

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mifbench/mifbench/internal/clustertest"
)

var cluster = clustertest.NewShared(clustertest.Engine(binaryPath()), clustertest.Speedup(20), clustertest.StreamScale(75))

func TestMain(m *testing.M) {
	flag.Parse()
	// The tests that may run beside others wait for the cluster more than they work.
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	os.Exit(cluster.Main(m))
}

func binaryPath() string {
	path, err := filepath.Abs("../../bin/mifbench")
	if err != nil {
		panic(err)
	}
	return path
}

// user is somebody with a configuration directory and a cluster.
type user struct {
	t   *testing.T
	dir string
	env []string
}

// bareUser has an empty configuration directory.
func bareUser(t *testing.T) *user {
	t.Helper()
	if _, err := os.Stat(binaryPath()); err != nil {
		t.Skip("bin/mifbench is missing: make build")
	}
	c := cluster.Get(t)
	// No test may ask the address of a cloud's instance metadata.
	u := &user{t: t, dir: t.TempDir(), env: append(os.Environ(), "AWS_EC2_METADATA_DISABLED=true")}
	for k, v := range c.Env {
		u.env = append(u.env, k+"="+v)
	}
	return u
}

// newUser gives a test a stack of its own name, which is also its namespace, and tears it
// down at the end.
func newUser(t *testing.T, stack string) *user {
	t.Helper()
	u := bareUser(t)
	u.write("stack.mif.hcl", strings.ReplaceAll(read(t, "testdata/stack.mif.hcl"), `"e2e"`, `"`+stack+`"`))
	t.Cleanup(func() {
		if out, err := u.try("destroy", "--auto-approve"); err != nil {
			t.Errorf("destroy at the end: %v\n%s", err, out)
		}
	})
	return u
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (u *user) write(name, text string) {
	u.t.Helper()
	if err := os.WriteFile(filepath.Join(u.dir, name), []byte(text), 0o600); err != nil {
		u.t.Fatal(err)
	}
}

// edit replaces text in the configuration.
func (u *user) edit(from, to string) {
	u.t.Helper()
	text := read(u.t, filepath.Join(u.dir, "stack.mif.hcl"))
	if !strings.Contains(text, from) {
		u.t.Fatalf("the configuration has no %q", from)
	}
	u.write("stack.mif.hcl", strings.Replace(text, from, to, 1))
}

func (u *user) command(args ...string) *exec.Cmd {
	cmd := exec.Command(binaryPath(), append([]string{"--chdir", u.dir}, args...)...)
	cmd.Env = u.env
	return cmd
}

// try runs the binary and returns both streams together.
func (u *user) try(args ...string) (string, error) {
	var out bytes.Buffer
	cmd := u.command(args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

// must runs the binary and expects an exit code.
func (u *user) must(code int, args ...string) string {
	u.t.Helper()
	out, err := u.try(args...)
	if got := exitCode(err); got != code {
		u.t.Fatalf("mifbench %s: exit code %d, want %d\n%s", strings.Join(args, " "), got, code, out)
	}
	return out
}

func exitCode(err error) int {
	var e *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &e):
		return e.ExitCode()
	}
	return -1
}

// kubectl plays another user.
func (u *user) kubectl(args ...string) string {
	return u.other("kubectl", "MIFBENCH_REQUIRE_KUBECTL", args...)
}

// helm, too.
func (u *user) helm(args ...string) string { return u.other("helm", "MIFBENCH_REQUIRE_HELM", args...) }

func (u *user) other(name, required string, args ...string) string {
	u.t.Helper()
	cmd := exec.Command(u.tool(name, required), args...)
	cmd.Env = u.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		u.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// tool finds somebody else's command: that of bin (make helm-build kubectl-build), or the installed one. The
// test is skipped without it, unless the variable of that name is 1.
func (u *user) tool(name, required string) string {
	u.t.Helper()
	path, err := exec.LookPath(filepath.Join(filepath.Dir(binaryPath()), name))
	if err != nil {
		path, err = exec.LookPath(name)
	}
	switch {
	case err != nil && os.Getenv(required) == "1":
		u.t.Fatal(err)
	case err != nil:
		u.t.Skip(name + " plays the other user here and is not installed")
	}
	return path
}

func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("the output lacks %q:\n%s", p, text)
		}
	}
}

func TestApplyTwiceAndDestroy(t *testing.T) {
	u := newUser(t, "e2e-twice")
	contains(t, u.must(2, "plan", "--detailed-exitcode"), "Plan: 8 to add, 0 to change, 0 to destroy.")
	contains(t, u.must(0, "apply", "--auto-approve"), "8 added", "endpoint =")
	contains(t, u.must(0, "plan", "--detailed-exitcode"), "No changes.")
	contains(t, u.must(0, "state", "list"), "inference_service.decode", "ready")
	contains(t, u.must(0, "output", "--raw", "endpoint"), "http://127.")
	info, err := os.Stat(filepath.Join(u.dir, "mifbench.state.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("state file: %v, %v", info, err)
	}
	contains(t, u.must(0, "destroy", "--auto-approve"), "0 objects of this stack remain")
	if left := u.kubectl("get", "clusterrole,ns", "-o", "name"); strings.Contains(left, "e2e-twice") {
		t.Errorf("left in the cluster:\n%s", left)
	}
}

func TestDriftIsShownAndHealed(t *testing.T) {
	u := newUser(t, "e2e-drift")
	u.must(0, "apply", "--auto-approve")
	u.kubectl("-n", "e2e-drift", "delete", "configmap", "settings")
	u.kubectl("-n", "e2e-drift", "patch", "inferenceservice", "r1-decode", "--type", "merge", "-p", `{"spec":{"replicas":2}}`)
	u.kubectl("-n", "e2e-drift", "patch", "inferencepool", "heimdall", "--type", "merge", "-p", `{"spec":{"targetPorts":[{"number":8000}]}}`)
	out := u.must(2, "plan", "--detailed-exitcode")
	contains(t, out, "manifest.settings", "spec.replicas", "2 -> 1", "targetPorts", "Plan: 1 to add, 2 to change, 0 to destroy.")
	u.must(0, "apply", "--auto-approve")
	contains(t, u.must(0, "plan", "--detailed-exitcode"), "No changes.")
}

func TestRemovedBlockIsDeleted(t *testing.T) {
	u := newUser(t, "e2e-removed")
	u.must(0, "apply", "--auto-approve")
	text := read(t, filepath.Join(u.dir, "stack.mif.hcl"))
	from, to := strings.Index(text, `manifest "settings"`), strings.Index(text, `output "endpoint"`)
	u.write("stack.mif.hcl", text[:from]+text[to:])
	contains(t, u.must(2, "plan", "--detailed-exitcode"), "manifest.settings will be destroyed", "Plan: 0 to add, 0 to change, 1 to destroy.")
	u.must(0, "apply", "--auto-approve")
	if left := u.kubectl("-n", "e2e-removed", "get", "configmap", "-o", "name"); strings.Contains(left, "settings") {
		t.Errorf("settings is still there:\n%s", left)
	}
}

func TestSavedPlanIsAppliedOrRefused(t *testing.T) {
	u := newUser(t, "e2e-saved")
	file := filepath.Join(u.dir, "plan.json")
	u.must(0, "plan", "--out", file, "--var", "level=high")
	u.must(0, "apply", file)
	if got := u.kubectl("-n", "e2e-saved", "get", "configmap", "settings", "-o", "jsonpath={.data.level}"); got != "high" {
		t.Errorf("level is %q", got)
	}
	contains(t, u.must(1, "apply", file), "stale")
	u.must(0, "plan", "--out", file)
	u.edit(`default = "low"`, `default = "medium"`)
	contains(t, u.must(1, "apply", file), "stale", "configuration")
}

func TestInterruptedApplyConverges(t *testing.T) {
	u := newUser(t, "e2e-interrupt")
	var out bytes.Buffer
	cmd := u.command("apply", "--auto-approve")
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool {
		_, err := os.Stat(filepath.Join(u.dir, "mifbench.state.json"))
		return err == nil
	})
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := exitCode(cmd.Wait()); code != 130 {
		t.Errorf("exit code %d after the interrupt, want 130\n%s", code, out.String())
	}
	u.must(0, "state", "list")
	u.must(0, "apply", "--auto-approve")
	contains(t, u.must(0, "plan", "--detailed-exitcode"), "No changes.")
}

func TestSecondApplyNamesTheHolder(t *testing.T) {
	u := newUser(t, "e2e-lock")
	var out bytes.Buffer
	first := u.command("apply", "--auto-approve")
	first.Stdout, first.Stderr = &out, &out
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool {
		_, err := os.Stat(filepath.Join(u.dir, "mifbench.state.json"))
		return err == nil
	})
	contains(t, u.must(1, "apply", "--auto-approve"), "lock", "apply", "pid")
	if err := first.Wait(); err != nil {
		t.Fatalf("first apply: %v\n%s", err, out.String())
	}
}

func waitFor(t *testing.T, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatal("it did not happen within a minute")
}
