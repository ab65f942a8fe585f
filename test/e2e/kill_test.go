package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mifbench/mifbench/internal/faultproxy"
)

// The moments of one step at which the process is killed.
const (
	beforeServer = "before" // the request is on its way, the server has not seen it
	afterServer  = "after"  // the server has done it, the process has not heard of it
	afterRecord  = "later"  // the process has heard and recorded it: its next request is on its way
)

// wide walks more: with ten objects in flight, too.
var wide = os.Getenv("MIFBENCH_WIDE") == "1"

// killAt runs a command and kills it with SIGKILL at the n-th request that changes something
// (from 0). It returns false when the command ended before.
func (u stormy) killAt(n int, moment string, args ...string) (killed bool, out string) {
	u.t.Helper()
	var text bytes.Buffer
	cmd := u.command(args...)
	cmd.Stdout, cmd.Stderr = &text, &text
	started := make(chan struct{})
	kill := func(*http.Request) {
		<-started
		_ = cmd.Process.Kill() // it may have ended by itself: Wait tells
	}
	u.p.Clear()
	switch moment {
	case beforeServer:
		u.p.Spoil(faultproxy.Rule{Match: faultproxy.Writes(""), Skip: n, Do: faultproxy.Before(kill)})
	case afterServer:
		u.p.Spoil(faultproxy.Rule{Match: faultproxy.Writes(""), Skip: n, Do: faultproxy.After(kill)})
	case afterRecord:
		var writes atomic.Int64
		u.p.Spoil(faultproxy.Rule{Match: func(r *http.Request) bool {
			if writes.Load() > int64(n) {
				return true
			}
			if faultproxy.Writes("")(r) {
				writes.Add(1)
			}
			return false
		}, Do: faultproxy.Before(kill)})
	}
	if err := cmd.Start(); err != nil {
		u.t.Fatal(err)
	}
	close(started)
	err := cmd.Wait()
	u.p.Clear()
	return exitCode(err) == -1, text.String()
}

// boundaries is how many requests of a run of the command change something.
func (u stormy) boundaries(args ...string) int {
	before := u.p.Count(faultproxy.Request.Writes)
	u.must(0, args...)
	return u.p.Count(faultproxy.Request.Writes) - before
}

// onlyOnce expects that no object was created twice.
func (u stormy) onlyOnce() {
	u.t.Helper()
	made := map[string]int{}
	for _, r := range u.p.Requests() {
		if r.Writes() && r.Status == http.StatusCreated {
			made[r.Method+" "+r.Path]++
		}
	}
	for path, n := range made {
		// POST names the collection: a release has a record for each revision and two objects.
		if n > 1 && strings.HasPrefix(path, http.MethodPatch) {
			u.t.Errorf("%s: created %d times", path, n)
		}
	}
}

// nothingLeft looks at the server directly.
func (u stormy) nothingLeft(stack string) {
	u.t.Helper()
	for _, path := range []string{"/api/v1/namespaces/" + stack, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets." + stack + ".example.org"} {
		if left := u.live(path); left != nil {
			u.t.Errorf("%s is left", path)
		}
	}
	if text := read(u.t, u.dir+"/mifbench.state.json"); strings.Contains(text, `"address"`) {
		u.t.Errorf("the state is not empty:\n%s", text)
	}
}

func applyArgs(parallel int) []string {
	return []string{"apply", "--auto-approve", fmt.Sprintf("--parallelism=%d", parallel)}
}

func destroyArgs(parallel int) []string {
	return []string{"destroy", "--auto-approve", fmt.Sprintf("--parallelism=%d", parallel)}
}

func walked() []int {
	if wide {
		return []int{1, 10}
	}
	return []int{1}
}

func TestKilledApplyConverges(t *testing.T) {
	t.Parallel()
	n := newStormy(t, "small.mif.hcl", "kill-count").boundaries(applyArgs(1)...)
	if n < 7 {
		t.Fatalf("only %d steps", n)
	}
	for _, parallel := range walked() {
		for i := range n {
			for _, moment := range []string{beforeServer, afterServer, afterRecord} {
				stack := fmt.Sprintf("kill-a%d-%d-%s", parallel, i, moment)
				t.Run(stack, func(t *testing.T) {
					t.Parallel()
					u := newStormy(t, "small.mif.hcl", stack)
					killed, out := u.killAt(i, moment, applyArgs(parallel)...)
					if !killed && (i < n-1 || moment != afterRecord) {
						t.Fatalf("the boundary was not reached:\n%s", out)
					}
					u.must(0, "state", "list")
					u.converge()
					u.onlyOnce()
					contains(t, u.must(0, destroyArgs(10)...), "0 objects of this stack remain")
					u.nothingLeft(stack)
				})
			}
		}
	}
}

func TestKilledDestroyConverges(t *testing.T) {
	t.Parallel()
	u := newStormy(t, "small.mif.hcl", "kill-count-destroy")
	u.must(0, applyArgs(10)...)
	n := u.boundaries(destroyArgs(1)...)
	if n < 7 {
		t.Fatalf("only %d steps", n)
	}
	for _, parallel := range walked() {
		for i := range n {
			for _, moment := range []string{beforeServer, afterServer, afterRecord} {
				stack := fmt.Sprintf("kill-d%d-%d-%s", parallel, i, moment)
				t.Run(stack, func(t *testing.T) {
					t.Parallel()
					u := newStormy(t, "small.mif.hcl", stack)
					u.must(0, applyArgs(10)...)
					killed, out := u.killAt(i, moment, destroyArgs(parallel)...)
					if !killed {
						t.Fatalf("the boundary was not reached:\n%s", out)
					}
					u.must(0, "state", "list")
					contains(t, u.must(0, destroyArgs(10)...), "0 objects of this stack remain")
					u.nothingLeft(stack)
				})
			}
		}
	}
}
