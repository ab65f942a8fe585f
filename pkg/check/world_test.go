package check_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/mifbench/mifbench/pkg/check"
	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/resource"
)

// now is the time of every table test.
var now = time.Date(2026, 4, 1, 9, 0, 0, 0, time.UTC)

// fakeCluster holds the objects of a YAML stream and plays missing rights and failures.
type fakeCluster struct {
	objects []map[string]any
	// forbidden kinds may not be read, broken ones fail, absent ones are not served.
	forbidden, broken, absent []string
	// old are served in another version.
	old map[string]string
	// denied are rights as "verb resource"; "*" for the verb denies all.
	denied   []string
	releases map[string]*check.Release
}

func newFake(t *testing.T, text string) *fakeCluster {
	t.Helper()
	c := &fakeCluster{releases: map[string]*check.Release{}}
	for _, doc := range strings.Split(text, "\n---\n") {
		var o map[string]any
		if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
			t.Fatalf("%v\n%s", err, doc)
		}
		c.objects = append(c.objects, o)
	}
	return c
}

func (c *fakeCluster) refuse(kind string) error {
	switch {
	case slices.Contains(c.forbidden, kind):
		return fmt.Errorf("%w: %s", check.ErrForbidden, kind)
	case slices.Contains(c.broken, kind):
		return errors.New("the server is on fire")
	}
	return nil
}

func (c *fakeCluster) Kind(_ context.Context, apiVersion, kind string) (check.Served, error) {
	s := check.Served{Version: true, Resource: strings.ToLower(kind) + "s", Namespaced: !slices.Contains([]string{"Namespace", "ClusterRole", "ClusterRoleBinding"}, kind)}
	if slices.Contains(c.absent, kind) {
		return check.Served{Supplier: "the chart that brings " + kind + " supplies it"}, nil
	}
	if v := c.old[kind]; v != "" {
		s.Version, s.Others = false, []string{v}
	}
	return s, c.refuse("kinds")
}

func (c *fakeCluster) Get(_ context.Context, id resource.ID) (map[string]any, error) {
	if err := c.refuse(id.Kind); err != nil {
		return nil, err
	}
	for _, o := range c.objects {
		if o["kind"] == id.Kind && meta(o, "name") == id.Name && meta(o, "namespace") == id.Namespace {
			return o, nil
		}
	}
	return nil, nil
}

func (c *fakeCluster) Each(_ context.Context, l check.List, visit func(map[string]any)) error {
	if err := c.refuse(l.Kind); err != nil {
		return err
	}
	for _, o := range c.objects {
		if o["kind"] == l.Kind && (l.Namespace == "" || meta(o, "namespace") == l.Namespace) {
			visit(o)
		}
	}
	return nil
}

func meta(o map[string]any, key string) string {
	m, _ := o["metadata"].(map[string]any)
	s, _ := m[key].(string)
	return s
}

func (c *fakeCluster) Allowed(_ context.Context, rights []check.Right) ([]bool, error) {
	out := make([]bool, len(rights))
	for i, r := range rights {
		out[i] = !slices.Contains(c.denied, r.Verb+" "+r.Resource) && !slices.Contains(c.denied, "* "+r.Resource)
	}
	return out, c.refuse("rights")
}

func (c *fakeCluster) Release(_ context.Context, namespace, name string) (*check.Release, error) {
	return c.releases[namespace+"/"+name], c.refuse("Release")
}

// brokenWorld breaks the good configuration or the good world in one place.
type brokenWorld struct {
	code, name string
	config     []string // old, new, …
	world      []string // old, new, …; "" appends
	change     func(*fakeCluster, *check.Identity)
}

// pullSecret is a Secret as the replicator writes it, good until expires.
func pullSecret(host string, expires time.Time) string { return pullSecretIn("bench", host, expires) }

