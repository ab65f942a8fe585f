package view_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mifbench/mifbench/internal/cli/view"
	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
)

var update = flag.Bool("update", false, "rewrite golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Error(d)
	}
}

func change(kind, name string, a plan.Action, fields ...plan.FieldDiff) plan.Change {
	return plan.Change{
		Address: resource.Address{Kind: "manifest", Name: name}, Action: a, Fields: fields,
		ID: resource.ID{Driver: resource.DriverKube, APIVersion: "v1", Kind: kind, Namespace: "bench", Name: name},
	}
}

func set(path string, before, after any) plan.FieldDiff {
	f := plan.FieldDiff{Path: path, Op: plan.Changed, Before: before, After: after}
	switch {
	case before == nil:
		f.Op = plan.Added
	case after == nil:
		f.Op = plan.Removed
	}
	return f
}

// everything is a plan with one of each.
func everything() plan.Plan {
	created := change("ConfigMap", "infra", plan.Create, set("/data/service", nil, "spec:\n  type: ClusterIP\n"), set("/metadata/labels/mif.moreh.io~1pool", nil, "heimdall"))
	created.Offline = "namespace bench comes from this plan"
	updated := change("Deployment", "client", plan.Update, set("/spec/replicas", 5, 3), set("/spec/template/spec/containers/0/image", "a:1", "a:2"),
		set("/data/config", "a\nb\nc\nd\ne\nf\ng\nh\ni\n", "a\nb\nc\nd\ne\nF\ng\nh\ni\n"))
	updated.Unchanged, updated.Drift = 12, []plan.FieldDiff{set("/spec/replicas", 3, 5)}
	updated.Interrupts = "3 pods, 24 amd.com/gpu restart"
	replaced := change("Service", "svc", plan.Replace, set("/spec/clusterIP", "10.0.0.1", "None"))
	replaced.Fields[0].ForcesReplacement, replaced.Reason = true, "a field that cannot be changed in place changes"
	secret := change("Secret", "pull", plan.Renew, set("/data/.dockerconfigjson", plan.Mask("aa11"), plan.Mask("bb22")))
	secret.Fields[0].Sensitive, secret.Reason = true, "token expires in 20m"
	release := change("Release", "heimdall", plan.Update, set("/values/replicas", 1, 2))
	release.Children = []plan.Child{
		{ID: resource.ID{Kind: "Deployment", Namespace: "bench", Name: "heimdall"}, Action: plan.Update, Fields: []plan.FieldDiff{set("/spec/replicas", 1, 2)}, Unchanged: 40},
		{ID: resource.ID{Kind: "InferencePool", Namespace: "bench", Name: "pool"}, Action: plan.Create, Fields: []plan.FieldDiff{set("/spec/a", nil, 1), set("/spec/b", nil, 2)}},
	}
	gone := change("Gateway", "mif", plan.Create, set("/spec/gatewayClassName", nil, "istio"))
	gone.Gone, gone.Reason = true, "was deleted outside of mifbench"
	waiting := change("InferenceService", "decode", plan.Wait)
	waiting.Reason = "ImagePullBackOff in container main"
	removed := change("HTTPRoute", "old", plan.Delete, set("/spec/hostnames/0", "x", nil))
	removed.Reason = "is not in the configuration any more"
	kept := change("Namespace", "bench", plan.Keep)
	kept.Reason = "was not created by this stack: stays in the cluster, leaves the state"
	moved := change("ConfigMap", "new-name", plan.NoOp)
	moved.MovedFrom = &resource.Address{Kind: "manifest", Name: "old-name"}
	conflict := change("Deployment", "scaled", plan.Update, set("/spec/replicas", 4, 2))
	conflict.Conflicts = []plan.Conflict{{Field: ".spec.replicas", Manager: "hpa-controller"}}
	conflict.Warnings = []string{"the API server answers deprecated: apps/v1beta1"}
	return plan.Plan{
		Stack:   "s",
		Changes: []plan.Change{created, updated, replaced, secret, release, gone, waiting, moved, conflict, change("Pod", "same", plan.NoOp), removed, kept},
		Problems: []plan.Problem{{Address: conflict.Address, ID: conflict.ID, Code: "conflict", Summary: "Deployment bench/scaled: 1 field(s) belong to another manager",
			Detail: ".spec.replicas → hpa-controller\nset force_conflicts = true"}},
	}
}

