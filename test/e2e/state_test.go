package e2e

import (
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mifbench/mifbench/internal/faultproxy"
)

const stateFile = "mifbench.state.json"

// disk mounts a file system of that size over the user's directory. Only root may.
func (u stormy) disk(size string) {
	u.t.Helper()
	config := read(u.t, filepath.Join(u.dir, "stack.mif.hcl"))
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size="+size, "tmpfs", u.dir).CombinedOutput(); err != nil {
		u.t.Skipf("a small disk needs the right to mount: %v %s", err, out)
	}
	u.t.Cleanup(func() { // with the state, which goes with the disk
		u.p.Clear()
		u.free()
		if out, err := u.try("destroy", "--auto-approve"); err != nil {
			u.t.Errorf("destroy: %v\n%s", err, out)
		}
		if out, err := exec.Command("umount", u.dir).CombinedOutput(); err != nil {
			u.t.Errorf("umount: %v %s", err, out)
		}
	})
	u.write("stack.mif.hcl", config)
}

// fill takes the rest of the disk.
func (u stormy) fill() {
	u.t.Helper()
	err := os.WriteFile(filepath.Join(u.dir, "filler"), make([]byte, 1<<20), 0o600)
	if err == nil {
		u.t.Error("the disk is not small")
	}
}

func (u stormy) free() {
	u.t.Helper()
	if err := os.Remove(filepath.Join(u.dir, "filler")); err != nil && !errors.Is(err, os.ErrNotExist) {
		u.t.Fatal(err)
	}
}

func TestDiskFullBeforeTheFirstChange(t *testing.T) {
	t.Parallel()
	u := newStormy(t, "tiny.mif.hcl", "state-full")
	u.disk("64k")
	u.p.Spoil(faultproxy.Rule{Match: faultproxy.DryRuns(""), Times: 1, Do: faultproxy.Then(func(*http.Request) { u.fill() })})
	out := u.must(1, "apply", "--auto-approve")
	contains(t, out, "nothing was changed", stateFile, "no space left on device")
	if n := u.p.Count(faultproxy.Request.Writes); n > 0 {
		t.Errorf("%d writes without a record", n)
	}
	u.free()
	u.converge()
}

func TestDiskFullInTheMiddle(t *testing.T) {
	t.Parallel()
	u := newStormy(t, "tiny.mif.hcl", "state-full2")
	u.disk("64k")
	u.p.Spoil(faultproxy.Rule{Match: faultproxy.Writes("/configmaps/first"), Times: 1, Do: faultproxy.Then(func(*http.Request) { u.fill() })})
	out := u.must(1, "apply", "--auto-approve")
	contains(t, out, "manifest.first", "state could not be saved", "no space left on device", "Not attempted", "manifest.second")
	contains(t, out, "printed above", `"lineage"`) // the last resort
	if u.live("/api/v1/namespaces/state-full2/configmaps/second") != nil {
		t.Error("it went on although nothing can be recorded")
	}
	u.free()
	u.must(0, "state", "list")
	u.converge()
	u.onlyOnce()
}

func TestDamagedStateIsRecovered(t *testing.T) {
	t.Parallel()
	u := newStormy(t, "tiny.mif.hcl", "state-damaged")
	u.must(0, "apply", "--auto-approve")
	whole := read(t, filepath.Join(u.dir, stateFile))
	u.write(stateFile, whole[:len(whole)/2])
	for _, command := range [][]string{{"plan"}, {"apply", "--auto-approve"}, {"destroy", "--auto-approve"}} {
		contains(t, u.must(1, command...), stateFile, "state is damaged", "state recover")
	}
	contains(t, u.must(0, "state", "recover"), "knows 3 objects", stateFile+".damaged")
	contains(t, u.must(0, "plan", "--detailed-exitcode"), "No changes.")
	if read(t, filepath.Join(u.dir, stateFile+".damaged")) != whole[:len(whole)/2] {
		t.Error("the damaged file was not kept")
	}
	u.converge()
	contains(t, u.must(0, "state", "list"), "/second  ready")
}

