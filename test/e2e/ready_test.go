package e2e

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/mifbench/mifbench/internal/faultproxy"
)

// gadget is a stack with one object of a kind that mifbench has no rule for.
func gadgetStack(t *testing.T, ns, more string) stormy {
	u := newStormy(t, "tiny.mif.hcl", ns)
	u.write("crd.yaml", gadgetCRD(ns+".example.org"))
	u.write("more.mif.hcl", `
manifest "definition" { file = "crd.yaml" }
manifest "gadget" {
  object = {
    apiVersion = "`+ns+`.example.org/v1"
    kind       = "Gadget"
    metadata   = { name = "one", namespace = namespace.bench.name }
    spec       = { size = 1 }
  }
`+more+`
}
`)
	return u
}

func (u stormy) gadgetStatus(ns, status string) {
	u.t.Helper()
	u.patch("/apis/"+ns+".example.org/v1/namespaces/"+ns+"/gadgets/one/status", "controller", `{"status":`+status+`}`)
}

// running is a command that has been started.
type running struct {
	*exec.Cmd
	out *bytes.Buffer
}

func (u stormy) start(args ...string) running {
	u.t.Helper()
	r := running{u.command(args...), &bytes.Buffer{}}
	r.Stdout, r.Stderr = r.out, r.out
	if err := r.Start(); err != nil {
		u.t.Fatal(err)
	}
	return r
}

// TestComplaint30UnknownKindNeedsAWaitBlock: without one, existing is enough and it is said; with
// one, apply waits for what the author calls ready.
func TestComplaint30UnknownKindNeedsAWaitBlock(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, wait, before, after, reason string }{
		{"conditions", `  wait { conditions = { Formed = "True" } }`, `{"conditions":[{"type":"Formed","status":"False","reason":"Heating"}]}`, `{"conditions":[{"type":"Formed","status":"True"}]}`, "Formed=False (Heating)"},
		{"fields", `  wait { fields = { "status.phase" = "Done" } }`, `{"phase":"Heating"}`, `{"phase":"Done"}`, "status.phase is Heating, not Done"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ns := "ready-" + c.name
			u := gadgetStack(t, ns, c.wait)
			r := u.start("apply", "--auto-approve", "--json")
			one := "/apis/" + ns + ".example.org/v1/namespaces/" + ns + "/gadgets/one"
			waitFor(t, func() bool {
				status, _ := u.p.Do(t, "GET", one, "", "")
				return status == 200
			})
			u.gadgetStatus(ns, c.before)
			contains(t, u.must(0, "state", "list"), "Gadget "+ns+"/one  applied")
			time.Sleep(3 * time.Second) // two looks: it must still be waiting then
			u.gadgetStatus(ns, c.after)
			if err := r.Wait(); err != nil {
				t.Fatalf("%v\n%s", err, r.out)
			}
			contains(t, r.out.String(), c.reason)
			contains(t, u.must(0, "state", "list"), "Gadget "+ns+"/one  ready")
			contains(t, u.must(0, "plan", "--detailed-exitcode"), "No changes.")
			u.gadgetStatus(ns, c.before)
			contains(t, u.must(2, "plan", "--detailed-exitcode"), "1 to wait for", c.reason)
		})
	}
	t.Run("none", func(t *testing.T) {
		t.Parallel()
		u := gadgetStack(t, "ready-none", "")
		u.must(0, "apply", "--auto-approve")
		u.gadgetStatus("ready-none", `{"conditions":[{"type":"Ready","status":"False","reason":"Cold"}]}`)
		contains(t, u.must(2, "plan", "--detailed-exitcode"), "Ready=False (Cold)") // the one condition that every kind may have
	})
}

// TestComplaint04And16TimeoutNamesObjectAndCause: the block's own timeout ends the wait with the last
// reason, the object stays recorded as applied, the next apply waits on and changes nothing.
func TestComplaint04And16TimeoutNamesObjectAndCause(t *testing.T) {
	t.Parallel()
	const ns = "ready-timeout"
	u := gadgetStack(t, ns, "  wait { conditions = { Formed = \"True\" } }\n  timeouts { create = \"3s\" }")
	start := time.Now()
	out := u.must(1, "apply", "--auto-approve")
	contains(t, out, "manifest.gadget", "Gadget "+ns+"/one", "not ready", "3s", "no condition Formed yet")
	if strings.Contains(out, "interrupted") {
		t.Errorf("nobody interrupted:\n%s", out)
	}
	if took := time.Since(start); took > 60*time.Second {
		t.Errorf("took %s", took)
	}
	contains(t, u.must(0, "state", "list"), "Gadget "+ns+"/one  applied")
	contains(t, u.must(2, "plan", "--detailed-exitcode"), "0 to add", "1 to wait for")
	u.gadgetStatus(ns, `{"conditions":[{"type":"Formed","status":"True"}]}`)
	u.must(0, "apply", "--auto-approve")
	contains(t, u.must(0, "state", "list"), "Gadget "+ns+"/one  ready")
	u.onlyOnce()
}

