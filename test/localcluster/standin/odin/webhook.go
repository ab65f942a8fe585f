package odin

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mifbench/mifbench/test/localcluster/standin/reconcile"
)

// maxReview is more than etcd takes for one object.
const maxReview = 8 << 20

// startWebhook opens the webhook server on a loopback port and registers it with the API server.
func startWebhook(ctx context.Context, c *reconcile.Cluster) error {
	cert, ca, err := certificate()
	if err != nil {
		return fmt.Errorf("webhook certificate: %w", err)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("webhook: %w", err)
	}
	w := &webhook{c: c}
	mux := http.NewServeMux()
	mux.Handle("POST /default", review(w.mutate))
	mux.Handle("POST /validate", review(w.validate))
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, TLSConfig: serverTLS(cert)}
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	go func() {
		if err := srv.ServeTLS(l, "", ""); ctx.Err() == nil {
			c.Log("odin: the webhook server ended: %v", err)
		}
	}()
	return register(ctx, c, "https://"+l.Addr().String(), ca)
}

// register tells the API server which writes to ask about. A dead webhook blocks them, as the real one's does.
func register(ctx context.Context, c *reconcile.Cluster, url string, ca []byte) error {
	hook := func(name, path string, rules ...any) map[string]any {
		return map[string]any{
			"name": name, "admissionReviewVersions": []any{"v1"}, "sideEffects": "None", "failurePolicy": "Fail",
			"timeoutSeconds": int64(10), "clientConfig": map[string]any{"url": url + path, "caBundle": ca}, "rules": rules,
		}
	}
	rule := func(resource string, ops ...any) any {
		return map[string]any{"apiGroups": []any{"odin.moreh.io"}, "apiVersions": []any{"v1alpha1"}, "operations": ops, "resources": []any{resource}}
	}
	for _, w := range []struct {
		kind reconcile.Kind
		name string
		hook map[string]any
	}{
		{reconcile.MutatingWebhooks(), "odin-mutating-webhook", hook("minferenceservice.odin.moreh.io", "/default", rule("inferenceservices", "CREATE", "UPDATE"))},
		{reconcile.ValidatingWebhooks(), "odin-validating-webhook", hook("vinferenceservice.odin.moreh.io", "/validate",
			rule("inferenceservices", "CREATE", "UPDATE"), rule("inferenceservicetemplates", "DELETE"))},
	} {
		raw, err := json.Marshal(map[string]any{"metadata": map[string]any{"name": w.name}, "webhooks": []any{w.hook}})
		if err != nil {
			return err
		}
		var m map[string]any
		if err := json.Unmarshal(raw, &m); err != nil {
			return err
		}
		u, err := reconcile.Object(w.kind, m)
		if err != nil {
			return err
		}
		if _, err := c.Apply(ctx, w.kind, u, manager); err != nil {
			return err
		}
	}
	return nil
}

// review turns an admission function into an HTTP handler.
func review(f func(context.Context, *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in admissionv1.AdmissionReview
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxReview)).Decode(&in); err != nil || in.Request == nil {
			http.Error(w, fmt.Sprintf("not an AdmissionReview: %v", err), http.StatusBadRequest)
			return
		}
		out := f(r.Context(), in.Request)
		out.UID = in.Request.UID
		w.Header().Set("Content-Type", "application/json")
		// The API server treats a broken answer as a failure of the webhook.
		_ = json.NewEncoder(w).Encode(admissionv1.AdmissionReview{TypeMeta: in.TypeMeta, Response: out})
	})
}

func allow() *admissionv1.AdmissionResponse { return &admissionv1.AdmissionResponse{Allowed: true} }

func deny(err error) *admissionv1.AdmissionResponse {
	return &admissionv1.AdmissionResponse{Result: &metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: err.Error(),
	}}
}
