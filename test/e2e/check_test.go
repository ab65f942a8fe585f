package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// seed is a user with the published example.
func seed(t *testing.T) *user {
	t.Helper()
	u := newUser(t, "e2e-seed")
	if err := os.Remove(filepath.Join(u.dir, "stack.mif.hcl")); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../examples/deepseek-r1-mi300x/*.mif.hcl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no example: %v", err)
	}
	for _, f := range files {
		u.write(filepath.Base(f), read(t, f))
	}
	u.write("site.auto.mifvars", "kube_context = \"localcluster\"\nmodel_path = \"/nvme/DeepSeek-R1\"\nclient_node = \"cpu-0\"\ndataset_root = \"/nvme/datasets\"\n")
	return u
}

// report is what check --json prints, as far as these tests need it.
type report struct {
	Valid    bool     `json:"valid"`
	Errors   int      `json:"error_count"`
	Failures []string `json:"failures"`
	Checks   []struct {
		Code     string   `json:"code"`
		Where    string   `json:"where"`
		Status   string   `json:"status"`
		Findings int      `json:"findings"`
		Seen     []string `json:"seen"`
		Skipped  []string `json:"skipped"`
	} `json:"checks"`
}

// check runs mifbench check --json and expects its exit code.
func (u *user) check(code int) report {
	u.t.Helper()
	out := u.must(code, "check", "--json")
	var r report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		u.t.Fatalf("%v\n%s", err, out)
	}
	return r
}

// found are the codes of the cluster's checks that have findings.
func (r report) found() string {
	var codes []string
	for _, c := range r.Checks {
		if c.Where == "cluster" && c.Findings > 0 {
			codes = append(codes, c.Code)
		}
	}
	return strings.Join(codes, " ")
}

func (r report) skipped() string {
	var codes []string
	for _, c := range r.Checks {
		if len(c.Skipped) > 0 {
			codes = append(codes, c.Code)
		}
	}
	return strings.Join(codes, " ")
}

// TestSeedPassesClean: on the cluster that it was written for the published stack has no
// finding of the cluster's checks, before apply and while it is running.
func TestSeedPassesClean(t *testing.T) {
	u := seed(t)
	r := u.check(0)
	if !r.Valid || r.found() != "" || len(r.Failures) > 0 {
		t.Errorf("found %s; %v", r.found(), r.Failures)
	}
	// The stand-ins for the controllers are no Deployments, so whether they run is not known.
	if got := r.skipped(); got != "MIF105 MIF119" {
		t.Errorf("skipped: %s", got)
	}
	contains(t, u.must(0, "check"), "5 pods find room; an exact fit", "5 of 6 nodes match inference_service.decode", " checks: ")
}

// TestStackPassesCleanAfterApply: what runs is not counted a second time.
func TestStackPassesCleanAfterApply(t *testing.T) {
	u := newUser(t, "e2e-checked")
	u.must(0, "apply", "--auto-approve")
	if r := u.check(0); r.found() != "" {
		t.Errorf("found %s", r.found())
	}
	contains(t, u.must(0, "check"), "2 pods, of which 2 have their node already", "the state's cluster", "heimdall is deployed")
	contains(t, u.must(0, "plan", "--detailed-exitcode"), "No changes.")
}

func TestCheckFindsBrokenWorlds(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(u *user)
		mend  func(u *user)
		codes string
		says  []string
	}{
		{"gateway-class",
			func(u *user) { u.edit(`class     = "istio"`, `class     = "kgateway"`) },
			func(u *user) { u.edit(`class     = "kgateway"`, `class     = "istio"`) },
			"MIF104", []string{`no GatewayClass "kgateway"`}},
		{"cordoned",
			func(u *user) { u.edit("replicas      = 1", "replicas      = 4"); u.kubectl("cordon", "mi300x-2") },
			func(u *user) { u.kubectl("uncordon", "mi300x-2") },
			"MIF109", []string{"1 of 1 pod of inference_service.prefill has no room", "mi300x-2: cordoned"}},
		{"cordoned-with-room",
			func(u *user) { u.kubectl("cordon", "mi300x-2") },
			func(u *user) { u.kubectl("uncordon", "mi300x-2") },
			"MIF111", []string{"mi300x-2 is cordoned"}},
		{"foreign-pod",
			func(u *user) {
				u.edit("replicas      = 1", "replicas      = 4")
				u.apply("foreign.yaml", trainer)
				u.kubectl("wait", "--for=condition=Ready", "--timeout=60s", "pod/e2e-trainer")
			},
			func(u *user) { u.kubectl("delete", "pod", "e2e-trainer", "--wait") },
			"MIF109", []string{"6 of 8 amd.com/gpu free; held by default/e2e-trainer (2)"}},
		{"stale-secret",
			func(u *user) {
				u.edit(`mode      = "aws"`, `mode      = "replicated"`)
				u.edit("name = \"e2e-stale-secret\"", "name = \"e2e-stale-secret\"\n  labels = { mif = \"enabled\" }")
				// Without the label the replicator leaves the Secret alone.
				u.kubectl("create", "namespace", "e2e-stale-secret")
				u.apply("secret.yaml", strings.ReplaceAll(staleSecret, "YESTERDAY", time.Now().Add(-26*time.Hour).UTC().Format(time.RFC3339)))
			},
			func(u *user) { u.kubectl("delete", "namespace", "e2e-stale-secret", "--wait") },
			"MIF112 MIF115", []string{"a token that expired 14h", "is not this stack's"}},
		{"terminating",
			func(u *user) {
				u.kubectl("create", "namespace", "e2e-terminating")
				u.apply("held.yaml", held)
				u.kubectl("delete", "namespace", "e2e-terminating", "--wait=false")
				waitFor(u.t, func() bool {
					return strings.Contains(u.kubectl("get", "namespace", "e2e-terminating", "-o", "yaml"), "NamespaceFinalizersRemaining")
				})
			},
			func(u *user) {
				u.kubectl("-n", "e2e-terminating", "patch", "configmap", "held", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
				waitFor(u.t, func() bool {
					return !strings.Contains(u.kubectl("get", "namespace", "-o", "name"), "e2e-terminating")
				})
			},
			"MIF114 MIF115", []string{`"e2e-terminating" is being deleted since`, "example.org/held"}},
		{"no-preset",
			func(u *user) {
				u.edit("quickstart-vllm-deepseek-ai-deepseek-r1-decode-amd-mi300x-dp8-moe-ep8", "vllm-deepseek-r1-decode-amd-mi300x-dp8-moe")
			},
			func(*user) {},
			"MIF106", []string{"The most alike", "quickstart-vllm-deepseek-ai-deepseek-r1-decode-amd-mi300x-dp8-moe-ep8"}},
		{"no-kind",
			func(u *user) {
				u.edit(`kind       = "ConfigMap"`, `kind       = "Certificate"`)
				u.edit(`apiVersion = "v1"`, `apiVersion = "cert-manager.io/v1"`)
			},
			func(*user) {}, "MIF102", []string{"cert-manager.io/v1 Certificate", "the chart cert-manager (v1.18.4) supplies it"}},
		{"neighbour",
			func(u *user) {
				u.kubectl("create", "namespace", "e2e-neighbour")
				u.apply("neighbour.yaml", neighbour)
			},
			func(u *user) { u.kubectl("delete", "namespace", "e2e-neighbour", "--wait") },
			"MIF115 MIF121", []string{`e2e-neighbour/somebody, which is not of this configuration, joins the pool "heimdall"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			u := newUser(t, "e2e-"+c.name)
			t.Cleanup(func() { c.mend(u) })
			c.spoil(u)
			code := 1
			if c.codes == "MIF111" || c.codes == "MIF115 MIF121" {
				code = 0
			}
			if r := u.check(code); r.found() != c.codes {
				t.Errorf("found %s, want %s", r.found(), c.codes)
			}
			out, _ := u.try("check")
			contains(t, flat(out), c.says...)
			if _, err := os.Stat(filepath.Join(u.dir, "mifbench.state.json")); err == nil {
				t.Error("check left a state behind")
			}
		})
	}
}

// flat takes the box and the line breaks out of diagnostics.
func flat(out string) string {
	return regexp.MustCompile(`\n│? *`).ReplaceAllString(out, " ")
}

// apply writes a manifest as somebody else.
func (u *user) apply(name, text string) {
	u.t.Helper()
	u.write(name, text)
	u.kubectl("apply", "-f", filepath.Join(u.dir, name))
}

const (
	trainer = `
apiVersion: v1
kind: Pod
metadata: {name: e2e-trainer, namespace: default}
spec:
  terminationGracePeriodSeconds: 0
  tolerations: [{key: amd.com/gpu, operator: Exists}]
  containers: [{name: train, image: trainer, resources: {limits: {amd.com/gpu: 2}}}]
`
	staleSecret = `
apiVersion: v1
kind: Secret
metadata: {name: moreh-registry, namespace: e2e-stale-secret, annotations: {replicator.v1.mittwald.de/replicated-at: "YESTERDAY"}}
type: kubernetes.io/dockerconfigjson
stringData: {.dockerconfigjson: '{"auths":{"255250787067.dkr.ecr.ap-northeast-2.amazonaws.com":{"auth":"QVdTOng="}}}'}
`
	held = `
apiVersion: v1
kind: ConfigMap
metadata: {name: held, namespace: e2e-terminating, finalizers: [example.org/held]}
`
	neighbour = `
apiVersion: odin.moreh.io/v1alpha1
kind: InferenceService
metadata: {name: somebody, namespace: e2e-neighbour}
spec:
  replicas: 0
  inferencePoolRefs: [{name: heimdall}]
  templateRefs: [{name: vllm-decode}]
`
)

// TestCheckAsViewer: a user who may only look is told which rights are missing for apply, and
// which checks could not look; his plan is warned and not stopped.
func TestCheckAsViewer(t *testing.T) {
	u := newUser(t, "e2e-viewer")
	admin := u.env
	u.kubectl("create", "clusterrole", "e2e-viewer", "--verb=get,list,watch",
		"--resource=namespaces,pods,configmaps,gatewayclasses.gateway.networking.k8s.io,inferenceservices.odin.moreh.io,inferenceservicetemplates.odin.moreh.io")
	u.kubectl("create", "clusterrolebinding", "e2e-viewer", "--clusterrole=e2e-viewer", "--serviceaccount=default:e2e-viewer")
	t.Cleanup(func() {
		u.env = admin
		u.kubectl("delete", "clusterrolebinding,clusterrole", "e2e-viewer")
		u.kubectl("delete", "serviceaccount", "e2e-viewer")
	})
	u.kubectl("create", "serviceaccount", "e2e-viewer")
	u.as("e2e-viewer")
	r := u.check(1)
	if r.found() != "MIF118" {
		t.Errorf("found %s, want MIF118", r.found())
	}
	for _, code := range []string{"MIF103", "MIF108", "MIF109", "MIF111"} {
		if !strings.Contains(r.skipped(), code) {
			t.Errorf("%s is not skipped: %s", code, r.skipped())
		}
	}
	out, _ := u.try("check")
	contains(t, flat(out), "may not:", "secrets in namespace e2e-viewer (heimdall.heimdall: the release's records)",
		"clusterroles.rbac.authorization.k8s.io in the whole cluster", "no right to read the nodes")
	out, _ = u.try("plan")
	contains(t, out, "Warning: Rights that are missing (MIF118)", "Not checked, or only in part:", "MIF109 (room for the pods)")
}

// TestCheckWithoutIdentity: a user who may not even see kube-system is told what can be told.
func TestCheckWithoutIdentity(t *testing.T) {
	u := newUser(t, "e2e-nobody")
	admin := u.env
	u.kubectl("create", "serviceaccount", "e2e-nobody")
	t.Cleanup(func() {
		u.env = admin
		u.kubectl("delete", "serviceaccount", "e2e-nobody")
	})
	u.as("e2e-nobody")
	r := u.check(1)
	if r.found() != "MIF118" || !strings.HasPrefix(r.skipped(), "MIF101 MIF103 MIF104") {
		t.Errorf("found %s, skipped %s", r.found(), r.skipped())
	}
}

// as goes on as a service account, of the namespace default unless kubectl's flags say otherwise.
func (u *user) as(account string, namespace ...string) {
	u.t.Helper()
	token := strings.TrimSpace(u.kubectl(append([]string{"create", "token", account}, namespace...)...))
	u.write("kubeconfig", u.kubectl("config", "view", "--raw", "--minify"))
	u.env = append(append([]string{}, u.env...), "KUBECONFIG="+filepath.Join(u.dir, "kubeconfig"))
	u.kubectl("config", "set-credentials", account, "--token="+token)
	u.kubectl("config", "set-context", "localcluster", "--user="+account)
}
