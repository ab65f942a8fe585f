package e2e

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// mirror is a real mutating webhook, as a cluster with a registry mirror has one: it labels
// everything and rewrites the images of pod templates.
type mirror struct {
	u      stormy
	name   string
	server *httptest.Server
	calls  atomic.Int64
}

// newMirror starts the webhook for one namespace; nothing is registered yet.
func newMirror(u stormy, namespace string) *mirror {
	m := &mirror{u: u, name: "mirror-" + namespace}
	m.server = httptest.NewTLSServer(http.HandlerFunc(m.review))
	u.t.Cleanup(m.server.Close)
	return m
}

func (m *mirror) register(policy string) {
	m.u.t.Helper()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: m.server.Certificate().Raw})
	body := fmt.Sprintf(`{"apiVersion":"admissionregistration.k8s.io/v1","kind":"MutatingWebhookConfiguration","metadata":{"name":%q},"webhooks":[{
		"name":"mirror.example.org","clientConfig":{"url":%q,"caBundle":%q},"admissionReviewVersions":["v1"],"sideEffects":"None","failurePolicy":%q,"timeoutSeconds":5,
		"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":%q}},
		"rules":[{"operations":["CREATE","UPDATE"],"apiGroups":["","apps"],"apiVersions":["v1"],"resources":["configmaps","deployments","services"]}]}]}`,
		m.name, m.server.URL+"/mutate", base64.StdEncoding.EncodeToString(ca), policy, strings.TrimPrefix(m.name, "mirror-"))
	status, answer := m.u.p.Do(m.u.t, http.MethodPost, "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", "application/json", body)
	if status != http.StatusCreated {
		m.u.t.Fatalf("register the webhook: %d %s", status, answer)
	}
	m.u.t.Cleanup(m.remove)
	before := m.calls.Load()
	waitFor(m.u.t, func() bool { // the server learns of it a moment later
		m.u.p.Do(m.u.t, http.MethodPost, "/api/v1/namespaces/"+strings.TrimPrefix(m.name, "mirror-")+"/configmaps?dryRun=All", "application/json", `{"metadata":{"name":"probe"}}`)
		return m.calls.Load() > before || policy == "down"
	})
}

func (m *mirror) remove() {
	m.u.p.Do(m.u.t, http.MethodDelete, "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/"+m.name, "", "")
}

