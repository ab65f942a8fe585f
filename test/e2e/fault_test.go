package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mifbench/mifbench/internal/faultproxy"
)

// second is the object that the weather hits in the tests below: manifest.second.
const second = "/configmaps/second"

// invalid is the API server's 422.
func invalid() faultproxy.Fault {
	return faultproxy.AnswerStatus(422, map[string]any{
		"reason": "Invalid", "message": `ConfigMap "second" is invalid: data[level]: Invalid value: "low": too low`,
		"details": map[string]any{"name": "second", "kind": "ConfigMap", "causes": []any{map[string]any{"reason": "FieldValueInvalid", "message": "too low", "field": "data[level]"}}},
	})
}

// TestFaultsOfOneWrite spoils the write of one object. What can be overcome is; what cannot is an
// error that names the object and what was tried, everything else is recorded, and the next apply
// converges.
func TestFaultsOfOneWrite(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		rule faultproxy.Rule
		want []string // in the output; nil when the fault must be overcome
	}{
		{"429", faultproxy.Rule{Times: 2, Do: faultproxy.Answer(429, "TooManyRequests", "too many", "Retry-After", "1")}, nil},
		{"500-once", faultproxy.Rule{Times: 1, Do: faultproxy.Answer(500, "InternalError", "etcdserver: leader changed")}, nil},
		{"503-twice", faultproxy.Rule{Times: 2, Do: faultproxy.Answer(503, "ServiceUnavailable", "shutting down")}, nil},
		{"slow", faultproxy.Rule{Times: 1, Do: faultproxy.Slow(3 * time.Second)}, nil},
		{"cut", faultproxy.Rule{Times: 2, Do: faultproxy.Cut()}, nil},
		{"cut-after", faultproxy.Rule{Times: 1, Do: faultproxy.CutAfter()}, nil},
		{"cut-body", faultproxy.Rule{Times: 1, Do: faultproxy.CutBody()}, nil},
		{"cut-always", faultproxy.Rule{Do: faultproxy.Cut()}, []string{"no usable answer from the API server https://127.0.0.1:"}},
		{"401", faultproxy.Rule{Do: faultproxy.Answer(401, "Unauthorized", "Unauthorized")}, []string{"does not accept the credentials", "localcluster"}},
		{"403", faultproxy.Rule{Do: faultproxy.Answer(403, "Forbidden", `configmaps "second" is forbidden: User "x" cannot patch`)}, []string{"forbidden", `User "x" cannot patch`}},
		{"409", faultproxy.Rule{Do: faultproxy.Answer(409, "Conflict", "the object has been modified")}, []string{"changed since the plan was made", "the object has been modified"}},
		{"422", faultproxy.Rule{Do: invalid()}, []string{"data[level]", "too low"}},
		{"500", faultproxy.Rule{Do: faultproxy.Answer(500, "InternalError", "the disk of etcd is full")}, []string{"the disk of etcd is full"}},
		{"webhook", faultproxy.Rule{Do: faultproxy.Answer(500, "InternalError", `Internal error occurred: failed calling webhook "policy.example.org": connection refused`)}, []string{"an admission webhook of the cluster does not answer", "policy.example.org"}},
		{"denied", faultproxy.Rule{Do: faultproxy.Answer(403, "Forbidden", `admission webhook "policy.example.org" denied the request: no`)}, []string{"the cluster's admission refuses the object", "policy.example.org"}},
		{"garble", faultproxy.Rule{Do: faultproxy.Garble()}, []string{"second"}},
	} {
		for protocol, opts := range map[string][]faultproxy.Option{"h2": nil, "h1": {faultproxy.HTTP1()}} {
			if protocol == "h1" && !strings.HasPrefix(c.name, "cut") {
				continue // a difference only where the connection breaks
			}
			t.Run(c.name+"-"+protocol, func(t *testing.T) {
				t.Parallel()
				u := newStormy(t, "tiny.mif.hcl", "fault-"+c.name+"-"+protocol, opts...)
				c.rule.Match = faultproxy.Writes(second)
				u.p.Spoil(c.rule)
				if c.want == nil {
					u.must(0, "apply", "--auto-approve")
				} else {
					out := u.must(1, "apply", "--auto-approve")
					contains(t, out, append(c.want, "manifest.second", "second", "create")...)
					contains(t, u.must(0, "state", "list"), "manifest.first  ConfigMap fault-"+c.name+"-"+protocol+"/first  ready", "/second  planned")
				}
				u.converge()
				u.onlyOnce()
			})
		}
	}
}