func TestPlanText(t *testing.T) {
	for _, c := range []struct {
		file string
		plan plan.Plan
		opts view.PlanOptions
		col  bool
	}{
		{"plan.txt", everything(), view.PlanOptions{Header: []string{"cluster kind (https://127.0.0.1:6443), stack s"}}, false},
		{"plan-expanded-color.txt", everything(), view.PlanOptions{Expand: true}, true},
		{"plan-empty.txt", plan.Plan{Changes: []plan.Change{change("Pod", "same", plan.NoOp)}}, view.PlanOptions{}, false},
		{"plan-destroy-empty.txt", plan.Plan{Destroy: true}, view.PlanOptions{}, false},
	} {
		t.Run(c.file, func(t *testing.T) {
			var out bytes.Buffer
			if err := (view.Style{Out: &out, Color: c.col}).Plan(c.plan, c.opts); err != nil {
				t.Fatal(err)
			}
			golden(t, c.file, out.Bytes())
		})
	}
}

func TestPlanJSONCarriesWhatTheTextShowsAndNoFingerprint(t *testing.T) {
	var out bytes.Buffer
	if err := (view.Style{Out: &out}).PlanJSON(everything(), view.PlanAbout{Cluster: &view.PlanCluster{Context: "c", Server: "https://c", Version: "v1", UID: "u"}}); err != nil {
		t.Fatal(err)
	}
	golden(t, "plan.json", out.Bytes())
	if strings.Contains(out.String(), "aa11") {
		t.Error("a fingerprint of a secret is shown")
	}
	var doc map[string]any
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
}

func TestRow08NoSecretInAnyView(t *testing.T) {
	leak := change("Secret", "s", plan.Update, plan.FieldDiff{Path: "/data/p", Op: plan.Changed, Before: "hunter1", After: "hunter2", Sensitive: true},
		plan.FieldDiff{Path: "/data/q", Op: plan.Added, After: "a\nhunter3\n", Sensitive: true})
	leak.Drift = leak.Fields
	leak.Children = []plan.Child{{Action: plan.Update, Fields: leak.Fields}}
	p := plan.Plan{Changes: []plan.Change{leak}}
	var out bytes.Buffer
	s := view.Style{Out: &out}
	if err := errors.Join(s.Plan(p, view.PlanOptions{Expand: true}), s.PlanJSON(p, view.PlanAbout{})); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "hunter") {
		t.Error(out.String())
	}
}

// story is a run that has one of each event, with its times.
func story(emit func(deploy.Event)) {
	at := func(kind, name string, a plan.Action) deploy.Step {
		c := change(kind, name, a)
		return deploy.Step{Address: c.Address, ID: c.ID, Action: a}
	}
	ns, dec, svc := at("Namespace", "bench", plan.Create), at("InferenceService", "decode", plan.Create), at("Service", "svc", plan.Update)
	emit(deploy.Saved{Serial: 1})
	emit(deploy.Started{Step: ns})
	emit(deploy.Done{Step: ns, Elapsed: 1200 * time.Millisecond})
	emit(deploy.Started{Step: dec})
	emit(deploy.Progress{Step: dec, Readiness: plan.Readiness{Reason: "0/3 pods ready"}, Elapsed: 2 * time.Second})
	emit(deploy.Progress{Step: dec, Readiness: plan.Readiness{Reason: "ImagePullBackOff in container main", Detail: []string{"pull denied"}}, Elapsed: 10 * time.Second})
	emit(deploy.Progress{Step: dec, Readiness: plan.Readiness{Reason: "ImagePullBackOff in container main"}, Elapsed: 13 * time.Second})
	emit(deploy.Progress{Step: dec, Readiness: plan.Readiness{Reason: "ImagePullBackOff in container main"}, Elapsed: 20 * time.Second})
	emit(deploy.Warning{Step: dec, Text: "unknown value key"})
	emit(deploy.Stopping{Reason: "interrupted"})
	emit(deploy.Failed{Step: dec, Err: errors.New("not ready: image pull\nmore"), Elapsed: 21 * time.Second})
	emit(deploy.Skipped{Step: svc, Because: "InferenceService bench/decode failed"})
	emit(deploy.Verified{Remaining: []deploy.Remaining{{Address: dec.Address, ID: dec.ID, Why: "finalizer x"}}})
}

