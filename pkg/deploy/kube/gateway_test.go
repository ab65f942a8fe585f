package kube

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/plan"
)

const programmed = `{"apiVersion":"gateway.networking.k8s.io/v1","kind":"Gateway","metadata":{"name":"g","namespace":"ns","uid":"u","resourceVersion":"1"},
"status":{"conditions":[{"type":"Accepted","status":"True"},{"type":"Programmed","status":"True"}]}}`

func proxies(available int) string {
	return fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"DeploymentList","items":[{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"g-istio","namespace":"ns","generation":1},
"spec":{"replicas":1},"status":{"observedGeneration":1,"replicas":1,"updatedReplicas":1,"availableReplicas":%d}}]}`, available)
}

// TestAGatewayIsReadyWhenItsDeploymentIs: Programmed is the word of its controller, the proxy may be starting.
func TestAGatewayIsReadyWhenItsDeploymentIs(t *testing.T) {
	none := `{"apiVersion":"apps/v1","kind":"DeploymentList","items":[]}`
	for name, c := range map[string]struct {
		deployments []string // one after the other, the last for ever
		status      int
		waits       string
	}{
		"starting":              {[]string{proxies(0), proxies(0), proxies(1)}, 200, "programmed, but Deployment ns/g-istio is not ready: 0 of 1 pods available"},
		"another class":         {[]string{none}, 200, ""},
		"no right to look":      {[]string{`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403}`}, 403, ""},
		"the proxy has started": {[]string{proxies(1)}, 200, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var looks atomic.Int64
			d := gatewayServer(t, func(w http.ResponseWriter, r *http.Request) {
				if got := r.URL.Query().Get("labelSelector"); got != "gateway.networking.k8s.io/gateway-name=g" {
					t.Errorf("selector %q", got)
				}
				w.WriteHeader(c.status)
				_, _ = fmt.Fprint(w, c.deployments[min(int(looks.Add(1)), len(c.deployments))-1])
			})
			var said []string
			r := deploy.Request{Query: deploy.Query{Want: object("gateway.networking.k8s.io/v1", "Gateway", "ns", "g", nil)}}
			if err := d.Wait(t.Context(), r, func(r plan.Readiness) { said = append(said, r.Reason) }); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(said, "; "); got != c.waits || int(looks.Load()) != len(c.deployments) {
				t.Errorf("said %q after %d looks, want %q", got, looks.Load(), c.waits)
			}
		})
	}
}

// gatewayServer serves one programmed Gateway, no pods, and the Deployments of the test.
func gatewayServer(t *testing.T, deployments http.HandlerFunc) *Driver {
	mux := http.NewServeMux()
	for path, text := range map[string]string{
		"/api":          `{"kind":"APIVersions","versions":["v1"]}`,
		"/apis":         `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`,
		"/api/v1":       `{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"pods","namespaced":true,"kind":"Pod","verbs":["list"]}]}`,
		"/apis/apps/v1": `{"kind":"APIResourceList","groupVersion":"apps/v1","resources":[{"name":"deployments","namespaced":true,"kind":"Deployment","verbs":["list"]}]}`,
		"/apis/gateway.networking.k8s.io/v1": `{"kind":"APIResourceList","groupVersion":"gateway.networking.k8s.io/v1",
"resources":[{"name":"gateways","namespaced":true,"kind":"Gateway","verbs":["get"]}]}`,
		"/apis/gateway.networking.k8s.io/v1/namespaces/ns/gateways/g": programmed,
		"/api/v1/namespaces/ns/pods":                                  `{"apiVersion":"v1","kind":"PodList","items":[]}`,
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprint(w, text)
		})
	}
	mux.HandleFunc("/apis/apps/v1/namespaces/ns/deployments", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		deployments(w, r)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	d, err := New(&rest.Config{Host: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	return d
}