// review answers an AdmissionReview with a JSON patch.
func (m *mirror) review(w http.ResponseWriter, r *http.Request) {
	m.calls.Add(1)
	var in struct {
		Request struct {
			UID    string         `json:"uid"`
			Object map[string]any `json:"object"`
		} `json:"request"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	patch, err := json.Marshal(mutate(in.Request.Object))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
		"response": map[string]any{"uid": in.Request.UID, "allowed": true, "patchType": "JSONPatch", "patch": patch},
	})
}

func mutate(obj map[string]any) []any {
	var patch []any
	add := func(path string, v any) { patch = append(patch, map[string]any{"op": "add", "path": path, "value": v}) }
	if at(obj, "metadata", "labels") == nil {
		add("/metadata/labels", map[string]any{})
	}
	add("/metadata/labels/mirror.example.org~1seen", "true")
	list, _ := at(obj, "spec", "template", "spec", "containers").([]any)
	for i, c := range list {
		image, _ := at(c, "image").(string)
		if rest, ok := strings.CutPrefix(image, "example.org/"); ok {
			add(fmt.Sprintf("/spec/template/spec/containers/%d/image", i), "mirror.internal/"+rest)
		}
	}
	return patch
}

// TestSecondPlanIsEmptyBehindAMutatingWebhook: defaults of the server and edits of a webhook are on
// both sides of the comparison and cancel out, for manifests and for the objects of a release.
func TestSecondPlanIsEmptyBehindAMutatingWebhook(t *testing.T) {
	t.Parallel()
	const ns = "hook-mirror"
	u := newStormy(t, "workload.mif.hcl", ns)
	u.must(0, "apply", "--auto-approve", "--target", "namespace.bench")
	m := newMirror(u, ns)
	m.register("Fail")
	u.must(0, "apply", "--auto-approve")
	for _, path := range []string{"/deployments/web", "/deployments/chart"} {
		live := u.live("/apis/apps/v1/namespaces/" + ns + path)
		containers, _ := at(live, "spec", "template", "spec", "containers").([]any)
		if len(containers) != 1 || at(containers[0], "image") != "mirror.internal/web:1" || at(live, "metadata", "labels", "mirror.example.org/seen") != "true" {
			t.Fatalf("the webhook did not do its work on %s: %v", path, live)
		}
	}
	contains(t, u.must(0, "plan", "--detailed-exitcode"), "No changes.")
	// One change of the file is one change of the plan, and the webhook's edits stay.
	out := u.must(2, "plan", "--detailed-exitcode", "--var", "image=example.org/web:2")
	contains(t, out, "mirror.internal/web:1", "mirror.internal/web:2", "Plan: 0 to add, 2 to change, 0 to destroy.")
	u.must(0, "apply", "--auto-approve", "--var", "image=example.org/web:2")
	contains(t, u.must(0, "plan", "--detailed-exitcode", "--var", "image=example.org/web:2"), "No changes.")
	// Somebody undoes the webhook's work: that is drift, shown and healed through the webhook.
	u.patch("/apis/apps/v1/namespaces/"+ns+"/deployments/web", "kubectl-edit", `{"spec":{"replicas":2}}`)
	contains(t, u.must(2, "plan", "--detailed-exitcode", "--var", "image=example.org/web:2"), "spec.replicas", "2 -> 1", "Plan: 0 to add, 1 to change")
	u.must(0, "apply", "--auto-approve", "--var", "image=example.org/web:2")
	// The webhook goes: what the next apply would change is shown, since it would.
	m.remove()
	waitFor(t, func() bool {
		calls := m.calls.Load()
		u.p.Do(t, http.MethodPost, "/api/v1/namespaces/"+ns+"/configmaps?dryRun=All", "application/json", `{"metadata":{"name":"probe"}}`)
		return m.calls.Load() == calls
	})
	contains(t, u.must(2, "plan", "--detailed-exitcode", "--var", "image=example.org/web:2"), "mirror.internal/web:2", "example.org/web:2")
	u.must(0, "apply", "--auto-approve", "--var", "image=example.org/web:2")
	contains(t, u.must(0, "plan", "--detailed-exitcode", "--var", "image=example.org/web:2"), "No changes.")
}

// TestWebhookThatIsDown: the plan says which one does not answer, for which object; nothing is changed.
func TestWebhookThatIsDown(t *testing.T) {
	t.Parallel()
	const ns = "hook-down"
	u := newStormy(t, "tiny.mif.hcl", ns)
	u.must(0, "apply", "--auto-approve")
	m := newMirror(u, ns)
	m.register("Fail")
	m.server.Close()
	out := u.must(1, "plan", "--var", "level=high")
	contains(t, out, "manifest.first", "an admission webhook of the cluster does not answer", "mirror.example.org")
	m.remove()
	waitFor(t, func() bool {
		_, err := u.try("plan", "--var", "level=high")
		return err == nil
	})
	u.converge()
}

// scale is what an autoscaler does.
func (u stormy) scale(path string, replicas int) {
	u.t.Helper()
	status, body := u.p.Do(u.t, http.MethodPatch, path+"/scale?fieldManager=kube-controller-manager", "application/merge-patch+json", fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas))
	if status != http.StatusOK {
		u.t.Fatalf("scale: %d %s", status, body)
	}
}

// scaled waits until the deployment has that many pods and no others: a plan waits for them, too.
func (u stormy) scaled(path string, replicas float64) {
	u.t.Helper()
	waitFor(u.t, func() bool {
		live := u.live(path)
		return at(live, "status", "availableReplicas") == replicas && at(live, "status", "replicas") == replicas &&
			at(live, "status", "updatedReplicas") == replicas && at(live, "status", "observedGeneration") == at(live, "metadata", "generation")
	})
}

// TestAutoscalerOwnsReplicas: a field that the file does not hold, or ignores, is the autoscaler's
// and invisible; one that the file insists on is a conflict that names both.
func TestAutoscalerOwnsReplicas(t *testing.T) {
	t.Parallel()
	const replicas = "      replicas = 1\n"
	for _, c := range []struct {
		name     string
		from, to string
		conflict bool
	}{
		{"omitted", replicas, "", false},
		{"ignored", "manifest \"web\" {\n", "manifest \"web\" {\n  lifecycle { ignore_changes = [spec.replicas] }\n", false},
		{"insisted", replicas, replicas, true},
		{"forced", "manifest \"web\" {\n", "manifest \"web\" {\n  force_conflicts = true\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ns := "hpa-" + c.name
			u := newStormy(t, "workload.mif.hcl", ns)
			u.edit(c.from, c.to)
			path := "/apis/apps/v1/namespaces/" + ns + "/deployments/web"
			u.must(0, "apply", "--auto-approve")
			u.scale(path, 3)
			switch c.name {
			case "insisted":
				out := u.must(1, "plan")
				contains(t, out, "spec.replicas", "3 -> 1", ".spec.replicas → kube-controller-manager", "ignore_changes", "force_conflicts")
				u.edit(replicas, "")
			case "forced":
				contains(t, u.must(2, "plan", "--detailed-exitcode"), "3 -> 1", "takes .spec.replicas from kube-controller-manager (force_conflicts = true)")
				u.converge()
				return
			}
			u.scaled(path, 3)
			contains(t, u.must(0, "plan", "--detailed-exitcode"), "No changes.")
			// Another field changes: the autoscaler's number stays.
			u.must(0, "apply", "--auto-approve", "--var", "color=blue")
			if got := at(u.live(path), "spec", "replicas"); got != float64(3) {
				t.Errorf("apply reset the autoscaler's replicas to %v", got)
			}
			u.scale(path, 2)
			u.scaled(path, 2)
			contains(t, u.must(0, "plan", "--detailed-exitcode", "--var", "color=blue"), "No changes.")
		})
	}
}
