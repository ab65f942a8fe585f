package e2e

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mifbench/mifbench/internal/faultproxy"
)

// TestComplaint12To14FailedRelease: a failed install is a difference, the next apply upgrades the
// release in place and nothing of it is deleted.
func TestComplaint12To14FailedRelease(t *testing.T) {
	t.Parallel()
	const ns = "row-failed"
	u := newStormy(t, "small.mif.hcl", ns)
	u.p.Spoil(faultproxy.Rule{Match: faultproxy.Writes("/namespaces/" + ns + "/services"), Times: 1, Do: faultproxy.Answer(500, "InternalError", "no port left")})
	out := u.must(1, "apply", "--auto-approve")
	contains(t, out, "helm_release.chart", "no port left")
	u.p.Clear()
	config := "/api/v1/namespaces/" + ns + "/configmaps/chart-config"
	uid := at(u.live(config), "metadata", "uid")
	contains(t, u.must(2, "plan", "--detailed-exitcode"), "helm_release.chart", "failed", "0 to destroy")
	u.converge()
	if now := at(u.live(config), "metadata", "uid"); uid != nil && now != uid {
		t.Errorf("the release's object was made anew: %v, %v", uid, now)
	}
	widgets := u.live("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets." + ns + ".example.org")
	if widgets == nil {
		t.Error("the CRD is gone")
	}
}

// TestComplaint15OneLineOfValuesIsOneLineOfPlan: values are compared as trees; secrets in them are masked.
func TestComplaint15OneLineOfValuesIsOneLineOfPlan(t *testing.T) {
	t.Parallel()
	const ns = "row-values"
	u := newStormy(t, "small.mif.hcl", ns)
	u.edit("variable \"level\" {", "variable \"token\" {\n  type = string\n  sensitive = true\n  default = \"hunter2hunter2\"\n}\nvariable \"level\" {")
	u.edit(`{ level = var.level }
}`, `{ level = var.level, token = var.token, list = [for i in range(200) : { name = "n${i}", value = i }] }
}`)
	u.must(0, "apply", "--auto-approve")
	contains(t, u.must(0, "plan", "--detailed-exitcode"), "No changes.")
	out := u.must(2, "plan", "--detailed-exitcode", "--var", "level=high")
	if n := strings.Count(out, "\n"); n > 60 {
		t.Errorf("one value changed, %d lines of plan:\n%s", n, out)
	}
	out += u.must(2, "plan", "--detailed-exitcode", "--var", "token=hunter3hunter3")
	out += u.must(0, "plan", "--json", "--var", "token=hunter3hunter3") + read(t, filepath.Join(u.dir, stateFile))
	if strings.Contains(out, "hunter2") || strings.Contains(out, "hunter3") {
		t.Error("a sensitive value is shown")
	}
}

// TestComplaint18NewerCRDsOfAChartAreSaid: Helm never upgrades crds/; the plan says that the chart has newer ones.
func TestComplaint18NewerCRDsOfAChartAreSaid(t *testing.T) {
	t.Parallel()
	const ns = "row-crds"
	u := newStormy(t, "tiny.mif.hcl", ns)
	files := map[string]string{"crds/crd.yaml": gadgetCRD(ns + ".example.org"), "templates/x.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"}
	u.writeChart("crds", files)
	u.write("more.mif.hcl", "helm_release \"crds\" {\n  namespace = namespace.bench.name\n  chart = \"./crds\"\n}\n")
	u.must(0, "apply", "--auto-approve")
	files["crds/crd.yaml"] = strings.Replace(files["crds/crd.yaml"], "size: {type: integer}", "size: {type: integer}, weight: {type: integer}", 1)
	u.writeChart("crds", files)
	contains(t, u.must(0, "plan"), "gadgets."+ns+".example.org", "crds/")
}

