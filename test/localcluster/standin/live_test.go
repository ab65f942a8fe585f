package standin_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mifbench/mifbench/test/localcluster/address"
	"github.com/mifbench/mifbench/test/localcluster/standin/dataplane"
	"github.com/mifbench/mifbench/test/localcluster/standin/reconcile"
)

const ns = "standin-test"

// TestLive walks the published stack through a real API server: each step builds on those before.
func TestLive(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	l := startLive(t)
	for _, step := range []struct {
		name string
		do   func(*testing.T, *live)
	}{
		{"a labelled namespace gets the pull secret", replicates},
		{"a gateway is programmed, and a wrong overlay is reported", programs},
		{"a route to nowhere is not accepted, a good one is", routes},
		{"a service of an unknown template is refused at dry-run", refuses},
		{"services become ready with the published pods", serves},
		{"a stream flows through the gateway to a decode rank", streams},
		{"a changed template replaces the pods one by one", rolls},
		{"deleting the namespace leaves nothing", vanishes},
	} {
		if !t.Run(step.name, func(t *testing.T) { step.do(t, l) }) {
			return
		}
	}
}

func replicates(t *testing.T, l *live) {
	l.mustApply(t, reconcile.Namespaces(), "", `{metadata: {name: `+ns+`, labels: {mif: enabled}}}`)
	arrives := func() (bool, string) { return l.get(reconcile.Secrets(), ns, "moreh-registry") != nil, "no secret" }
	eventually(t, "the secret arrives", arrives)
	l.mustApply(t, reconcile.Namespaces(), "", `{metadata: {name: `+ns+`}}`)
	eventually(t, "the secret goes with the label", func() (bool, string) { ok, _ := arrives(); return !ok, "still there" })
	l.mustApply(t, reconcile.Namespaces(), "", `{metadata: {name: `+ns+`, labels: {mif: enabled}}}`)
	eventually(t, "the secret comes back", arrives)
}

func programs(t *testing.T, l *live) {
	params := func(service string) {
		l.mustApply(t, reconcile.ConfigMaps(), ns, fmt.Sprintf(`{metadata: {name: infra}, data: {service: %q}}`, service))
	}
	params("spec: {type: ClusterIP}")
	l.mustApply(t, reconcile.Gateways(), ns, `
metadata: {name: mif}
spec:
  gatewayClassName: istio
  infrastructure: {parametersRef: {group: "", kind: ConfigMap, name: infra}}
  listeners: [{name: http, protocol: HTTP, port: 80, allowedRoutes: {namespaces: {from: All}}}]
`)
	l.condition(t, reconcile.Gateways(), ns, "mif", "Programmed=True", own)
	params("spec: [")
	l.condition(t, reconcile.Gateways(), ns, "mif", "Programmed=False", own)
	params("spec: {type: ClusterIP}")
	l.condition(t, reconcile.Gateways(), ns, "mif", "Programmed=True", own)
	svc := l.get(reconcile.Services(), ns, "mif-istio")
	if typ, _, _ := unstructured.NestedString(svc.Object, "spec", "type"); typ != "ClusterIP" {
		t.Errorf("the Service is of type %s", typ)
	}
}

func routes(t *testing.T, l *live) {
	// What heimdall's chart installs, as far as traffic is concerned.
	l.mustApply(t, reconcile.Deployments(), ns, `
metadata: {name: heimdall}
spec:
  selector: {matchLabels: {app: heimdall}}
  template:
    metadata: {labels: {app: heimdall}}
    spec: {containers: [{name: main, image: localcluster.invalid/heimdall}]}
`)
	l.mustApply(t, reconcile.Services(), ns, `{metadata: {name: heimdall}, spec: {selector: {app: heimdall}, ports: [{port: 9002}]}}`)
	l.mustApply(t, reconcile.InferencePools(), ns, `
metadata: {name: heimdall}
spec: {selector: {matchLabels: {mif.moreh.io/pool: heimdall}}, targetPorts: [{number: 8000}, {number: 8001}], endpointPickerRef: {name: heimdall, port: {number: 9002}}}
`)
	route := func(gateway string) {
		l.mustApply(t, reconcile.HTTPRoutes(), ns, `
metadata: {name: heimdall}
spec: {parentRefs: [{name: `+gateway+`}], rules: [{backendRefs: [{group: inference.networking.k8s.io, kind: InferencePool, name: heimdall}]}]}
`)
	}
	route("mfi")
	l.condition(t, reconcile.HTTPRoutes(), ns, "heimdall", "Accepted=False", ofParent)
	route("mif")
	l.condition(t, reconcile.HTTPRoutes(), ns, "heimdall", "Accepted=True", ofParent)
	l.condition(t, reconcile.HTTPRoutes(), ns, "heimdall", "ResolvedRefs=True", ofParent)
	l.condition(t, reconcile.InferencePools(), ns, "heimdall", "Accepted=True", ofParent)
}

// service is an InferenceService of the published shape.
func service(role, base, suffix, label string, replicas int) string {
	return fmt.Sprintf(`
metadata: {name: %s}
spec:
  replicas: %d
  inferencePoolRefs: [{name: heimdall}]
  templateRefs: [{name: %s}, {name: quickstart-vllm-deepseek-ai-deepseek-r1-%s-amd-mi300x-dp8-moe-%s}]
  workerTemplate: {metadata: {labels: {round: %q}}, spec: {containers: [{name: main, resources: {limits: {mellanox/hca: "1"}, requests: {mellanox/hca: "1"}}}]}}
`, role, replicas, base, role, suffix, label)
}

