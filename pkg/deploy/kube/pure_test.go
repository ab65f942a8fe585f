package kube

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	api "k8s.io/client-go/tools/clientcmd/api"

	"github.com/mifbench/mifbench/pkg/resource"
)

func TestReadiness(t *testing.T) {
	const gateway = "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {generation: 2}\n"
	const service = "apiVersion: odin.moreh.io/v1alpha1\nkind: InferenceService\nmetadata: {generation: 3}\nspec: {replicas: 2}\n"
	const route = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {generation: 1}\nspec: {parentRefs: [{name: mif}]}\n"
	const deploy = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {generation: 2}\nspec: {replicas: 2}\n"
	for name, c := range map[string]struct{ object, want string }{
		"gateway without status": {gateway, "no condition Accepted yet"},
		"gateway as its CRD sets it at creation": {gateway + "status: {conditions: [{type: Accepted, status: Unknown, message: Waiting for controller}]}",
			"Accepted=Unknown: Waiting for controller"},
		"gateway programmed for an older generation": {gateway + "status: {conditions: [{type: Accepted, status: 'True', observedGeneration: 2}, {type: Programmed, status: 'True', observedGeneration: 1}]}",
			"condition Programmed is of generation 1"},
		"gateway": {gateway + "status: {conditions: [{type: Accepted, status: 'True', observedGeneration: 2}, {type: Programmed, status: 'True', observedGeneration: 2}]}", "ready"},

		"service without status": {service, "no condition Ready yet"},
		"service of an older generation": {service + "status: {updatedReplicas: 2, readyReplicas: 2, conditions: [{type: Ready, status: 'True', observedGeneration: 2}]}",
			"condition Ready is of generation 2"},
		"service with one replica missing": {service + "status: {updatedReplicas: 2, readyReplicas: 1, conditions: [{type: Ready, status: 'True', observedGeneration: 3}]}",
			"1 of 2 replicas ready"},
		"service of odin 0.10 not seen": {service + "status: {observedGeneration: 2, updatedReplicas: 2, readyReplicas: 2, conditions: [{type: Ready, status: 'True'}]}",
			"Odin has seen generation 2 of 3"},
		"service": {service + "status: {updatedReplicas: 2, readyReplicas: 2, conditions: [{type: Ready, status: 'True', observedGeneration: 3}]}", "ready"},

		"route that nobody answered": {route, "no gateway has answered"},
		"route with unresolved refs": {route + "status: {parents: [{parentRef: {name: mif, namespace: x}, conditions: [{type: Accepted, status: 'True'}, {type: ResolvedRefs, status: 'False', reason: InvalidKind}]}]}",
			"gateway mif: ResolvedRefs=False (InvalidKind)"},
		"route answered by another gateway": {route + "status: {parents: [{parentRef: {name: other}, conditions: [{type: Accepted, status: 'True'}, {type: ResolvedRefs, status: 'True'}]}]}",
			"gateway mif has not answered"},
		"route": {route + "status: {parents: [{parentRef: {name: mif}, conditions: [{type: Accepted, status: 'True'}, {type: ResolvedRefs, status: 'True'}]}]}", "ready"},

		"deployment unseen":        {deploy + "status: {observedGeneration: 1, updatedReplicas: 2, replicas: 2, availableReplicas: 2}", "has not seen generation 2"},
		"deployment with old pods": {deploy + "status: {observedGeneration: 2, updatedReplicas: 2, replicas: 3, availableReplicas: 3}", "1 old pods still there"},
		"deployment stuck":         {deploy + "status: {observedGeneration: 2, conditions: [{type: Progressing, status: 'False', reason: ProgressDeadlineExceeded}]}", "FAILED Progressing=False"},
		"deployment":               {deploy + "status: {observedGeneration: 2, updatedReplicas: 2, replicas: 2, availableReplicas: 2}", "ready"},
		"scaled to zero":           {"apiVersion: apps/v1\nkind: Deployment\nmetadata: {generation: 1}\nspec: {replicas: 0}\nstatus: {observedGeneration: 1}", "ready"},

		"job failed":             {"apiVersion: batch/v1\nkind: Job\nstatus: {conditions: [{type: Failed, status: 'True', reason: BackoffLimitExceeded}]}", "FAILED Failed=True (BackoffLimitExceeded)"},
		"job complete":           {"apiVersion: batch/v1\nkind: Job\nstatus: {conditions: [{type: Complete, status: 'True'}]}", "ready"},
		"lws without Available":  {"apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nspec: {replicas: 1}\nstatus: {updatedReplicas: 1, readyReplicas: 1}", "no condition Available yet"},
		"crd names refused":      {"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nstatus: {conditions: [{type: NamesAccepted, status: 'False', reason: ListKindConflict}]}", "FAILED NamesAccepted=False"},
		"unknown kind":           {"apiVersion: example.org/v1\nkind: X", "ready"},
		"unknown kind not Ready": {"apiVersion: example.org/v1\nkind: X\nstatus: {conditions: [{type: Ready, status: Unknown, message: soon}]}", "Ready=Unknown: soon"},
		"daemon set":             {"apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {generation: 1}\nstatus: {observedGeneration: 1, desiredNumberScheduled: 3, updatedNumberScheduled: 3, numberAvailable: 2}", "2 of 3 pods available"},
		"load balancer":          {"apiVersion: v1\nkind: Service\nspec: {type: LoadBalancer}", "no load balancer address"},
		"pod failed":             {"apiVersion: v1\nkind: Pod\nstatus: {phase: Failed, reason: Evicted}", "FAILED pod failed Evicted"},
		"claim":                  {"apiVersion: v1\nkind: PersistentVolumeClaim\nstatus: {phase: Pending}", "phase Pending"},
	} {
		t.Run(name, func(t *testing.T) {
			r := Ready(decode(t, c.object), nil)
			got := r.Reason
			if r.Failed {
				got = "FAILED " + got
			}
			if r.Ready != (c.want == "ready") || !r.Ready && !strings.HasPrefix(got, c.want) && !strings.Contains(got, c.want) {
				t.Errorf("got %+v, want %q", r, c.want)
			}
		})
	}
}