// TestDoomedPodsFailEarlyInTheBinary: long before the timeout, with container, reason and log lines, also
// under a wait block of the author's.
func TestDoomedPodsFailEarlyInTheBinary(t *testing.T) {
	t.Parallel()
	for name, wait := range map[string]string{"doomed-rule": "", "doomed-own": "manifest \"web\" {\n  wait { fields = { \"status.readyReplicas\" = \"1\" } }\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newStormy(t, "workload.mif.hcl", name)
			u.edit(`annotations = { color = var.color }`, `annotations = { "localcluster.mifbench.dev/fault" = "crash-loop" }`)
			if wait != "" {
				u.edit("manifest \"web\" {\n", wait)
			}
			start := time.Now()
			out := u.must(1, "apply", "--auto-approve")
			contains(t, out, "manifest.web", "container main", "CrashLoopBackOff", "log main: ", "no config.json found")
			if took := time.Since(start); took > 4*time.Minute {
				t.Errorf("took %s", took)
			}
			contains(t, u.must(0, "state", "list"), "Deployment "+name+"/web  applied", "ready")
		})
	}
}

// TestEventsOfApplyForMachines: every line is a JSON object of a known type; each object starts and
// ends, in dependency order; the last line is the outcome.
func TestEventsOfApplyForMachines(t *testing.T) {
	t.Parallel()
	u := newStormy(t, "small.mif.hcl", "events")
	for _, c := range []struct {
		args    []string
		message string
	}{
		{[]string{"apply", "--auto-approve", "--json"}, "5 added"},
		{[]string{"destroy", "--auto-approve", "--json"}, "0 objects of this stack remain"},
	} {
		cmd := u.command(c.args...)
		var stdout bytes.Buffer
		cmd.Stdout = &stdout
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v\n%s", err, stdout.String())
		}
		type event struct {
			FormatVersion, Type, Address, Object, Action, Message string
			Counts                                                map[string]int
		}
		var last event
		open, done := map[string]bool{}, 0
		for line := range strings.Lines(stdout.String()) {
			var e event
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			switch e.Type {
			case "started":
				open[e.Object] = true
			case "done":
				if !open[e.Object] || e.Address == "" || e.Action == "" {
					t.Errorf("done without start: %s", line)
				}
				done++
			case "progress", "saved", "verified", "outcome", "warning", "plan", "outputs":
			default:
				t.Errorf("unknown type: %s", line)
			}
			if e.FormatVersion == "" {
				t.Errorf("no version: %s", line)
			}
			last = e
		}
		if done != 5 || last.Type != "outcome" || last.Counts["done"] != 5 || last.Counts["failed"] != 0 || !strings.Contains(last.Message, c.message) {
			t.Errorf("%v: %d done, last %+v", c.args, done, last)
		}
	}
}

// TestEventsOfAFailedApplyForMachines: the failure, what was not attempted and the counts are on
// stdout as JSON, and nothing else is.
func TestEventsOfAFailedApplyForMachines(t *testing.T) {
	t.Parallel()
	u := newStormy(t, "tiny.mif.hcl", "events-failed")
	u.p.Spoil(faultproxy.Rule{Match: faultproxy.Writes("/configmaps/first"), Do: faultproxy.Answer(403, "Forbidden", "no right")})
	cmd := u.command("apply", "--auto-approve", "--json")
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	if code := exitCode(cmd.Run()); code != 1 {
		t.Fatalf("exit code %d\n%s", code, stdout.String())
	}
	seen := map[string]map[string]any{}
	for line := range strings.Lines(stdout.String()) {
		var e map[string]any
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		kind, _ := e["type"].(string)
		seen[kind] = e
	}
	failed, skipped, outcome := seen["failed"], seen["skipped"], seen["outcome"]
	if text, _ := failed["error"].(string); failed["address"] != "manifest.first" || failed["action"] != "create" || !strings.Contains(text, "no right") {
		t.Errorf("failed: %v", failed)
	}
	if text, _ := skipped["message"].(string); skipped["address"] != "manifest.second" || !strings.Contains(text, "events-failed/first failed") {
		t.Errorf("skipped: %v", skipped)
	}
	if at(outcome, "counts", "failed") != 1.0 || at(outcome, "counts", "skipped") != 1.0 || at(outcome, "counts", "done") != 1.0 {
		t.Errorf("outcome: %v", outcome)
	}
	u.converge()
}