func TestProgress(t *testing.T) {
	for file, tty := range map[string]bool{"progress.txt": false, "progress-tty.txt": true} {
		t.Run(file, func(t *testing.T) {
			var out bytes.Buffer
			p := view.Style{Err: &out, TTY: tty, Width: 60}.NewProgress()
			story(p.Event)
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
			golden(t, file, out.Bytes())
		})
	}
}

func TestJSONEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		s := view.Style{Out: &out}
		emit, failed := s.JSONEvents()
		story(emit)
		err := s.OutcomeJSON(plan.Plan{Destroy: true}, deploy.Outcome{Verified: true})
		if err := errors.Join(err, failed()); err != nil {
			t.Fatal(err)
		}
		golden(t, "events.jsonl", out.Bytes())
	})
}

func TestOutcome(t *testing.T) {
	p := everything()
	step := func(i int) deploy.Step {
		return deploy.Step{Address: p.Changes[i].Address, ID: p.Changes[i].ID, Action: p.Changes[i].Action}
	}
	destroy := p
	destroy.Destroy = true
	cases := []struct {
		plan plan.Plan
		out  deploy.Outcome
	}{
		{p, deploy.Outcome{Done: []deploy.Step{step(0), step(1), step(2)}}},
		{p, deploy.Outcome{Done: []deploy.Step{step(0)}, Failed: []deploy.Failure{{Step: step(1), Err: errors.New("quota\nsecond line")}},
			Skipped: []deploy.Skip{{Step: step(2), Because: "Deployment bench/client failed"}}}},
		{p, deploy.Outcome{Interrupted: true, Waiting: []deploy.Step{step(6)}}},
		{destroy, deploy.Outcome{Done: []deploy.Step{step(10)}, Verified: true}},
		{destroy, deploy.Outcome{Remaining: []deploy.Remaining{{ID: p.Changes[10].ID, Why: "finalizer x"}}, Verified: true}},
		{destroy, deploy.Outcome{}},
	}
	var out bytes.Buffer
	for _, c := range cases {
		if err := (view.Style{Out: &out, Err: &out}).Outcome(c.plan, c.out); err != nil {
			t.Fatal(err)
		}
		out.WriteString("----\n")
	}
	golden(t, "outcome.txt", out.Bytes())
}

func TestColorRules(t *testing.T) {
	env := func(k, v string) func(string) string {
		return func(name string) string {
			if name == k {
				return v
			}
			return ""
		}
	}
	cases := []struct {
		terminal, flag bool
		env            func(string) string
		want           bool
	}{
		{true, false, env("", ""), true}, {false, false, env("", ""), false}, {true, true, env("", ""), false},
		{true, false, env("NO_COLOR", "1"), false}, {true, false, env("NO_COLOR", ""), true}, {true, false, env("TERM", "dumb"), false},
	}
	for i, c := range cases {
		if got := view.ColorWanted(c.terminal, c.flag, c.env); got != c.want {
			t.Errorf("case %d: %v", i, got)
		}
	}
}

// TestUnchangedObjectsHaveTheirSay: a plan with nothing to do still tells when a token is renewed.
func TestUnchangedObjectsHaveTheirSay(t *testing.T) {
	p := plan.Plan{Changes: []plan.Change{{
		Address: resource.Address{Kind: "ecr_credentials", Name: "moreh"}, Action: plan.NoOp,
		Notes: []string{"renews in 3h (token expires in 9h)"},
	}}}
	var out bytes.Buffer
	if err := (view.Style{Out: &out}).Plan(p, view.PlanOptions{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "ecr_credentials.moreh stays as it is: renews in 3h") || !strings.Contains(out.String(), "No changes.") {
		t.Error(out.String())
	}
}