func TestWaitRule(t *testing.T) {
	obj := decode(t, "apiVersion: example.org/v1\nkind: X\nmetadata: {generation: 2}\nstatus: {phase: Up, list: [{k: 1}], conditions: [{type: Good, status: 'True', observedGeneration: 2}]}")
	for _, c := range []struct {
		w    resource.Wait
		want bool
	}{
		{resource.Wait{None: true}, true},
		{resource.Wait{Conditions: map[string]string{"Good": "True"}}, true},
		{resource.Wait{Conditions: map[string]string{"Good": "False"}}, false},
		{resource.Wait{Conditions: map[string]string{"Absent": "True"}}, false},
		{resource.Wait{Fields: map[string]string{"status.phase": "Up", "{.status.list[0].k}": "1"}}, true},
		{resource.Wait{Fields: map[string]string{"status.list[1].k": "1"}}, false},
	} {
		if got := Ready(obj, &c.w); got.Ready != c.want {
			t.Errorf("%+v: %+v", c.w, got)
		}
	}
}

func TestRulesAreSortedAndUnique(t *testing.T) {
	last := ""
	for _, r := range rules() {
		key := r.group + "/" + r.kind
		if key <= last {
			t.Errorf("%s after %s", key, last)
		}
		last = key
	}
}

func TestImmutable(t *testing.T) {
	invalid := func(causes ...metav1.StatusCause) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Status: "Failure", Code: 422, Reason: metav1.StatusReasonInvalid, Details: &metav1.StatusDetails{Causes: causes}}}
	}
	immutable := metav1.StatusCause{Field: "spec.selector", Message: "Invalid value: {}: field is immutable"}
	for _, c := range []struct {
		err  error
		want []string
	}{
		{invalid(immutable), []string{"spec.selector"}},
		{invalid(immutable, metav1.StatusCause{Field: "spec.x", Message: "Invalid value: must be positive"}), nil},
		{invalid(metav1.StatusCause{Field: "spec", Message: "Forbidden: updates to statefulset spec for fields other than 'replicas' are forbidden"}), []string{"spec"}},
		{invalid(metav1.StatusCause{Field: "roleRef", Message: "Invalid value: cannot change roleRef"}), []string{"roleRef"}},
		{invalid(metav1.StatusCause{Type: metav1.CauseTypeFieldValueRequired, Field: "spec.x", Message: "Required value: immutable"}), nil},
		{apierrors.NewBadRequest("immutable"), nil},
	} {
		if got := immutableFields(c.err); !cmp.Equal(got, c.want) {
			t.Errorf("%v: got %v", c.err, got)
		}
	}
	live := map[string]any{"spec": map[string]any{"a": int64(1), "sel": map[string]any{"x.io/y": "1"}}}
	want := map[string]any{"spec": map[string]any{"a": int64(2), "sel": map[string]any{"x.io/y": "2"}}}
	for field, pointers := range map[string][]string{
		"spec":             {"/spec/a", "/spec/sel/x.io~1y"},
		"spec.sel[x.io/y]": {"/spec/sel/x.io~1y"},
		"spec.other[0].b":  {"/spec/other/0/b"},
	} {
		if diff := cmp.Diff(pointers, immutablePointers([]string{field}, live, want)); diff != "" {
			t.Errorf("%s: %s", field, diff)
		}
	}
}

