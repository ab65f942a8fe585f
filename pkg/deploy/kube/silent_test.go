package kube

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/mifbench/mifbench/pkg/deploy"
)

// silentServer answers discovery of ConfigMaps; what becomes of every other request the test says.
func silentServer(t *testing.T, other http.HandlerFunc) *Driver {
	mux := http.NewServeMux()
	text := func(s string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(s))
		}
	}
	mux.HandleFunc("/api", text(`{"kind":"APIVersions","versions":["v1"]}`))
	mux.HandleFunc("/apis", text(`{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`))
	mux.HandleFunc("/api/v1", text(`{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"configmaps","namespaced":true,"kind":"ConfigMap","verbs":["get","patch","delete","watch"]}]}`))
	mux.HandleFunc("/", other)
	s := httptest.NewServer(mux)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	d, err := New(&rest.Config{Host: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestASilentServerDoesNotHangAPlan: it accepts and never answers.
func TestASilentServerDoesNotHangAPlan(t *testing.T) {
	d := silentServer(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	d.limit = 100 * time.Millisecond
	_, err := d.Observe(t.Context(), deploy.Query{Want: configMap("ns", "c", nil)})
	if !errors.Is(err, errSilent) || !strings.Contains(err.Error(), "read ConfigMap ns/c: no usable answer from the API server "+d.cluster.Server) {
		t.Fatal(err)
	}
}

// TestAServerThatAsksForAnHour: Retry-After is followed as long as a call may take, and no longer.
func TestAServerThatAsksForAnHour(t *testing.T) {
	d := silentServer(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	d.limit = 300 * time.Millisecond
	start := time.Now()
	_, err := d.Observe(t.Context(), deploy.Query{Want: configMap("ns", "c", nil)})
	if err == nil || !strings.Contains(err.Error(), "read ConfigMap ns/c") || !strings.Contains(err.Error(), "429 Too Many Requests, to come back after 3600 s") || time.Since(start) > 30*time.Second {
		t.Fatal(err, time.Since(start))
	}
}

// TestAWaitEndsWhenTheCredentialsDo: a 401 may be a token that is about to be renewed, once or twice.
func TestAWaitEndsWhenTheCredentialsDo(t *testing.T) {
	var looks, good atomic.Int64
	d := silentServer(t, func(w http.ResponseWriter, _ *http.Request) {
		if looks.Add(1) <= 2 || good.Load() == 0 {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"ns"}}`))
	})
	r := deploy.Request{Query: deploy.Query{Want: configMap("ns", "c", nil)}}
	err := d.Wait(t.Context(), r, nil)
	if err == nil || !strings.Contains(err.Error(), "does not accept the credentials") || looks.Load() != unauthorized {
		t.Fatal(err, looks.Load())
	}
	looks.Store(0)
	good.Store(1)
	if err := d.Wait(t.Context(), r, nil); err != nil {
		t.Fatal(err)
	}
}
