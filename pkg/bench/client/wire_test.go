package client_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/mifbench/mifbench/pkg/bench/benchtest"
	"github.com/mifbench/mifbench/pkg/bench/client"
	"github.com/mifbench/mifbench/pkg/bench/record"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A reset or FIN that arrives together with data wakes the reader once; it must be seen
// all the same, and at once for the FIN.
func TestEndThatComesWithDataIsSeen(t *testing.T) {
	for _, end := range []benchtest.End{benchtest.Close, benchtest.Reset} {
		s := benchtest.Start(t, nil, func(benchtest.Request) []benchtest.Step {
			return []benchtest.Step{{Write: benchtest.Head + benchtest.Chunk(benchtest.Data(benchtest.Token("x"))), End: end}}
		})
		c := newClient(t, s.URL, nil)
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				begin := time.Now()
				r := do(context.Background(), t, c)
				if r.Status != record.Truncated && r.Status != record.Reset {
					t.Errorf("status %s %q", r.Status, r.Error)
				}
				if d := time.Since(begin); d > 5*time.Second || end == benchtest.Close && d > 1500*time.Millisecond {
					t.Errorf("seen after %v", d)
				}
			})
		}
		wg.Wait()
	}
}

// A server that closes an idle connection costs no request.
func TestClosedIdleConnectionIsReplaced(t *testing.T) {
	for _, tr := range transports() {
		t.Run(string(tr), func(t *testing.T) {
			s := benchtest.Start(t, nil, func(benchtest.Request) []benchtest.Step {
				return benchtest.Then(benchtest.Stream(2, 0, 0), benchtest.Step{End: benchtest.Close})
			})
			c := newClient(t, s.URL, func(o *client.Options) { o.Transport = tr })
			for range 20 {
				if r := do(t.Context(), t, c); r.Status != record.OK {
					t.Fatalf("status %s %q", r.Status, r.Error)
				}
			}
		})
	}
}

func TestHeadersKeyAndHost(t *testing.T) {
	for _, tr := range transports() {
		t.Run(string(tr), func(t *testing.T) {
			s := benchtest.Start(t, nil, func(benchtest.Request) []benchtest.Step { return benchtest.Stream(1, 0, 0) })
			c := newClient(t, s.URL+"/gw/v1/", func(o *client.Options) {
				o.Transport, o.APIKey = tr, "sk-1"
				o.Headers = http.Header{"X-Tenant": {"a"}, "Host": {"model.example"}}
			})
			do(t.Context(), t, c)
			r := s.Requests()[0]
			if r.Path != "/gw/v1/completions" || r.Host != "model.example" || r.Header.Get("X-Tenant") != "a" || r.Header.Get("Authorization") != "Bearer sk-1" {
				t.Errorf("request = %+v", r)
			}
			c = newClient(t, s.URL, func(o *client.Options) { o.Transport = tr })
			do(t.Context(), t, c)
			if a, ok := s.Requests()[1].Header["Authorization"]; ok {
				t.Errorf("no key, but Authorization: %q", a)
			}
			c = newClient(t, s.URL, func(o *client.Options) {
				o.Transport, o.Headers = tr, http.Header{"X-Request-Id": {"all"}}
			})
			var res client.Result
			for _, id := range []string{"own", ""} {
				c.Do(t.Context(), &client.Request{ID: id, Body: []byte("{}"), Stream: true}, &res)
			}
			got := append(s.Requests()[2].Header["X-Request-Id"], s.Requests()[3].Header["X-Request-Id"]...)
			if len(got) != 2 || got[0] != "own" || got[1] != "all" {
				t.Errorf("X-Request-Id %q", got)
			}
		})
	}
}

func TestKeyIsNotEchoed(t *testing.T) {
	s := benchtest.Start(t, nil, func(benchtest.Request) []benchtest.Step {
		return benchtest.Status(401, `{"error":"Incorrect API key provided: sk-secret"}`)
	})
	c := newClient(t, s.URL, func(o *client.Options) { o.APIKey = "sk-secret" })
	if r := do(t.Context(), t, c); strings.Contains(r.Error, "sk-secret") || !strings.Contains(r.Error, "***") {
		t.Errorf("error %q", r.Error)
	}
}

func TestBaseURLsTakeTurns(t *testing.T) {
	h := func(benchtest.Request) []benchtest.Step { return benchtest.Stream(1, 0, 0) }
	a, b := benchtest.Start(t, nil, h), benchtest.Start(t, nil, h)
	c := newClient(t, a.URL, func(o *client.Options) { o.BaseURLs = []string{a.URL, b.URL} })
	for i := range 6 {
		if r := do(t.Context(), t, c); int(r.Target) != i%2 || r.Status != record.OK {
			t.Errorf("request %d went to target %d: %s", i, r.Target, r.Error)
		}
	}
	if len(a.Requests()) != 3 || len(b.Requests()) != 3 {
		t.Errorf("%d and %d requests", len(a.Requests()), len(b.Requests()))
	}
}

func TestDialFailure(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, tr := range transports() {
		c := newClient(t, "http://"+addr, func(o *client.Options) { o.Transport = tr })
		if r := do(t.Context(), t, c); r.Status != record.Dial || !strings.Contains(r.Error, "refused") {
			t.Errorf("%s: status %s %q", tr, r.Status, r.Error)
		}
	}
}

func TestCancelled(t *testing.T) {
	for _, tr := range transports() {
		s := benchtest.Start(t, nil, func(benchtest.Request) []benchtest.Step {
			return benchtest.Then(benchtest.Stream(3, 0, time.Millisecond)[:4], benchtest.Step{End: benchtest.Hang})
		})
		c := newClient(t, s.URL, func(o *client.Options) { o.Transport = tr })
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		if r := do(ctx, t, c); r.Status != record.Cancelled || len(r.Events) != 3 {
			t.Errorf("%s: status %s, %d events", tr, r.Status, len(r.Events))
		}
		cancel()
	}
}