func TestOverlayAndSettle(t *testing.T) {
	live := decode(t, "{spec: {replicas: 1, containers: [{name: a, image: x, pullPolicy: Always}, {name: b}], args: [1, 2], resources: {limits: {cpu: '1', mem: 1Gi}}}}")
	want := decode(t, "{spec: {containers: [{name: a, image: y}], args: [3], resources: {limits: {cpu: 1000m, mem: 1073741824}}}}")
	got := overlay(live, want)
	settle(live, got, "")
	expect := decode(t, "{spec: {replicas: 1, containers: [{name: a, image: y, pullPolicy: Always}, {name: b}], args: [3], resources: {limits: {cpu: '1', mem: 1Gi}}}}")
	if diff := cmp.Diff(any(expect), got); diff != "" {
		t.Fatal(diff)
	}
	notes := map[string]any{"annotations": map[string]any{"x": "1000m"}}
	other := map[string]any{"annotations": map[string]any{"x": "1"}}
	settle(other, notes, "")
	if notes["annotations"].(map[string]any)["x"] != "1000m" {
		t.Error("text outside of quantities was taken for one")
	}
}

func TestKeepIgnored(t *testing.T) {
	want := decode(t, "{spec: {replicas: 3, list: [{name: b, v: 1}], gone: 1}}")
	live := decode(t, "{spec: {replicas: 5, list: [{name: a, v: 7}, {name: b, v: 9}]}}")
	keepIgnored(want, live, []string{"/spec/replicas", "/spec/list/*/v", "/spec/gone"})
	if diff := cmp.Diff(decode(t, "{spec: {replicas: 5, list: [{name: b, v: 9}]}}"), want); diff != "" {
		t.Fatal(diff)
	}
}

func TestComplaint6ContextIsNeverGuessed(t *testing.T) {
	raw := api.NewConfig()
	if _, err := chooseContext(raw, "", "file"); err == nil || !strings.Contains(err.Error(), "no such file or no context") {
		t.Error(err)
	}
	raw.Contexts["a"], raw.Contexts["b"] = api.NewContext(), api.NewContext()
	if _, err := chooseContext(raw, "", "file"); err == nil || !strings.Contains(err.Error(), "no current-context") || !strings.Contains(err.Error(), "a, b") {
		t.Error(err)
	}
	if _, err := chooseContext(raw, "c", "file"); err == nil || !strings.Contains(err.Error(), `no context "c"; it has a, b`) {
		t.Error(err)
	}
	raw.CurrentContext = "b"
	if got, err := chooseContext(raw, "", "file"); err != nil || got != "b" {
		t.Error(got, err)
	}
	if _, err := Connect(t.Context(), Options{Kubeconfig: "/nowhere"}); err == nil || !strings.Contains(err.Error(), "/nowhere") {
		t.Error(err)
	}
}

func TestGatewayAddress(t *testing.T) {
	obj := decode(t, "{spec: {listeners: [{port: 80, protocol: HTTP}]}, status: {addresses: [{value: mif.ns.svc}, {value: 10.0.0.1}]}}")
	want := map[string]string{"address": "10.0.0.1", "port": "80", "url": "http://10.0.0.1:80"}
	if diff := cmp.Diff(want, endpoint(gatewayAddress(obj), "spec", "listeners", obj)); diff != "" {
		t.Fatal(diff)
	}
}