func pullSecretIn(namespace, host string, expires time.Time) string {
	token, err := json.Marshal(map[string]any{"expiration": expires.Unix()})
	if err != nil {
		panic(err)
	}
	password := base64.StdEncoding.EncodeToString(token)
	docker, err := json.Marshal(map[string]any{"auths": map[string]any{host: map[string]any{
		"username": "AWS", "password": password, "auth": base64.StdEncoding.EncodeToString([]byte("AWS:" + password)),
	}}})
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`
---
apiVersion: v1
kind: Secret
metadata: {name: moreh-registry, namespace: %s, annotations: {replicator.v1.mittwald.de/replicated-at: "2026-04-01T06:00:20Z"}}
type: kubernetes.io/dockerconfigjson
data: {.dockerconfigjson: %s}`, namespace, base64.StdEncoding.EncodeToString(docker))
}

const (
	registryHost = "1.dkr.ecr.ap-northeast-2.amazonaws.com"
	bench        = `
---
apiVersion: v1
kind: Namespace
metadata: {name: bench, labels: {mif: enabled}, annotations: {mifbench.dev/stack: test}}
status: {phase: Active}`
	train = `
---
apiVersion: v1
kind: Pod
metadata: {name: train-0, namespace: team-b}
spec: {nodeName: mi300x-1, containers: [{name: c, resources: {limits: {amd.com/gpu: 4, mellanox/hca: 1}}}]}
status: {phase: Running}`
)

// replicatedMode has the pull secret made by the framework.
func replicatedMode() []string {
	return []string{`"aws"`, `"replicated"`, "name = \"bench\"\n", "name = \"bench\"\n  labels = { mif = \"enabled\" }\n"}
}

func pod(name, node, labels, gpus string) string {
	return fmt.Sprintf("\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: %s, namespace: bench, labels: {%s}}\nspec: {nodeName: %s, containers: [{name: main, resources: {requests: {amd.com/gpu: %q}}}]}\nstatus: {phase: Running}",
		name, labels, node, gpus)
}

