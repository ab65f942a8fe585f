package istio

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// object makes a live object from its spec.
func object(t *testing.T, namespace, name, spec string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{Object: map[string]any{}}
	var m map[string]any
	if err := yaml.UnmarshalStrict([]byte(spec), &m); err != nil {
		t.Fatal(err)
	}
	u.Object["spec"] = m
	u.SetNamespace(namespace)
	u.SetName(name)
	u.SetUID("uid-" + u.GetUID())
	u.SetGeneration(2)
	return u
}

const oneListener = `{gatewayClassName: istio, listeners: [{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]}`

func testGateway(t *testing.T, spec string) *gateway {
	g := &gateway{live: object(t, "ns", "mif", spec), exposure: corev1.ServiceTypeClusterIP}
	if err := decodeSpec(g.live, &g.spec); err != nil {
		t.Fatal(err)
	}
	return g
}

func readyPod(name, ip string, labels map[string]string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", Labels: labels},
		Status:     corev1.PodStatus{PodIP: ip, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
	}
}

func testPool(t *testing.T) *pool {
	p := &pool{live: object(t, "ns", "heimdall", `{selector: {matchLabels: {pool: heimdall}}, targetPorts: [{number: 8000}, {number: 8001}], endpointPickerRef: {name: epp}}`)}
	if err := decodeSpec(p.live, &p.spec); err != nil {
		t.Fatal(err)
	}
	return p
}

const toPool = `rules: [{backendRefs: [{group: inference.networking.k8s.io, kind: InferencePool, name: heimdall}]}]`

func TestRouteStatus(t *testing.T) {
	cases := []struct {
		name, gateway, namespace, route string
		accepted, resolved              string // reasons
	}{
		{"a good route", oneListener, "ns", `{parentRefs: [{name: mif}], ` + toPool + `}`, "Accepted", "ResolvedRefs"},
		{"a wrong gateway", oneListener, "ns", `{parentRefs: [{name: mfi}], ` + toPool + `}`, "NoMatchingParent", "ResolvedRefs"},
		{"a wrong section", oneListener, "ns", `{parentRefs: [{name: mif, sectionName: https}], ` + toPool + `}`, "NoMatchingParent", "ResolvedRefs"},
		{"a missing pool", oneListener, "ns", `{parentRefs: [{name: mif}], rules: [{backendRefs: [{group: inference.networking.k8s.io, kind: InferencePool, name: heimdal}]}]}`, "Accepted", "BackendNotFound"},
		{"a backend of another kind", oneListener, "ns", `{parentRefs: [{name: mif}], rules: [{backendRefs: [{kind: Service, name: x}]}]}`, "Accepted", "InvalidKind"},
		{"a backend elsewhere", oneListener, "other", `{parentRefs: [{name: mif, namespace: ns}], rules: [{backendRefs: [{group: inference.networking.k8s.io, kind: InferencePool, name: heimdall, namespace: ns}]}]}`, "Accepted", "RefNotPermitted"},
		{"a namespace that the listener does not allow", `{gatewayClassName: istio, listeners: [{name: http, port: 80, protocol: HTTP}]}`, "other",
			`{parentRefs: [{name: mif, namespace: ns}], rules: []}`, "NotAllowedByListeners", "ResolvedRefs"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := &route{live: object(t, c.namespace, "r", c.route)}
			if err := decodeSpec(r.live, &r.spec); err != nil {
				t.Fatal(err)
			}
			w := &world{gateways: []*gateway{testGateway(t, c.gateway)}, pools: []*pool{testPool(t)}, routes: []*route{r}}
			judged := judgeRoutes(w)
			parent := judged[0].status()["parents"].([]any)[0].(map[string]any)
			got := map[string]string{}
			for _, cond := range parent["conditions"].([]metav1.Condition) {
				got[cond.Type] = cond.Reason
				if ok := cond.Reason == cond.Type || cond.Reason == "ResolvedRefs"; ok != (cond.Status == metav1.ConditionTrue) || cond.ObservedGeneration != 2 {
					t.Errorf("%s is %s at generation %d with reason %s", cond.Type, cond.Status, cond.ObservedGeneration, cond.Reason)
				}
			}
			if d := cmp.Diff(map[string]string{"Accepted": c.accepted, "ResolvedRefs": c.resolved}, got); d != "" {
				t.Errorf("reasons (-want +got):\n%s", d)
			}
		})
	}
}

func TestRoutesOfOthersAreLeftAlone(t *testing.T) {
	r := &route{live: object(t, "ns", "r", `{parentRefs: [{group: "", kind: Service, name: mesh}]}`)}
	if err := decodeSpec(r.live, &r.spec); err != nil {
		t.Fatal(err)
	}
	if got := judgeRoutes(&world{routes: []*route{r}}); len(got) != 0 {
		t.Errorf("judged %d routes", len(got))
	}
}