// TestComplaint20LookupWorksAtPlan: a template that looks into the cluster renders at plan what it renders at apply.
func TestComplaint20LookupWorksAtPlan(t *testing.T) {
	t.Parallel()
	const ns = "row-lookup"
	u := newStormy(t, "tiny.mif.hcl", ns)
	u.must(0, "apply", "--auto-approve")
	u.writeChart("looks", map[string]string{"templates/x.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: found}
data: {level: {{ (lookup "v1" "ConfigMap" .Release.Namespace "first").data.level | default "nothing" | quote }}}
`})
	u.write("more.mif.hcl", "helm_release \"looks\" {\n  namespace = namespace.bench.name\n  chart = \"./looks\"\n}\n")
	contains(t, u.must(2, "plan", "--detailed-exitcode", "--expand"), `"low"`)
	u.must(0, "apply", "--auto-approve")
	if got := at(u.live("/api/v1/namespaces/"+ns+"/configmaps/found"), "data", "level"); got != "low" {
		t.Errorf("rendered %v", got)
	}
	contains(t, u.must(0, "plan", "--detailed-exitcode"), "No changes.")
}

// TestComplaint26ProtectedObjectsAreNamedAfterThePlan: the whole plan is shown, then what blocks it;
// --exclude and keep_on_destroy let the rest go, and plan --destroy shows what destroy does.
func TestComplaint26ProtectedObjectsAreNamedAfterThePlan(t *testing.T) {
	t.Parallel()
	const ns = "row-protect"
	u := newStormy(t, "tiny.mif.hcl", ns)
	const block, guard = "manifest \"first\" {\n", "manifest \"first\" {\n  lifecycle { prevent_destroy = true }\n"
	u.edit(block, guard)
	u.must(0, "apply", "--auto-approve")
	maps := "/api/v1/namespaces/" + ns + "/configmaps/"
	for _, command := range [][]string{{"plan", "--destroy"}, {"destroy", "--auto-approve"}} {
		out := u.must(1, command...)
		contains(t, out, "manifest.second will be destroyed", "manifest.first", "may not be destroyed", "prevent_destroy", "--exclude=manifest.first")
	}
	plan := u.must(0, "plan", "--destroy", "--exclude", "manifest.first") // and the namespace, which it needs
	contains(t, plan, "1 to destroy")
	contains(t, u.must(0, "destroy", "--auto-approve", "--exclude", "manifest.first"), "1 destroyed")
	if u.live(maps+"first") == nil || u.live(maps+"second") != nil {
		t.Fatal("not exactly the protected object is left")
	}
	u.edit(guard, "manifest \"first\" {\n  lifecycle { keep_on_destroy = true }\n")
	u.edit("namespace \"bench\" {\n", "namespace \"bench\" {\n  lifecycle { keep_on_destroy = true }\n")
	u.must(0, "apply", "--auto-approve")
	contains(t, u.must(0, "plan", "--destroy"), "1 to destroy", "2 to keep")
	for range 2 { // what is kept is no news the second time either
		contains(t, u.must(0, "destroy", "--auto-approve"), "0 objects of this stack remain")
	}
	if u.live(maps+"first") == nil || u.live(maps+"second") != nil {
		t.Error("not exactly the kept object is left")
	}
	u.p.Do(t, http.MethodDelete, "/api/v1/namespaces/"+ns, "", "")
}

// TestComplaint35LargeDefinitions: larger than what client-side apply can annotate (262,144 bytes).
func TestComplaint35LargeDefinitions(t *testing.T) {
	t.Parallel()
	const ns = "row-large"
	u := newStormy(t, "tiny.mif.hcl", ns)
	var fields strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&fields, "field%d: {type: string, description: %q}, ", i, strings.Repeat("long ", 30))
	}
	text := strings.Replace(gadgetCRD(ns+".example.org"), "size: {type: integer}", fields.String()+"size: {type: integer}", 1)
	if len(text) < 600<<10 {
		t.Fatalf("%d bytes", len(text))
	}
	u.write("crd.yaml", text)
	u.write("more.mif.hcl", "manifest \"definition\" { file = \"crd.yaml\" }\n")
	u.must(0, "apply", "--auto-approve")
	contains(t, u.must(0, "plan", "--detailed-exitcode"), "No changes.")
}

// TestComplaint36ImmutableFieldIsReplacedWhereShown: the plan shows the replacement and apply does it for that object only.
func TestComplaint36ImmutableFieldIsReplacedWhereShown(t *testing.T) {
	t.Parallel()
	const ns = "row-immutable"
	u := newStormy(t, "workload.mif.hcl", ns)
	u.must(0, "apply", "--auto-approve")
	path := "/apis/apps/v1/namespaces/" + ns + "/deployments/"
	web, chart := at(u.live(path+"web"), "metadata", "uid"), at(u.live(path+"chart"), "metadata", "uid")
	u.edit(`selector = { matchLabels = { app = "web" } }`, `selector = { matchLabels = { app = "site" } }`)
	u.edit(`labels = { app = "web" }`, `labels = { app = "site" }`)
	contains(t, u.must(2, "plan", "--detailed-exitcode"), "manifest.web must be replaced", "forces replacement", "1 pod", "Plan: 1 to add, 0 to change, 1 to destroy.")
	u.converge()
	if now := at(u.live(path+"web"), "metadata", "uid"); now == web || now == nil {
		t.Errorf("web was not replaced: %v", now)
	}
	if now := at(u.live(path+"chart"), "metadata", "uid"); now != chart {
		t.Errorf("chart was touched: %v", now)
	}
}

// TestBrokenAggregatedAPI breaks a part of discovery for real: an APIService whose server is not there.
// Plans and applies do not care; a destroy says what holds the namespace. Not parallel: no
// namespace of the cluster can be deleted meanwhile.
func TestBrokenAggregatedAPI(t *testing.T) {
	const ns = "row-aggregated"
	u := newStormy(t, "tiny.mif.hcl", ns)
	u.edit("namespace \"bench\" {\n", "namespace \"bench\" {\n  timeouts { delete = \"8s\" }\n")
	const services = "/apis/apiregistration.k8s.io/v1/apiservices"
	status, body := u.p.Do(t, http.MethodPost, services, "application/json", `{"apiVersion":"apiregistration.k8s.io/v1","kind":"APIService","metadata":{"name":"v1.broken.example.org"},
		"spec":{"group":"broken.example.org","version":"v1","groupPriorityMinimum":1000,"versionPriority":10,"insecureSkipTLSVerify":true,"service":{"namespace":"default","name":"nobody","port":443}}}`)
	if status != http.StatusCreated {
		t.Fatalf("%d %s", status, body)
	}
	drop := func() { u.p.Do(t, http.MethodDelete, services+"/v1.broken.example.org", "", "") }
	t.Cleanup(drop)
	u.must(0, "apply", "--auto-approve")
	contains(t, u.must(0, "plan", "--detailed-exitcode"), "No changes.")
	out := u.must(1, "destroy", "--auto-approve")
	contains(t, out, "namespace.bench", "not ready", "NamespaceDeletionDiscoveryFailure", "broken.example.org", "Remains: ")
	contains(t, u.must(1, "plan"), "is being deleted", "NamespaceDeletionDiscoveryFailure")
	drop()
	contains(t, u.must(0, "destroy", "--auto-approve"), "0 objects of this stack remain")
}

// TestComplaint10IgnoreRulesHoldOnTheFirstPlanAfterImport: an object of somebody's is imported; what
// the file ignores is not reset, then nor later, also inside lists and owned by another manager.
func TestComplaint10IgnoreRulesHoldOnTheFirstPlanAfterImport(t *testing.T) {
	t.Parallel()
	const ns = "row-import"
	u := newStormy(t, "workload.mif.hcl", ns)
	u.must(0, "apply", "--auto-approve", "--target", "namespace.bench")
	body := `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"replicas":2,"selector":{"matchLabels":{"app":"web"}},
		"template":{"metadata":{"labels":{"app":"web"},"annotations":{"color":"red"}},"spec":{"terminationGracePeriodSeconds":1,"containers":[{"name":"main","image":"example.org/web:7","resources":{"requests":{"cpu":"100m"}}}]}}}}`
	path := "/apis/apps/v1/namespaces/" + ns + "/deployments"
	status, answer := u.p.Do(t, http.MethodPatch, path+"/web?fieldManager=deployer&force=true", "application/apply-patch+yaml", body)
	if status != http.StatusCreated {
		t.Fatalf("%d %s", status, answer)
	}
	u.edit("manifest \"web\" {\n", "manifest \"web\" {\n  lifecycle { ignore_changes = [spec.replicas, \"/spec/template/spec/containers/*/image\"] }\n")
	u.must(0, "import", "manifest.web")
	out := u.must(2, "plan", "--detailed-exitcode")
	if strings.Contains(out, "web:7") || strings.Contains(out, "spec.replicas") {
		t.Errorf("an ignored field is in the plan:\n%s", out)
	}
	u.converge()
	live := u.live(path + "/web")
	containers, _ := at(live, "spec", "template", "spec", "containers").([]any)
	if at(live, "spec", "replicas") != float64(2) || len(containers) != 1 || at(containers[0], "image") != "example.org/web:7" {
		t.Errorf("an ignored field was reset: %v", at(live, "spec"))
	}
	contains(t, u.must(0, "plan", "--destroy"), "was adopted, not created")
}

// TestComplaint07HoldersAreNamedByTheBinary: under the block's own timeout, too, the objects whose
// finalizers keep the namespace are listed; without the finalizer the next destroy comes to its end.
func TestComplaint07HoldersAreNamedByTheBinary(t *testing.T) {
	t.Parallel()
	const ns = "row-holders"
	u := newStormy(t, "tiny.mif.hcl", ns)
	u.edit("namespace \"bench\" {\n", "namespace \"bench\" {\n  timeouts { delete = \"5s\" }\n")
	u.must(0, "apply", "--auto-approve")
	u.p.Do(t, http.MethodPost, "/api/v1/namespaces/"+ns+"/configmaps", "application/json", `{"metadata":{"name":"theirs","finalizers":["example.org/hold"]}}`)
	contains(t, u.must(0, "plan", "--destroy"), "theirs", "not of this stack")
	out := u.must(1, "destroy", "--auto-approve")
	contains(t, out, "namespace.bench", "timeout of 5s", "ConfigMap "+ns+"/theirs (finalizers example.org/hold)", "Remains: Namespace "+ns)
	u.patch("/api/v1/namespaces/"+ns+"/configmaps/theirs", "vim", `{"metadata":{"finalizers":null}}`)
	u.edit(`delete = "5s"`, `delete = "3m"`)
	contains(t, u.must(0, "destroy", "--auto-approve"), "0 objects of this stack remain")
}