// TestFaultsOfAPlan spoils what a plan reads. Nothing is changed, nothing is recorded.
func TestFaultsOfAPlan(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		rule faultproxy.Rule
		want []string
	}{
		{"reads-cut", faultproxy.Rule{Match: faultproxy.Reads(second), Times: 2, Do: faultproxy.Cut()}, nil},
		{"reads-torn", faultproxy.Rule{Match: faultproxy.Reads(second), Times: 1, Do: faultproxy.CutBody()}, nil},
		{"discovery-torn", faultproxy.Rule{Match: faultproxy.Reads("/apis"), Times: 1, Do: faultproxy.CutBody()}, nil},
		{"discovery-500", faultproxy.Rule{Match: faultproxy.Reads("/apis"), Times: 1, Do: faultproxy.Answer(500, "InternalError", "busy")}, nil},
		{"identity-503", faultproxy.Rule{Match: faultproxy.Reads("kube-system"), Times: 1, Do: faultproxy.Answer(503, "ServiceUnavailable", "starting")}, nil},
		{"dry-run-429", faultproxy.Rule{Match: faultproxy.DryRuns(second), Times: 1, Do: faultproxy.Answer(429, "TooManyRequests", "later", "Retry-After", "1")}, nil},
		{"down", faultproxy.Rule{Do: faultproxy.Cut()}, []string{"no usable answer from the API server https://127.0.0.1:", "localcluster"}},
		{"401", faultproxy.Rule{Do: faultproxy.Answer(401, "Unauthorized", "Unauthorized")}, []string{"does not accept the credentials (401)", "localcluster"}},
		{"read-403", faultproxy.Rule{Match: faultproxy.Reads(second), Do: faultproxy.Answer(403, "Forbidden", "configmaps is forbidden")}, []string{"manifest.second", "read ConfigMap", "forbidden"}},
		{"read-500", faultproxy.Rule{Match: faultproxy.Reads(second), Do: faultproxy.Answer(500, "InternalError", "no leader")}, []string{"manifest.second", "read ConfigMap", "no leader"}},
		{"garble", faultproxy.Rule{Match: faultproxy.Reads(second), Do: faultproxy.Garble()}, []string{"manifest.second", "read ConfigMap"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			u := newStormy(t, "tiny.mif.hcl", "plan-"+c.name)
			u.p.Spoil(c.rule)
			if c.want == nil {
				contains(t, u.must(2, "plan", "--detailed-exitcode"), "Plan: 3 to add")
			} else {
				contains(t, u.must(1, "plan", "--detailed-exitcode"), c.want...)
			}
			if n := u.p.Count(faultproxy.Request.Writes); n > 0 {
				t.Errorf("a plan wrote %d times", n)
			}
			if _, err := os.Stat(filepath.Join(u.dir, "mifbench.state.json")); err == nil {
				t.Error("a plan wrote a state")
			}
			u.converge()
		})
	}
}

// TestFaultsOfADestroy spoils the deletion of one object.
func TestFaultsOfADestroy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		rule faultproxy.Rule
		want []string
	}{
		{"cut", faultproxy.Rule{Match: faultproxy.Writes(second), Times: 1, Do: faultproxy.Cut()}, nil},
		{"cut-after", faultproxy.Rule{Match: faultproxy.Writes(second), Times: 1, Do: faultproxy.CutAfter()}, nil},
		{"503", faultproxy.Rule{Match: faultproxy.Writes(second), Times: 1, Do: faultproxy.Answer(503, "ServiceUnavailable", "busy")}, nil},
		{"torn-wait", faultproxy.Rule{Match: faultproxy.Reads("/namespaces/"), Skip: 4, Times: 3, Do: faultproxy.CutBody()}, nil},
		{"403", faultproxy.Rule{Match: faultproxy.Writes(second), Do: faultproxy.Answer(403, "Forbidden", "configmaps is forbidden")}, []string{"manifest.second", "delete ConfigMap", "forbidden", "Remains: "}},
		{"409", faultproxy.Rule{Match: faultproxy.Writes(second), Do: faultproxy.Answer(409, "Conflict", "Precondition failed: UID in precondition: 1, UID in object meta: 2")}, []string{"manifest.second", "delete ConfigMap", "Precondition failed", "Remains: "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			u := newStormy(t, "tiny.mif.hcl", "destroy-"+c.name)
			u.must(0, "apply", "--auto-approve")
			u.p.Spoil(c.rule)
			if c.want == nil {
				contains(t, u.must(0, "destroy", "--auto-approve"), "0 objects of this stack remain")
				return
			}
			contains(t, u.must(1, "destroy", "--auto-approve"), c.want...)
			u.p.Clear()
			contains(t, u.must(0, "destroy", "--auto-approve"), "0 objects of this stack remain")
		})
	}
}

