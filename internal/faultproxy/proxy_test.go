package faultproxy

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"
)

// server stands for the API server: it wants a client certificate and no token.
func server(t *testing.T) (kubeconfig string) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.TLS.PeerCertificates) == 0 || r.Header.Get("Authorization") != "" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		fmt.Fprintf(w, "%s %s", r.Method, strings.Repeat("x", 100))
	}))
	s.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	s.StartTLS()
	t.Cleanup(s.Close)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "admin"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text := func(kind string, der []byte) string {
		return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	err = os.WriteFile(kubeconfig, fmt.Appendf(nil, `
clusters: [{name: c, cluster: {server: %s, certificate-authority-data: %s}}]
users: [{name: u, user: {client-certificate-data: %s, client-key-data: %s}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`, s.URL, text("CERTIFICATE", s.Certificate().Raw), text("CERTIFICATE", der), text("EC PRIVATE KEY", keyDER)), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	return kubeconfig
}

// client reads the proxy's own kubeconfig.
func client(t *testing.T, p *Proxy) func(method, path string) (int, string, error) {
	raw, err := os.ReadFile(p.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	var k struct {
		Clusters []struct {
			Cluster struct {
				Server string `json:"server"`
				CA     []byte `json:"certificate-authority-data"`
			} `json:"cluster"`
		} `json:"clusters"`
		Users []struct {
			User struct {
				Token string `json:"token"`
			} `json:"user"`
		} `json:"users"`
	}
	if err := yaml.Unmarshal(raw, &k); err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(k.Clusters[0].Cluster.CA)
	c := &http.Client{Transport: &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: pool}}, Timeout: 5 * time.Second}
	return func(method, path string) (int, string, error) {
		r, err := http.NewRequestWithContext(t.Context(), method, k.Clusters[0].Cluster.Server+path, nil)
		if err != nil {
			return 0, "", err
		}
		r.Header.Set("Authorization", "Bearer "+k.Users[0].User.Token)
		resp, err := c.Do(r)
		if err != nil {
			return 0, "", err
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		return resp.StatusCode, string(text), err
	}
}

func TestFaults(t *testing.T) {
	for _, opts := range [][]Option{nil, {HTTP1()}} {
		p := Start(t, server(t), opts...)
		ask := client(t, p)
		called := 0
		for _, c := range []struct {
			name   string
			fault  Fault
			status int    // 0: no answer
			body   string // part of it
			logged int
			torn   bool
		}{
			{"answer", Answer(429, "TooManyRequests", "later", "Retry-After", "1"), 429, `"reason":"TooManyRequests"`, 429, false},
			{"cut", Cut(), 0, "", 0, true},
			{"cut after", CutAfter(), 0, "", 200, true},
			{"cut body", CutBody(), 200, "PATCH", 200, true},
			{"garble", Garble(), 200, "<html>", 200, false},
			{"slow", Slow(time.Millisecond), 200, "PATCH x", 200, false},
			{"before", Before(func(*http.Request) { called++ }), 0, "", 0, true},
			{"after", After(func(*http.Request) { called++ }), 0, "", 200, true},
			{"then", Then(func(*http.Request) { called++ }), 200, "PATCH x", 200, false},
			{"rewrite", Rewrite(func(b []byte) []byte { return []byte(strings.ToLower(string(b))) }), 200, "patch x", 200, false},
		} {
			p.Clear()
			p.Spoil(Rule{Match: Writes("/b"), Skip: 1, Times: 1, Do: c.fault})
			n := len(p.Requests())
			for i, path := range []string{"/b", "/a", "/b", "/b"} {
				status, body, err := ask(http.MethodPatch, path)
				if i == 2 {
					if status != c.status || !strings.Contains(body, c.body) || (err != nil) != c.torn {
						t.Errorf("%s: %d %q %v", c.name, status, body, err)
					}
					continue
				}
				if status != 200 || err != nil {
					t.Errorf("%s: request %d is spoiled, too: %d %v", c.name, i, status, err)
				}
			}
			log := p.Requests()[n:]
			if len(log) != 4 || !log[2].Spoiled || log[1].Spoiled || log[2].Status != c.logged || !log[2].Writes() {
				t.Errorf("%s: log %v", c.name, log)
			}
		}
		if called != 3 {
			t.Errorf("hooks were called %d times", called)
		}
		if status, body := p.Do(t, http.MethodGet, "/x", "", ""); status != 200 || !strings.HasPrefix(string(body), "GET") {
			t.Errorf("direct: %d %s", status, body)
		}
	}
}

func TestATokenIsNeeded(t *testing.T) {
	p := Start(t, server(t))
	p.token = "another"
	if status, _, err := client(t, p)(http.MethodGet, "/"); status != 401 || err != nil {
		t.Errorf("%d %v", status, err)
	}
}