func TestGatewayConditions(t *testing.T) {
	cases := []struct {
		name                 string
		change               func(*gateway)
		address              string
		accepted, programmed string // reasons
	}{
		{"a gateway whose proxy is ready", func(*gateway) {}, "127.77.0.9", "Accepted", "Programmed"},
		{"a proxy that is not ready yet", func(g *gateway) { g.proxies = nil }, "127.77.0.9", "Accepted", "Programmed"},
		{"no address", func(*gateway) {}, "", "Accepted", "AddressNotAssigned"},
		{"a wrong overlay", func(g *gateway) { g.problem = problem{"Invalid", "not YAML"} }, "127.77.0.9", "Accepted", "Invalid"},
		{"a missing ConfigMap", func(g *gateway) { g.problem = problem{"InvalidParameters", "not found"} }, "127.77.0.9", "InvalidParameters", "Invalid"},
		{"a listener that is not served", func(g *gateway) { g.spec.Listeners[0].Protocol = "TLS" }, "127.77.0.9", "ListenersNotValid", "Invalid"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			g := testGateway(t, oneListener)
			g.proxies = []*corev1.Pod{readyPod("p", "10.77.1.1", nil)}
			c.change(g)
			got := map[string]string{}
			for _, cond := range gatewayStatus(g, nil, c.address)["conditions"].([]metav1.Condition) {
				got[cond.Type] = cond.Reason
			}
			if d := cmp.Diff(map[string]string{"Accepted": c.accepted, "Programmed": c.programmed, "ResolvedRefs": "ResolvedRefs"}, got); d != "" {
				t.Errorf("reasons (-want +got):\n%s", d)
			}
		})
	}
}

func TestBuild(t *testing.T) {
	cases := []struct {
		name, service, deployment string
		exposure                  corev1.ServiceType
		limits                    bool // the proxy keeps its limits
		err                       string
	}{
		{"without overlay", "", "", corev1.ServiceTypeLoadBalancer, true, ""},
		{"the published overlay", "spec:\n  type: ClusterIP\n", "spec:\n  template:\n    spec:\n      containers:\n        - name: istio-proxy\n          resources:\n            limits: null\n", corev1.ServiceTypeClusterIP, false, ""},
		{"an overlay that is not YAML", "spec: [", "", corev1.ServiceTypeLoadBalancer, true, `key "service" of the parameters is not YAML`},
		{"an overlay that is no mapping", "", "- a", corev1.ServiceTypeLoadBalancer, true, `key "deployment" of the parameters is not a YAML mapping`},
		{"an overlay with a twice given key", "", "spec: {}\nspec: {}", corev1.ServiceTypeLoadBalancer, true, "already set"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			g := testGateway(t, oneListener)
			g.params = &corev1.ConfigMap{Data: map[string]string{"service": c.service, "deployment": c.deployment}}
			objects, exposure, err := build(g, "127.77.0.9:80")
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("error %v, want %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if exposure != c.exposure {
				t.Errorf("service type %s, want %s", exposure, c.exposure)
			}
			for _, o := range objects {
				if o.obj.GetName() != "mif-istio" || o.obj.GetLabels()[gatewayLabel] != "mif" || o.obj.GetOwnerReferences()[0].Name != "mif" {
					t.Errorf("%s %s: labels %v", o.kind.Name, o.obj.GetName(), o.obj.GetLabels())
				}
			}
			containers, _, err := unstructured.NestedSlice(objects[2].obj.Object, "spec", "template", "spec", "containers")
			if err != nil || len(containers) != 1 {
				t.Fatalf("%d containers, %v", len(containers), err)
			}
			if limits := nested(containers[0].(map[string]any), "resources", "limits"); (limits != nil) != c.limits {
				t.Errorf("limits are %v", limits)
			}
		})
	}
}

func TestRanks(t *testing.T) {
	pool := map[string]string{"pool": "heimdall"}
	with := func(role string) map[string]string {
		m := map[string]string{"pool": "heimdall"}
		if role != "" {
			m[roleLabel] = role
		}
		return m
	}
	notReady := readyPod("d1", "10.77.1.9", with("decode"))
	notReady.Status.Conditions = nil
	w := &world{
		services: []*corev1.Service{{ObjectMeta: metav1.ObjectMeta{Name: "epp", Namespace: "ns"}, Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "epp"}}}},
		pods: []*corev1.Pod{
			readyPod("d0", "10.77.1.1", with("decode")), notReady, readyPod("p0", "10.77.1.2", with("prefill")),
			readyPod("b0", "10.77.1.3", with("both")), readyPod("n0", "10.77.1.4", pool), readyPod("stranger", "10.77.1.5", nil),
			readyPod("epp-0", "10.77.1.6", map[string]string{"app": "epp"}),
		},
	}
	twin := func(ip string) string { return "127" + strings.TrimPrefix(ip, "10") }
	got := ranks(w, testPool(t), twin)
	if d := cmp.Diff([]string{"127.77.1.1:8000", "127.77.1.1:8001", "127.77.1.3:8000", "127.77.1.3:8001", "127.77.1.4:8000", "127.77.1.4:8001"}, got.Decode); d != "" {
		t.Errorf("decode ranks (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"127.77.1.2:8000", "127.77.1.2:8001"}, got.Prefill); d != "" {
		t.Errorf("prefill ranks (-want +got):\n%s", d)
	}
	if got.Down != "" {
		t.Errorf("the pool is down: %s", got.Down)
	}
	w.pods = w.pods[:6]
	if got := ranks(w, testPool(t), twin); !strings.Contains(got.Down, "no pod behind Service epp is ready") {
		t.Errorf("without a ready picker the pool says %q", got.Down)
	}
}

// TestShadowService: the name is the one that istiod gives to the pool of the published stack.
func TestShadowService(t *testing.T) {
	s := shadowService(testPool(t))
	if s.Name != "heimdall-ip-77f1d1c0" || s.Spec.ClusterIP != "None" || len(s.Spec.Ports) != 2 || s.Spec.Ports[1].Port != 54322 || s.Spec.Ports[1].TargetPort.IntValue() != 8001 {
		t.Errorf("%s: %+v", s.Name, s.Spec)
	}
}