func TestWrongCertificateIsSaid(t *testing.T) {
	t.Parallel()
	u := newStormy(t, "tiny.mif.hcl", "fault-certificate")
	other := faultproxy.Start(t, cluster.Get(t).Kubeconfig, faultproxy.OwnAuthority())
	if err := u.p.WriteKubeconfig(u.p.Kubeconfig, other.Authority()); err != nil {
		t.Fatal(err)
	}
	contains(t, u.must(1, "plan"), "certificate", "unknown authority", u.p.URL(), "localcluster")
	if err := u.p.WriteKubeconfig(u.p.Kubeconfig, nil); err != nil {
		t.Fatal(err)
	}
	u.converge()
}

func TestNamespaceDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	u := newStormy(t, "tiny.mif.hcl", "fault-nsgone")
	u.p.Spoil(faultproxy.Rule{Match: faultproxy.Writes(second), Times: 1, Do: faultproxy.Then(func(*http.Request) {
		u.p.Do(t, http.MethodDelete, "/api/v1/namespaces/fault-nsgone", "", "")
	})})
	out := u.must(1, "apply", "--auto-approve")
	contains(t, out, "manifest.second", "namespace fault-nsgone")
	u.p.Clear()
	waitFor(t, func() bool { return u.live("/api/v1/namespaces/fault-nsgone") == nil })
	contains(t, u.must(2, "plan", "--detailed-exitcode"), "was deleted outside of mifbench", "Plan: 3 to add")
	u.converge()
}

func TestObjectChangedBetweenPlanAndApply(t *testing.T) {
	t.Parallel()
	u := newStormy(t, "tiny.mif.hcl", "fault-moved")
	u.must(0, "apply", "--auto-approve")
	path := "/api/v1/namespaces/fault-moved/configmaps/"
	u.p.Spoil(faultproxy.Rule{Match: faultproxy.Writes("/configmaps/first"), Times: 1, Do: faultproxy.Then(func(*http.Request) {
		u.patch(path+"second", "vim", `{"data":{"level":"theirs"}}`)
	})})
	out := u.must(1, "apply", "--auto-approve", "--var", "level=high")
	contains(t, out, "manifest.second", "changed since the plan was made in /data/level; plan again")
	if got := at(u.live(path+"second"), "data", "level"); got != "theirs" {
		t.Errorf("level is %v", got)
	}
	u.p.Clear()
	// vim is a program to us, not a hand at kubectl: its field is a conflict that the plan shows.
	contains(t, u.must(1, "apply", "--auto-approve", "--var", "level=high"), ".data.level → vim", "force_conflicts")
	u.patch(path+"second", "kubectl-edit", `{"data":{"level":"by-hand"}}`)
	contains(t, u.must(2, "plan", "--detailed-exitcode", "--var", "level=high"), "by-hand")
	u.must(0, "apply", "--auto-approve", "--var", "level=high")
	contains(t, u.must(0, "plan", "--detailed-exitcode", "--var", "level=high"), "No changes.")
}

// TestTwoAppliesAtOnce has two people with a state of their own apply the same stack.
func TestTwoAppliesAtOnce(t *testing.T) {
	t.Parallel()
	u := newStormy(t, "tiny.mif.hcl", "fault-two")
	other := stormy{&user{t: t, dir: t.TempDir(), env: u.env}, u.p}
	other.write("stack.mif.hcl", read(t, filepath.Join(u.dir, "stack.mif.hcl")))
	type result struct {
		out string
		err error
	}
	results := make(chan result, 2)
	for _, one := range []stormy{u, other} {
		go func() {
			out, err := one.try("apply", "--auto-approve")
			results <- result{out, err}
		}()
	}
	for range 2 {
		if r := <-results; r.err != nil && !strings.Contains(r.out, "meanwhile") && !strings.Contains(r.out, "changed since the plan was made") {
			t.Errorf("neither done nor a plain reason: %v\n%s", r.err, r.out)
		}
	}
	u.onlyOnce()
	u.converge()
	other.converge()
}