func TestLostStateIsRecovered(t *testing.T) {
	t.Parallel()
	u := newStormy(t, "small.mif.hcl", "state-lost")
	u.must(0, "apply", "--auto-approve")
	for _, f := range []string{stateFile, stateFile + ".backup"} {
		if err := os.Remove(filepath.Join(u.dir, f)); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	contains(t, u.must(0, "state", "recover"), "knows 5 objects")
	u.converge()
	contains(t, u.must(0, "destroy", "--auto-approve"), "0 objects of this stack remain")
	u.nothingLeft("state-lost")
}

// TestAdoptedNamespaceSurvivesALostState: who adopted it does not delete it, state or no state.
func TestAdoptedNamespaceSurvivesALostState(t *testing.T) {
	t.Parallel()
	u := newStormy(t, "tiny.mif.hcl", "state-adopted")
	u.p.Do(t, http.MethodPost, "/api/v1/namespaces", "application/json", `{"metadata":{"name":"state-adopted"}}`)
	u.edit(`name = "state-adopted"`, "name = \"state-adopted\"\n  adopt = true")
	u.must(0, "apply", "--auto-approve")
	for _, recover := range [][]string{{"state", "recover"}, {"apply", "--auto-approve"}} {
		if err := os.Remove(filepath.Join(u.dir, stateFile)); err != nil {
			t.Fatal(err)
		}
		u.must(0, recover...)
		contains(t, u.must(0, "plan", "--destroy"), "was not created by this stack")
	}
	u.must(0, "destroy", "--auto-approve")
	if u.live("/api/v1/namespaces/state-adopted") == nil {
		t.Fatal("the namespace of somebody else is gone")
	}
	if u.live("/api/v1/namespaces/state-adopted/configmaps/first") != nil {
		t.Error("an object of the stack is left")
	}
	u.p.Do(t, http.MethodDelete, "/api/v1/namespaces/state-adopted", "", "")
}

func TestStateOfANewerVersionIsLeftAlone(t *testing.T) {
	t.Parallel()
	u := newStormy(t, "tiny.mif.hcl", "state-newer")
	u.must(0, "apply", "--auto-approve")
	mine := read(t, filepath.Join(u.dir, stateFile))
	newer := strings.Replace(mine, `"version": 1`, `"version": 99`, 1)
	u.write(stateFile, newer)
	for _, command := range [][]string{{"plan"}, {"apply", "--auto-approve"}, {"destroy", "--auto-approve"}, {"state", "recover"}} {
		contains(t, u.must(1, command...), stateFile, "newer mifbench", "99")
	}
	if read(t, filepath.Join(u.dir, stateFile)) != newer {
		t.Error("the file was changed")
	}
	u.write(stateFile, mine)
	u.converge()
}

// clusterState keeps the state in the cluster; its namespace is made by somebody else.
func clusterState(t *testing.T, stack string) stormy {
	u := newStormy(t, "tiny.mif.hcl", stack)
	home := stack + "-home"
	u.p.Do(t, http.MethodPost, "/api/v1/namespaces", "application/json", `{"metadata":{"name":"`+home+`"}}`)
	u.edit(`stack = "`+stack+`"`, `stack = "`+stack+`"
  backend "kubernetes" { namespace = "`+home+`" }`)
	return u
}

func TestStateInTheClusterUnderFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		rule faultproxy.Rule
	}{
		{"save-cut", faultproxy.Rule{Match: faultproxy.Writes("/secrets"), Skip: 1, Times: 1, Do: faultproxy.Cut()}},
		{"save-cut-after", faultproxy.Rule{Match: faultproxy.Writes("/secrets"), Skip: 1, Times: 1, Do: faultproxy.CutAfter()}},
		{"save-500", faultproxy.Rule{Match: faultproxy.Writes("/secrets"), Skip: 1, Times: 1, Do: faultproxy.Answer(500, "InternalError", "busy")}},
		{"lock-cut-after", faultproxy.Rule{Match: faultproxy.Writes("/leases"), Times: 1, Do: faultproxy.CutAfter()}},
		{"unlock-cut-after", faultproxy.Rule{Match: faultproxy.Writes("/leases/"), Times: 1, Do: faultproxy.CutAfter()}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			u := clusterState(t, "kube-"+c.name)
			u.p.Spoil(c.rule)
			u.must(0, "apply", "--auto-approve")
			u.converge()
			u.onlyOnce()
		})
	}
}

// TestLockOfAKilledProcessInTheCluster: the Lease outlives its holder; who comes next is told whose
// it is and breaks it by its ID, or waits until it runs out.
func TestLockOfAKilledProcessInTheCluster(t *testing.T) {
	t.Parallel()
	u := clusterState(t, "kube-killed")
	killed, out := u.killAt(3, afterServer, applyArgs(1)...) // the lock, the plan, the namespace, its record
	if !killed {
		t.Fatalf("not killed:\n%s", out)
	}
	out = u.must(1, "apply", "--auto-approve")
	contains(t, out, "is locked by", "for apply since", "--lock-timeout")
	id := regexp.MustCompile(`lock ID ([0-9a-f-]{36})`).FindStringSubmatch(out)
	if id == nil {
		t.Fatalf("no ID in %s", out)
	}
	contains(t, u.must(1, "force-unlock", "00000000-0000-4000-8000-000000000000"), id[1])
	if wide { // the Lease lives for a minute
		start := time.Now()
		u.must(0, "apply", "--auto-approve", "--lock-timeout=2m")
		t.Logf("waited %s", time.Since(start))
	} else {
		u.must(0, "force-unlock", id[1])
	}
	u.converge()
	u.onlyOnce()
}