func brokenWorlds() []brokenWorld {
	return []brokenWorld{
		{code: "MIF101", name: "another-cluster", change: func(_ *fakeCluster, id *check.Identity) {
			id.Stranger = `the state was made on the cluster uid-0; context "test" leads to uid-1 at https://127.0.0.1:6443`
		}},
		{code: "MIF102", name: "kinds-missing", change: func(c *fakeCluster, _ *check.Identity) { c.absent = []string{"ServiceMonitor", "LeaderWorkerSet"} }},
		{code: "MIF102", name: "empty-cluster", change: func(c *fakeCluster, _ *check.Identity) {
			c.absent = []string{"Gateway", "HTTPRoute", "InferencePool", "InferenceService", "InferenceServiceTemplate", "LeaderWorkerSet", "ServiceMonitor", "PodMonitor", "DestinationRule"}
			c.objects = c.objects[1:4] // the nodes
		}},
		{code: "MIF102", name: "version", change: func(c *fakeCluster, _ *check.Identity) {
			c.old = map[string]string{"InferencePool": "inference.networking.x-k8s.io/v1alpha2"}
		}},
		{code: "MIF103", name: "one-port", world: []string{"maxItems: 8", "maxItems: 1"}},
		{code: "MIF103", name: "no-model", world: []string{"model: {type: object}, ", ""}},
		{code: "MIF104", name: "no-class", world: []string{"metadata: {name: istio}", "metadata: {name: kgateway}"}},
		{code: "MIF104", name: "not-accepted", world: []string{`{type: Accepted, status: "True", reason: Accepted, message: handled}`, `{type: Accepted, status: "False", reason: Pending, message: waiting for controller}`}},
		{code: "MIF105", name: "no-flag", world: []string{`value: "true"}]}]}}`, `value: "false"}]}]}}`}},
		{code: "MIF105", name: "old", world: []string{"pilot:1.29.1-distroless", "pilot:1.28.0"}},
		{code: "MIF106", name: "old-name", config: []string{"quickstart-vllm-deepseek-ai-deepseek-r1-decode-amd-mi300x-dp8-moe-ep8", "vllm-deepseek-r1-decode-mi300x-dp8ep8"}},
		{code: "MIF106", name: "typo", config: []string{"vllm-decode-dp", "vllm-decod-dp"}},
		{code: "MIF107", name: "shadowed", world: []string{"", bench + `
---
apiVersion: odin.moreh.io/v1alpha1
kind: InferenceServiceTemplate
metadata: {name: vllm-decode-dp, namespace: bench}
spec: {workerTemplate: {spec: {containers: [{name: main}]}}}`}},
		{code: "MIF108", name: "hostname", config: []string{"imagePullSecrets = [", "nodeSelector = { \"kubernetes.io/hostname\" = \"node-7\" }\n      imagePullSecrets = ["}},
		{code: "MIF108", name: "taint", world: []string{"tolerations: [{key: amd.com/gpu, operator: Exists, effect: NoSchedule}]", "tolerations: []"}},
		{code: "MIF108", name: "client", config: []string{"  load {", "  client {\n    node_selector = { \"kubernetes.io/hostname\" = \"node-7\" }\n  }\n  load {"}},
		{code: "MIF109", name: "held", world: []string{"", train}},
		{code: "MIF109", name: "cordoned", world: []string{"unschedulable: false", "unschedulable: true"}},
		{code: "MIF109", name: "replicas", config: []string{"replicas      = 1", "replicas      = 2"}},
		{code: "MIF109", name: "leaving", world: []string{"", strings.Replace(train, "namespace: team-b", "namespace: team-b, deletionTimestamp: \"2026-04-01T08:59:00Z\"", 1)}},
		{code: "MIF109", name: "hca", world: []string{", mellanox/hca: 1k}, conditions: [{type: Ready, status: \"True\"}]}", "}, conditions: [{type: Ready, status: \"True\"}]}"}},
		{code: "MIF110", name: "surge", config: []string{"  pool          = heimdall", "  rollout_strategy = { type = \"RollingUpdate\", rollingUpdate = { maxSurge = 1 } }\n  pool          = heimdall"}},
		{code: "MIF111", name: "not-ready", config: []string{"replicas      = 1", "replicas      = 0"}, world: []string{`status: "True", reason: KubeletReady, message: fine`, `status: Unknown, reason: NodeStatusUnknown, message: Kubelet stopped posting node status.`}},
		{code: "MIF112", name: "no-original", config: replicatedMode(), world: []string{"", bench}},
		{code: "MIF112", name: "original-expired", config: replicatedMode(), world: []string{"", pullSecretIn("mif", registryHost, now.Add(-20*time.Hour))}},
		{code: "MIF112", name: "no-label", config: []string{`"aws"`, `"replicated"`, "namespace \"bench\" {\n  name = \"bench\"\n}", "locals {\n  bench = \"bench\"\n}", "namespace.bench.name", "local.bench"},
			world: []string{"", strings.Replace(bench, "labels: {mif: enabled}, ", "", 1)}},
		{code: "MIF112", name: "other-registry", config: replicatedMode(), world: []string{"", bench + pullSecret("2.dkr.ecr.us-east-1.amazonaws.com", now.Add(9*time.Hour))}},
		{code: "MIF112", name: "expired", config: replicatedMode(), world: []string{"", bench + pullSecret(registryHost, now.Add(-90*time.Minute))}},
		{code: "MIF113", name: "not-long-enough", config: replicatedMode(), world: []string{"", bench + pullSecret(registryHost, now.Add(5*time.Minute))}},
		{code: "MIF113", name: "suspended", config: replicatedMode(), world: []string{"suspend: false", "suspend: true", "", bench + pullSecret(registryHost, now.Add(9*time.Hour))}},
		{code: "MIF113", name: "late", config: replicatedMode(), world: []string{`lastSuccessfulTime: "2026-04-01`, `lastSuccessfulTime: "2026-03-31`, "", bench + pullSecret(registryHost, now.Add(9*time.Hour))}},
		{code: "MIF114", name: "terminating", world: []string{"", strings.NewReplacer("annotations:", "deletionTimestamp: \"2026-04-01T08:00:00Z\", annotations:", "{phase: Active}",
			"{phase: Terminating, conditions: [{type: NamespaceFinalizersRemaining, status: \"True\", message: \"Some content in the namespace has finalizers remaining: odin.moreh.io/finalizer in 2 resource instances\"}]}").Replace(bench)}},
		{code: "MIF114", name: "nobody-makes-it", config: []string{"namespace \"bench\" {\n  name = \"bench\"\n}", "locals {\n  bench = \"bench\"\n}", "namespace.bench.name", "local.bench"}},
		{code: "MIF115", name: "no-mark", world: []string{"", strings.Replace(bench, ", annotations: {mifbench.dev/stack: test}", "", 1)}},
		{code: "MIF115", name: "other-stack", world: []string{"", strings.Replace(bench, "stack: test", "stack: production", 1)}},
		{code: "MIF116", name: "operator", world: []string{"", bench}, change: release(check.Release{Revision: 3, Status: "deployed", Chart: "heimdall", Version: "v0.4.0", About: "A Kubernetes operator for Heimdall"})},
		{code: "MIF116", name: "other-chart", world: []string{"", bench}, change: release(check.Release{Revision: 3, Status: "deployed", Chart: "nginx", Version: "1.0.0", About: "A web server"})},
		{code: "MIF117", name: "pending", world: []string{"", bench}, change: release(check.Release{Revision: 2, Status: "pending-upgrade", Chart: "heimdall", Version: "v0.7.1", Updated: now.Add(-3 * time.Minute)})},
		{code: "MIF117", name: "failed", world: []string{"", bench}, change: release(check.Release{Revision: 1, Status: "failed", Chart: "heimdall", Version: "v0.7.1"})},
		{code: "MIF118", name: "viewer", change: func(c *fakeCluster, _ *check.Identity) {
			c.denied = []string{"create inferenceservices", "patch inferenceservices", "delete inferenceservices", "* secrets", "create clusterroles", "create pods"}
		}},
		{code: "MIF118", name: "escalation", change: func(c *fakeCluster, _ *check.Identity) {
			c.denied = []string{"create tokenreviews", "escalate clusterroles"}
		}},
		{code: "MIF119", name: "not-available", world: []string{`{type: Available, status: "True", reason: MinimumReplicasAvailable, message: odin is fine}`, `{type: Available, status: "False", reason: MinimumReplicasUnavailable, message: Deployment does not have minimum availability.}`}},
		{code: "MIF119", name: "scaled-down", world: []string{"spec: {replicas: 1}", "spec: {replicas: 0}"}},
		{code: "MIF120", name: "no-claim", config: []string{`template_refs = ["vllm-decode-dp", `, `template_refs = ["vllm-decode-dp", "workertemplate-hf-hub-offline", `}},
		{code: "MIF121", name: "same-pool", world: []string{"", bench + `
---
apiVersion: odin.moreh.io/v1alpha1
kind: InferenceService
metadata: {name: somebody, namespace: bench}
spec: {inferencePoolRefs: [{name: heimdall}]}`}},
		{code: "MIF121", name: "same-label", world: []string{"", bench + pod("stray", "cpu-0", "mif.moreh.io/pool: heimdall", "0")}},
		{code: "MIF121", name: "same-node", world: []string{"", bench + pod("decode-0", "mi300x-1", "app.kubernetes.io/name: decode, mif.moreh.io/pool: heimdall", "8") +
			strings.Replace(train, "amd.com/gpu: 4, ", "", 1)}},
	}
}

