package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/repo"

	"github.com/mifbench/mifbench/internal/clustertest"
)

// publishedVariable names a directory of the published archives; those that it has stand in the place of
// the small charts here, whose versions are the published ones' all the same.
const publishedVariable = "MIFBENCH_PUBLISHED_CHARTS"

// definition is the text of a CRD that takes anything.
func definition(group, plural, kind, version string) string {
	return fmt.Sprintf(`---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[2]s.%[1]s}
spec:
  group: %[1]s
  scope: Namespaced
  names: {plural: %[2]s, singular: %[3]s, kind: %[4]s}
  versions: [{name: %[5]s, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`, group, plural, strings.ToLower(kind), kind, version)
}

func deployment(name string) string {
	return fmt.Sprintf(`---
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s}
spec:
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec:
      terminationGracePeriodSeconds: 1
      imagePullSecrets: {{ .Values.global.imagePullSecrets | toJson }}
      containers: [{name: main, image: any, command: [sh, -c, "trap 'exit 0' TERM; while :; do sleep 0.1; done"]}]
`, name)
}

// standInCharts has what matters of each prerequisite: its definitions, where they lie, and what needs them.
func standInCharts() map[string]map[string]string {
	return map[string]map[string]string{
		"prometheus-operator-crds 31.0.1": {"templates/crds.yaml": definition("monitoring.coreos.com", "servicemonitors", "ServiceMonitor", "v1") + definition("monitoring.coreos.com", "podmonitors", "PodMonitor", "v1")},
		"cert-manager v1.18.4":            {"templates/crds.yaml": "{{ if .Values.crds.enabled }}\n" + definition("cert-manager.io", "certificates", "Certificate", "v1") + definition("cert-manager.io", "issuers", "Issuer", "v1") + "{{ end }}\n", "templates/d.yaml": deployment("cert-manager")},
		"base 1.29.1":                     {"templates/crds.yaml": definition("networking.istio.io", "destinationrules", "DestinationRule", "v1beta1")},
		"istiod 1.29.1":                   {"templates/d.yaml": deployment("istiod"), "templates/x.yaml": "apiVersion: networking.istio.io/v1beta1\nkind: DestinationRule\nmetadata: {name: istiod}\n"},
		"lws 0.8.0":                       {"crds/crds.yaml": definition("leaderworkerset.x-k8s.io", "leaderworkersets", "LeaderWorkerSet", "v1"), "templates/d.yaml": deployment("lws-controller-manager")},
		"odin-crd v0.8.0":                 {"templates/crds.yaml": definition("odin.moreh.io", "inferenceservices", "InferenceService", "v1alpha1") + definition("odin.moreh.io", "inferenceservicetemplates", "InferenceServiceTemplate", "v1alpha1")},
		"odin v0.8.0":                     {"templates/d.yaml": deployment("odin"), "templates/c.yaml": "apiVersion: cert-manager.io/v1\nkind: Issuer\nmetadata: {name: odin}\n---\napiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: odin}\n"},
		"moai-inference-preset v0.5.0":    {"templates/t.yaml": "apiVersion: odin.moreh.io/v1alpha1\nkind: InferenceServiceTemplate\nmetadata: {name: vllm-decode-dp}\nspec: {}\n"},
	}
}

