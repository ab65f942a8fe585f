package kube

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/resource"
)

// weather answers the first n requests that match, and lets the rest through.
func weather(n int64, match func(*http.Request) bool, answer func(*http.Request) (*http.Response, error)) func(*rest.Config) {
	var seen atomic.Int64
	return func(cfg *rest.Config) {
		cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return roundTripper(func(r *http.Request) (*http.Response, error) {
				if match(r) && seen.Add(1) <= n {
					return answer(r)
				}
				return next.RoundTrip(r)
			})
		})
	}
}

func answer(code int, reason, message string, header ...string) func(*http.Request) (*http.Response, error) {
	return func(r *http.Request) (*http.Response, error) {
		h := http.Header{"Content-Type": {"application/json"}}
		for i := 0; i+1 < len(header); i += 2 {
			h.Set(header[i], header[i+1])
		}
		body := fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"message":%q,"code":%d}`, reason, message, code)
		return &http.Response{StatusCode: code, Status: http.StatusText(code), Header: h, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	}
}

func cut(*http.Request) (*http.Response, error) { return nil, syscall.ECONNRESET }

func refused(*http.Request) (*http.Response, error) { return nil, syscall.ECONNREFUSED }

func patches(r *http.Request) bool { return r.Method == http.MethodPatch }
func reads(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/configmaps/")
}

func TestBadWeather(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		name   string
		change func(*rest.Config)
		want   string // part of the error; "" when it must be overcome
		is     error
	}{
		{"reads are cut twice", weather(2, reads, cut), "", nil},
		{"writes are cut twice", weather(2, patches, cut), "", nil},
		{"the server restarts", weather(2, patches, answer(503, "ServiceUnavailable", "shutting down")), "", nil},
		{"etcd elects a leader", weather(2, patches, answer(500, "InternalError", "etcdserver: leader changed")), "", nil},
		{"too many requests", weather(1, patches, answer(429, "TooManyRequests", "later", "Retry-After", "1")), "", nil},
		{"no connection at all", weather(1<<30, reads, refused), "no usable answer from the API server", nil},
		{"credentials expired", weather(1<<30, reads, answer(401, "Unauthorized", "Unauthorized")), "does not accept the credentials", nil},
		{"no right to read", weather(1<<30, reads, answer(403, "Forbidden", "configmaps is forbidden")), "ConfigMap", deploy.ErrForbidden},
		{"a webhook is down", weather(1<<30, patches, answer(500, "InternalError", "Internal error occurred: failed calling webhook x")), "admission webhook", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := w.driver(c.change)
			q := w.query(configMap(w.ns, strings.ReplaceAll(c.name, " ", "-"), map[string]any{"a": "1"}))
			seen, err := d.Observe(w.ctx(), q)
			if err == nil {
				_, err = d.Apply(w.ctx(), deploy.Request{Query: q, Seen: seen})
			}
			if c.want == "" && err != nil {
				t.Fatal(err)
			}
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is)) {
				t.Fatal(err)
			}
		})
	}
}

func TestComplaint23NoRightToADryRun(t *testing.T) {
	w := newWorld(t)
	q := w.apply(w.query(configMap(w.ns, "c", map[string]any{"a": "1", "b": "1"})))
	d := w.driver(weather(1<<30, patches, answer(403, "Forbidden", "configmaps is forbidden")))
	q.Want = configMap(w.ns, "c", map[string]any{"a": "2", "b": "1"})
	obs, err := d.Observe(w.ctx(), q)
	if err != nil || len(obs.Warnings) != 1 || !strings.Contains(obs.Warnings[0], "no right to a dry-run") {
		t.Fatal(obs.Warnings, err)
	}
	if got := changes("", any(obs.Live), any(obs.Predicted)); len(got) != 1 || got[0] != "/data/a" {
		t.Fatal(got)
	}
}

func TestABrokenGroupHurtsItsOwnKindsOnly(t *testing.T) {
	w := newWorld(t)
	d := w.driver(weather(1<<30, func(r *http.Request) bool { return r.URL.Path == "/apis/metrics.example.org/v1" }, answer(503, "ServiceUnavailable", "down")))
	if _, err := d.Observe(w.ctx(), w.query(configMap(w.ns, "c", nil))); err != nil {
		t.Fatal(err)
	}
	_, err := d.Observe(w.ctx(), w.query(object("metrics.example.org/v1", "X", w.ns, "x", nil)))
	if err == nil || errors.Is(err, deploy.ErrNoKind) || !strings.Contains(err.Error(), "discovery of metrics.example.org/v1") {
		t.Fatal(err)
	}
}

func TestAWaitOutlivesAnOutage(t *testing.T) {
	w := newWorld(t)
	q := w.apply(w.query(configMap(w.ns, "c", map[string]any{"a": "1"})))
	d := w.driver(weather(3, reads, refused))
	if err := d.Wait(w.ctx(), deploy.Request{Query: q}, nil); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	q.Want.Options.Wait = &resource.Wait{Fields: map[string]string{"data.a": "2"}}
	q.Want.Options.CreateTimeout = 400 * time.Millisecond
	err := w.d.Wait(w.ctx(), deploy.Request{Query: q}, nil)
	if !errors.Is(err, deploy.ErrNotReady) || !strings.Contains(err.Error(), "data.a is 1, not 2") || time.Since(start) > 20*time.Second {
		t.Fatal(err)
	}
}

// TestPreviewSurvivesACutDryRun: the second try once sent an empty body.
func TestPreviewSurvivesACutDryRun(t *testing.T) {
	w := newWorld(t)
	posts := func(r *http.Request) bool { return r.Method == http.MethodPost }
	for name, bad := range map[string]func(*http.Request) (*http.Response, error){"cut": cut, "overloaded": answer(500, "InternalError", "etcdserver: request timed out")} {
		t.Run(name, func(t *testing.T) {
			o := configMap(w.ns, "c", map[string]any{"a": "1"})
			obs, err := w.driver(weather(1, posts, bad)).Preview(w.ctx(), deploy.Query{Want: o}, nil)
			if err != nil || obs.Predicted == nil || obs.Predicted["data"] == nil {
				t.Fatalf("%v, %v", obs.Predicted, err)
			}
		})
	}
}