func refuses(t *testing.T, l *live) {
	err := l.apply(t, reconcile.InferenceServices(), ns, service("decode", "vllm-decode-dp", "ep9", "1", 3), true)
	if err == nil || !strings.Contains(err.Error(), "moe-ep9") || !strings.Contains(err.Error(), "not found") {
		t.Errorf("got %v", err)
	}
	if err := l.apply(t, reconcile.InferenceServices(), ns, service("decode", "vllm-decode-dp", "ep8", "1", 3), true); err != nil {
		t.Error(err)
	}
}

func serves(t *testing.T, l *live) {
	l.mustApply(t, reconcile.InferenceServices(), ns, service("decode", "vllm-decode-dp", "ep8", "1", 3))
	l.mustApply(t, reconcile.InferenceServices(), ns, service("prefill", "vllm-prefill-dp", "ep8", "1", 2))
	l.condition(t, reconcile.InferenceServices(), ns, "decode", "Ready=True", own)
	l.condition(t, reconcile.InferenceServices(), ns, "prefill", "Ready=True", own)
	l.condition(t, reconcile.LeaderWorkerSets(), ns, "decode", "Available=True", own)
	for name, containers := range map[string]int{"decode-0": 2, "decode-1": 2, "decode-2": 2, "prefill-0": 1, "prefill-1": 1} {
		pod := l.get(reconcile.Pods(), ns, name)
		if pod == nil {
			t.Fatalf("no pod %s", name)
		}
		init, _, _ := unstructured.NestedSlice(pod.Object, "spec", "initContainers")
		main, _, _ := unstructured.NestedSlice(pod.Object, "spec", "containers")
		if len(init)+len(main) != containers {
			t.Errorf("pod %s has %d containers, want %d", name, len(init)+len(main), containers)
		}
		if pod.GetLabels()["mif.moreh.io/pool"] != "heimdall" {
			t.Errorf("pod %s has labels %v", name, pod.GetLabels())
		}
	}
}

// streams plays the engines of all decode pods itself.
func streams(t *testing.T, l *live) {
	prefill := make(chan string, 16)
	for i := range 3 {
		pod := l.get(reconcile.Pods(), ns, fmt.Sprintf("decode-%d", i))
		ip, _, _ := unstructured.NestedString(pod.Object, "status", "podIP")
		for _, port := range []string{"8000", "8001"} {
			play(t, net.JoinHostPort(address.Twin(ip), port), prefill)
		}
	}
	endpoint := l.get(reconcile.Services(), ns, "mif-istio").GetAnnotations()["localcluster.mifbench.dev/listener"]
	eventually(t, "the gateway leads to engines", func() (bool, string) {
		resp, err := http.Post("http://"+endpoint+"/v1/completions", "application/json", strings.NewReader("{}"))
		if err != nil {
			return false, err.Error()
		}
		defer resp.Body.Close()
		line, err := bufio.NewReader(resp.Body).ReadString('\n')
		return line == "data: token\n" && err == nil, resp.Status + " " + line
	})
	if h := <-prefill; !strings.HasPrefix(h, "127.") || !strings.HasSuffix(h, ":8000") && !strings.HasSuffix(h, ":8001") {
		t.Errorf("the prefill rank is %q", h)
	}
}

// play serves one rank on the loopback twin of a pod's address.
func play(t *testing.T, hostport string, prefill chan<- string) {
	t.Helper()
	ln, err := net.Listen("tcp", hostport)
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case prefill <- r.Header.Get(dataplane.PrefillHeader):
		default:
		}
		fmt.Fprint(w, "data: token\n\n")
	})}
	go func() { _ = srv.Serve(ln) }() // ends with Close
	t.Cleanup(func() { _ = srv.Close() })
}

func rolls(t *testing.T, l *live) {
	before := map[string]bool{}
	for i := range 3 {
		before[string(l.get(reconcile.Pods(), ns, fmt.Sprintf("decode-%d", i)).GetUID())] = true
	}
	l.mustApply(t, reconcile.InferenceServices(), ns, service("decode", "vllm-decode-dp", "ep8", "2", 3))
	l.condition(t, reconcile.InferenceServices(), ns, "decode", "Ready=True", own)
	for i := range 3 {
		pod := l.get(reconcile.Pods(), ns, fmt.Sprintf("decode-%d", i))
		if pod == nil || before[string(pod.GetUID())] || pod.GetLabels()["round"] != "2" {
			t.Errorf("pod decode-%d has not been replaced although the service is ready", i)
		}
	}
}

func vanishes(t *testing.T, l *live) {
	endpoint := l.get(reconcile.Services(), ns, "mif-istio").GetAnnotations()["localcluster.mifbench.dev/listener"]
	if err := l.Resource(reconcile.Namespaces(), "").Delete(t.Context(), ns, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the namespace is gone", func() (bool, string) { return l.get(reconcile.Namespaces(), "", ns) == nil, "still there" })
	eventually(t, "the gateway's address is closed", func() (bool, string) {
		c, err := net.DialTimeout("tcp", endpoint, time.Second)
		if err != nil {
			return true, ""
		}
		return false, fmt.Sprint("still answers, ", c.Close())
	})
}