// chartRepository serves the charts from loopback.
func chartRepository(t *testing.T, published string) string {
	t.Helper()
	dir := t.TempDir()
	for id, files := range standInCharts() {
		name, version, _ := strings.Cut(id, " ")
		c := &chart.Chart{Metadata: &chart.Metadata{APIVersion: "v2", Name: name, Version: version}}
		values := []byte("global: {imagePullSecrets: []}\ncrds: {enabled: false, keep: true}\npilot: {env: {}}\n")
		c.Raw = append(c.Raw, &chart.File{Name: chartutil.ValuesfileName, Data: values})
		for path, text := range files {
			f := &chart.File{Name: path, Data: []byte(text)}
			if strings.HasPrefix(path, "templates/") {
				c.Templates = append(c.Templates, f)
			} else {
				c.Files = append(c.Files, f)
			}
		}
		if _, err := chartutil.Save(c, dir); err != nil {
			t.Fatal(err)
		}
		if archive, err := os.ReadFile(filepath.Join(published, name+"-"+version+".tgz")); published != "" && err == nil {
			if err := os.WriteFile(filepath.Join(dir, name+"-"+version+".tgz"), archive, 0o600); err != nil {
				t.Fatal(err)
			}
			t.Logf("%s is the published chart", id)
		}
	}
	index, err := repo.IndexDirectory(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := index.WriteFile(filepath.Join(dir, "index.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(srv.Close)
	return srv.URL
}

// tokens plays ECR: a cluster without definitions has no stand-ins.
func tokens(t *testing.T) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		fmt.Fprintf(w, `{"authorizationData":[{"authorizationToken":"QVdTOmR1bW15","expiresAt":%d}]}`, time.Now().Add(12*time.Hour).Unix())
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// TestPrerequisitesOnAnEmptyCluster: examples/prerequisites turns a cluster without any definition into one
// on which the benchmark's stack can be planned, in one apply, and goes without a trace.
func TestPrerequisitesOnAnEmptyCluster(t *testing.T) {
	if _, err := os.Stat(binaryPath()); err != nil {
		t.Skip("bin/mifbench is missing: make build")
	}
	c := clustertest.Start(t, clustertest.WithoutCRDs())
	url := chartRepository(t, os.Getenv(publishedVariable))
	u := &user{t: t, dir: t.TempDir(), env: append(os.Environ(), "AWS_EC2_METADATA_DISABLED=true")}
	for k, v := range c.Env {
		u.env = append(u.env, k+"="+v)
	}
	u.env = append(u.env, "AWS_ENDPOINT_URL_ECR="+tokens(t), "AWS_ACCESS_KEY_ID=x", "AWS_SECRET_ACCESS_KEY=x")
	files, err := filepath.Glob("../../examples/prerequisites/*.mif.hcl")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range append(files, "../../examples/testdata/prerequisites/standard-install.yaml", "../../examples/testdata/prerequisites/manifests.yaml") {
		u.write(filepath.Base(f), read(t, f))
	}
	at := fmt.Sprintf("%q", url)
	u.write("site.auto.mifvars", "gateway_api_crds = \"standard-install.yaml\"\ninference_extension_crds = \"manifests.yaml\"\n"+
		"repositories = { jetstack = "+at+", istio = "+at+", lws = "+at+", monitoring = "+at+", moreh = "+at+" }\n")
	contains(t, u.must(2, "plan", "--detailed-exitcode"), "Plan: 17 to add, 0 to change, 0 to destroy.")
	contains(t, u.must(0, "apply", "--auto-approve"), "17 added")
	contains(t, u.must(0, "plan", "--detailed-exitcode"), "No changes.")
	u.write("class.yaml", "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: istio}\nspec: {controllerName: istio.io/gateway-controller}\n"+
		"status: {conditions: [{type: Accepted, status: 'True', reason: Accepted, message: '', lastTransitionTime: '2026-01-01T00:00:00Z'}]}\n")
	u.kubectl("apply", "-f", filepath.Join(u.dir, "class.yaml")) // what istiod does once it runs
	bench := &user{t: t, dir: t.TempDir(), env: append(u.env, "MIFBENCH_VAR_chart_repository="+c.Env["MIFBENCH_VAR_chart_repository"])}
	bench.write("stack.mif.hcl", `mifbench { stack = "next" }
cluster { context = "localcluster" }
namespace "bench" { name = "next" }
gateway "mif" {
  namespace = namespace.bench.name
  class     = "istio"
  listener "http" {
    protocol = "HTTP"
    port     = 80
  }
}
manifest "service" {
  object = {
    apiVersion = "odin.moreh.io/v1alpha1"
    kind       = "InferenceService"
    metadata   = { name = "decode", namespace = namespace.bench.name }
    spec       = { replicas = 1, templateRefs = [{ name = "vllm-decode-dp" }] }
  }
}
`)
	contains(t, bench.must(2, "plan", "--detailed-exitcode"), "Plan: 3 to add, 0 to change, 0 to destroy.")
	const kept = "leaderworkersets.leaderworkerset.x-k8s.io" // from crds/, which Helm never deletes
	contains(t, u.must(0, "destroy", "--auto-approve"), "CustomResourceDefinition "+kept+" stays", "0 objects of this stack remain")
	if left := u.kubectl("get", "crd", "-o", "name"); strings.TrimSpace(left) != "customresourcedefinition.apiextensions.k8s.io/"+kept {
		t.Errorf("definitions are left:\n%s", left)
	}
}