func release(r check.Release) func(*fakeCluster, *check.Identity) {
	return func(c *fakeCluster, _ *check.Identity) { c.releases["bench/heimdall"] = &r }
}

// judge runs the cluster's checks of a broken world.
func judge(t *testing.T, b brokenWorld, p check.Purpose) (*config.Config, []check.Result, *check.World) {
	t.Helper()
	cfg, _ := load(t, edit(t, read(t, "good.mif.hcl"), b.config))
	c := newFake(t, edit(t, read(t, "world.yaml"), b.world))
	id := check.Identity{Context: "test", Server: "https://127.0.0.1:6443", Cluster: "uid-1"}
	if b.change != nil {
		b.change(c, &id)
	}
	m := check.New(cfg)
	w := check.Read(t.Context(), c, m, id, now)
	return cfg, check.Judge(m, w, p), w
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(home + "/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// edit replaces every occurrence of each old text; "" appends.
func edit(t *testing.T, text string, edits []string) string {
	t.Helper()
	for i := 0; i < len(edits); i += 2 {
		if edits[i] == "" {
			text = strings.TrimSuffix(text, "\n") + edits[i+1]
			continue
		}
		if !strings.Contains(text, edits[i]) {
			t.Fatalf("%q is not there", edits[i])
		}
		text = strings.ReplaceAll(text, edits[i], edits[i+1])
	}
	return text
}

// TestClusterChecks breaks a good world in one place at a time: the check finds it, no other
// does, and the golden file shows what its reader reads.
func TestClusterChecks(t *testing.T) {
	covered := map[string]bool{}
	for _, b := range brokenWorlds() {
		covered[b.code] = true
		t.Run(b.code+"-"+b.name, func(t *testing.T) {
			cfg, results, w := judge(t, b, check.ToCheck)
			found := false
			for _, r := range results {
				if len(r.Diagnostics) > 0 && r.Code != b.code {
					t.Errorf("another check speaks: %s: %s", r.Code, r.Diagnostics[0].Detail)
				}
				found = found || r.Code == b.code && len(r.Diagnostics) > 0
			}
			if !found || len(w.Broken()) > 0 {
				t.Errorf("%s found nothing; broken: %v", b.code, w.Broken())
			}
			golden(t, "world/"+b.code+"-"+b.name+".txt", render(t, cfg, check.Diagnostics(results)))
		})
	}
	for _, k := range check.All() {
		if k.Look != nil && !covered[k.Code] {
			t.Errorf("%s has no case", k.Code)
		}
	}
}

// TestGoodWorld: nothing is found, nothing is skipped, and each check says what it saw.
func TestGoodWorld(t *testing.T) {
	_, results, _ := judge(t, brokenWorld{}, check.ToCheck)
	golden(t, "world/good.txt", list(results))
}

// TestForbiddenWorld: a check that may not read says so and never passes.
func TestForbiddenWorld(t *testing.T) {
	everything := func(c *fakeCluster, id *check.Identity) {
		id.StateGap = "no right to read the state"
		c.forbidden = []string{
			"kinds", "rights", "Release", "Namespace", "Node", "Pod", "GatewayClass", "CustomResourceDefinition", "InferenceServiceTemplate",
			"InferenceService", "Deployment", "Secret", "CronJob", "PersistentVolumeClaim",
		}
	}
	offline := replicatedMode()
	offline = append(offline, `template_refs = ["vllm-decode-dp", `, `template_refs = ["vllm-decode-dp", "workertemplate-hf-hub-offline", `)
	_, results, w := judge(t, brokenWorld{config: offline, change: everything}, check.ToCheck)
	for _, r := range results {
		if r.Status != check.Skipped {
			t.Errorf("%s is %s: %v", r.Code, r.Status, r.Seen)
		}
	}
	if len(w.Broken()) > 0 {
		t.Errorf("a missing right is no failure: %v", w.Broken())
	}
	golden(t, "world/forbidden.txt", list(results))
}

// TestBrokenWorld: what fails for another reason than rights is a failure, and named.
func TestBrokenWorld(t *testing.T) {
	_, results, w := judge(t, brokenWorld{change: func(c *fakeCluster, _ *check.Identity) { c.broken = []string{"Node"} }}, check.ToCheck)
	if len(w.Broken()) != 1 || !strings.Contains(w.Broken()[0], "the nodes: the server is on fire") {
		t.Errorf("broken: %v", w.Broken())
	}
	for _, r := range results {
		if r.Code == "MIF109" && r.Status != check.Skipped {
			t.Errorf("%s is %s", r.Code, r.Status)
		}
	}
}

// TestNotInstalledYet: what a release of the same configuration may bring is not held to be
// missing, and not to be there.
func TestNotInstalledYet(t *testing.T) {
	odin := "}\n\nhelm_release \"odin\" {\n  namespace = namespace.bench.name\n  chart     = \"./odin\"\n}\n\nscenario \"one\""
	cfg := []string{"}\n\nscenario \"one\"", odin}
	empty := func(c *fakeCluster, _ *check.Identity) {
		c.absent = []string{"InferenceService", "InferenceServiceTemplate", "LeaderWorkerSet", "InferencePool"}
		c.objects = c.objects[1:4] // the nodes
	}
	_, results, _ := judge(t, brokenWorld{config: cfg, change: empty}, check.ToCheck)
	if d := check.Diagnostics(results); len(d) > 0 {
		t.Errorf("%v", d)
	}
	golden(t, "world/not-installed.txt", list(results))
}

// TestCopyIsAwaited: a copy that is not there yet is no fault where the original is.
func TestCopyIsAwaited(t *testing.T) {
	for _, world := range []string{"", bench} {
		b := brokenWorld{config: replicatedMode(), world: []string{"", world + pullSecretIn("mif", registryHost, now.Add(9*time.Hour))}}
		_, results, _ := judge(t, b, check.ToCheck)
		for _, r := range results {
			if len(r.Diagnostics) > 0 || r.Code == "MIF112" && (r.Status != check.Fine || !strings.Contains(r.Seen[0], "apply waits for the copy")) {
				t.Errorf("%s is %s: %v", r.Code, r.Status, r.Seen)
			}
		}
	}
}

// TestChartOfAPath: a directory may be called otherwise than the chart in it.
func TestChartOfAPath(t *testing.T) {
	b := brokenWorld{
		config: []string{"}\n\nscenario \"one\"", "}\n\nhelm_release \"other\" {\n  namespace = namespace.bench.name\n  chart     = \"./chart\"\n}\n\nscenario \"one\"",
			`"https://example.org/charts"`, `"./charts"`},
		world: []string{"", bench},
		change: func(c *fakeCluster, _ *check.Identity) {
			c.releases["bench/other"] = &check.Release{Revision: 1, Status: "failed", Chart: "small", Version: "1.0.0"}
			c.releases["bench/heimdall"] = &check.Release{Revision: 1, Status: "deployed", Chart: "heimdall", Version: "v0.7.1"}
		},
	}
	_, results, _ := judge(t, b, check.ToPlan)
	if d := check.Diagnostics(results); len(d) > 0 {
		t.Errorf("%s: %s", d[0].Summary, d[0].Detail)
	}
}

// TestPurposes: a plan leaves out what it says itself, and only warns of what hinders an apply;
// a run takes only what spoils it.
func TestPurposes(t *testing.T) {
	b := brokenWorld{world: []string{"", strings.Replace(bench, "stack: test", "stack: production", 1) + pod("stray", "cpu-0", "mif.moreh.io/pool: heimdall", "0")}, change: func(c *fakeCluster, _ *check.Identity) { c.denied = []string{"* inferenceservices"} }}
	for p, want := range map[check.Purpose]map[string]check.Status{
		check.ToCheck: {"MIF115": check.Doubtful, "MIF118": check.Faulty},
		check.ToPlan:  {"MIF115": "", "MIF118": check.Doubtful},
		check.ToApply: {"MIF115": "", "MIF118": check.Faulty},
		check.ToRun:   {"MIF115": "", "MIF118": "", "MIF121": check.Doubtful},
	} {
		_, results, _ := judge(t, b, p)
		got := map[string]check.Status{}
		for _, r := range results {
			got[r.Code] = r.Status
		}
		for code, status := range want {
			if got[code] != status {
				t.Errorf("purpose %d: %s is %q, want %q", p, code, got[code], status)
			}
		}
	}
}

func TestDisabledClusterCheck(t *testing.T) {
	b := brokenWorld{config: []string{`stack = "test"`, "stack = \"test\"\n  disabled_checks = [\"MIF104\"]"}, world: []string{"metadata: {name: istio}", "metadata: {name: kgateway}"}}
	_, results, _ := judge(t, b, check.ToCheck)
	for _, r := range results {
		if r.Code == "MIF104" && r.Status != check.Off || len(r.Diagnostics) > 0 {
			t.Errorf("%s: %s", r.Code, r.Status)
		}
	}
}

// list is what the command prints of results, without colours.
func list(results []check.Result) string {
	var b strings.Builder
	for _, r := range results {
		fmt.Fprintf(&b, "%s %s %s\n", r.Code, r.Status, r.About)
		for _, s := range r.Seen {
			fmt.Fprintf(&b, "  seen: %s\n", s)
		}
		for _, s := range r.Skipped {
			fmt.Fprintf(&b, "  skipped: %s\n", s)
		}
	}
	return b.String()
}