func TestTLS(t *testing.T) {
	ca := newAuthority(t)
	conf := &tls.Config{Certificates: []tls.Certificate{ca.leaf(t, "server")}, ClientCAs: ca.pool, ClientAuth: tls.RequireAndVerifyClientCert}
	s := benchtest.Start(t, conf, func(benchtest.Request) []benchtest.Step { return benchtest.Stream(20, 0, 5*time.Millisecond) })
	cert, key := ca.files(t, "client")
	cases := []struct {
		name string
		tls  client.TLS
		want record.Status
	}{
		{"its own authority and a client certificate", client.TLS{CAFile: ca.file, CertFile: cert, KeyFile: key}, record.OK},
		{"insecure", client.TLS{Insecure: true, CertFile: cert, KeyFile: key}, record.OK},
		{"the system's roots", client.TLS{CertFile: cert, KeyFile: key}, record.TLS},
		{"no client certificate", client.TLS{CAFile: ca.file}, record.TLS},
		{"another name", client.TLS{CAFile: ca.file, ServerName: "other.example", CertFile: cert, KeyFile: key}, record.TLS},
	}
	for _, tr := range transports() {
		for _, c := range cases {
			t.Run(string(tr)+"/"+c.name, func(t *testing.T) {
				cl := newClient(t, s.URL, func(o *client.Options) { o.Transport, o.TLS = tr, c.tls })
				for range 2 {
					r := do(t.Context(), t, cl)
					if r.Status != c.want {
						t.Fatalf("status %s %q, want %s", r.Status, r.Error, c.want)
					}
					if c.want == record.OK && (len(r.Events) != 20 || r.KernelClock != client.KernelStamps()) {
						t.Errorf("%d events, kernel clock %v", len(r.Events), r.KernelClock)
					}
				}
			})
		}
	}
}

func TestHTTP2(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprint(w, benchtest.Data(benchtest.Token(r.Proto)), benchtest.Data(benchtest.Last("x")), benchtest.Data("[DONE]"))
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	var proto atomic.Value
	c := newClient(t, s.URL, func(o *client.Options) {
		o.HTTP2, o.TLS.Insecure = true, true
		o.OnToken = func(_ int64, text []byte, _ int64, _ bool) {
			if len(text) > 1 {
				proto.Store(string(text))
			}
		}
	})
	if r := do(t.Context(), t, c); r.Status != record.OK || r.KernelClock || proto.Load() != "HTTP/2.0" {
		t.Errorf("record %+v over %s", r, proto.Load())
	}
}

func TestProxyOnlyWhenAsked(t *testing.T) {
	var asked atomic.Int64
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusBadGateway)
	}))
	t.Cleanup(proxy.Close)
	t.Setenv("HTTP_PROXY", proxy.URL)
	c := newClient(t, "http://model.invalid:1", func(o *client.Options) { o.Timeouts.Dial = time.Second })
	if r := do(t.Context(), t, c); r.Status != record.Dial || asked.Load() != 0 {
		t.Errorf("status %s, proxy asked %d times", r.Status, asked.Load())
	}
	c = newClient(t, "http://model.invalid:1", func(o *client.Options) { o.ProxyFromEnv = true })
	if r := do(t.Context(), t, c); r.Status != record.HTTP || asked.Load() != 1 {
		t.Errorf("status %s, proxy asked %d times", r.Status, asked.Load())
	}
}

func TestBadOptions(t *testing.T) {
	cases := []struct {
		o    client.Options
		want string
	}{
		{client.Options{}, "no base URL"},
		{client.Options{BaseURLs: []string{"127.0.0.1:80"}}, "base URL"},
		{client.Options{BaseURLs: []string{"http://u:p@h"}}, "credentials"},
		{client.Options{BaseURLs: []string{"http://h"}, TLS: client.TLS{CertFile: "x"}}, "needs both"},
		{client.Options{BaseURLs: []string{"http://h"}, TLS: client.TLS{CAFile: "/nonexistent"}}, "ca file"},
		{client.Options{BaseURLs: []string{"http://h"}, Transport: client.Lean, HTTP2: true}, "knows neither"},
		{client.Options{BaseURLs: []string{"http://h"}, Headers: http.Header{"X-A": {"a\r\nB: c"}}}, "header"},
		{client.Options{BaseURLs: []string{"http://h"}, Headers: http.Header{"content-length": {"3"}}}, "set by the client itself"},
	}
	for _, c := range cases {
		c.o.Clock = client.NewClock(time.Now())
		if _, err := client.New(c.o); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), ":p@") {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

// authority signs certificates for tests.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pool *x509.CertPool
	file string
	dir  string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{dir: t.TempDir(), pool: x509.NewCertPool()}
	a.cert = &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ca"}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, a.cert, a.cert, a.key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.pool.AddCert(a.cert)
	a.file = a.write(t, "ca.pem", "CERTIFICATE", der)
	return a
}

func (a *authority) write(t *testing.T, name, kind string, der []byte) string {
	t.Helper()
	p := filepath.Join(a.dir, name)
	if err := os.WriteFile(p, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

func (a *authority) files(t *testing.T, name string) (cert, key string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, c, a.cert, k.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	kd, err := x509.MarshalECPrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return a.write(t, name+".pem", "CERTIFICATE", der), a.write(t, name+".key", "EC PRIVATE KEY", kd)
}

func (a *authority) leaf(t *testing.T, name string) tls.Certificate {
	t.Helper()
	c, err := tls.LoadX509KeyPair(a.files(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return c
}
