package faultproxy

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Proxy is a running proxy. It is safe for concurrent use.
type Proxy struct {
	// Kubeconfig is a file that leads here, with the context of the real cluster's file.
	Kubeconfig string

	server  *httptest.Server
	forward http.Handler
	token   string
	context string
	closing chan struct{}

	mu    sync.Mutex
	rules []*Rule
	log   []*Request
}

// Start starts a proxy before the API server that the kubeconfig's current context leads to, and
// stops it at the test's end. Clients speak HTTP/2 with it unless HTTP1 is given.
func Start(t testing.TB, kubeconfig string, opts ...Option) *Proxy {
	t.Helper()
	c, err := readKubeconfig(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{token: rand.Text(), context: c.context, closing: make(chan struct{})}
	p.forward = &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(c.server); r.Out.Header.Del("Authorization") },
		Transport:     &http.Transport{TLSClientConfig: c.tls, TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{}, MaxIdleConnsPerHost: 100},
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0), // clients that go away are the point
		ErrorHandler:  func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	p.server = httptest.NewUnstartedServer(http.HandlerFunc(p.serve))
	p.server.EnableHTTP2 = true
	p.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	for _, o := range opts {
		o(p)
	}
	p.server.StartTLS()
	p.Kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	if err := p.WriteKubeconfig(p.Kubeconfig, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.close)
	return p
}

// Option changes how a proxy is started.
type Option func(*Proxy)

// HTTP1 makes clients speak HTTP/1.1, where a cut ends the TCP connection and not a stream of it.
func HTTP1() Option { return func(p *Proxy) { p.server.EnableHTTP2 = false } }

// OwnAuthority gives the proxy a certificate that no other proxy's clients trust (without it all
// proxies of a process have the same one).
func OwnAuthority() Option {
	return func(p *Proxy) {
		cert, err := selfSigned()
		if err != nil {
			panic("faultproxy: " + err.Error())
		}
		p.server.TLS = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{cert}}
	}
}

// Authority is the PEM text of the authority that signed the proxy's certificate.
func (p *Proxy) Authority() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.server.Certificate().Raw})
}

func (p *Proxy) close() {
	close(p.closing)
	p.server.CloseClientConnections()
	p.server.Close()
}

// URL is the address that clients dial.
func (p *Proxy) URL() string { return p.server.URL }

// WriteKubeconfig writes a file that leads here. ca is the PEM text of the authority that the
// client shall trust; nil means the one that has really signed the proxy's certificate.
func (p *Proxy) WriteKubeconfig(path string, ca []byte) error {
	if ca == nil {
		ca = p.Authority()
	}
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: proxy, cluster: {server: %q, certificate-authority-data: %s}}]
users: [{name: proxy, user: {token: %q}}]
contexts: [{name: %q, context: {cluster: proxy, user: proxy}}]
current-context: %q
`, p.server.URL, base64.StdEncoding.EncodeToString(ca), p.token, p.context, p.context)
	return os.WriteFile(path, []byte(text), 0o600)
}

// serve answers one request: by the first rule that wants it, else by the real server.
func (p *Proxy) serve(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+p.token {
		Answer(http.StatusUnauthorized, "Unauthorized", "Unauthorized")(&Exchange{Writer: w, Request: r})
		return
	}
	entry, fault := p.choose(r)
	out := &statusWriter{ResponseWriter: w, note: func(code int) { p.note(entry, code) }}
	x := &Exchange{Writer: out, Request: r, proxy: p, entry: entry}
	if fault == nil {
		x.Forward()
		return
	}
	fault(x)
}

func (p *Proxy) choose(r *http.Request) (*Request, Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	entry := &Request{Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, DryRun: r.URL.Query().Has("dryRun"), At: time.Now()}
	p.log = append(p.log, entry)
	for _, rule := range p.rules {
		if rule.wants(r) {
			entry.Spoiled = true
			return entry, rule.Do
		}
	}
	return entry, nil
}

func (p *Proxy) note(entry *Request, code int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	entry.Status = code
}

// Spoil adds rules; the first that wants a request gets it.
func (p *Proxy) Spoil(rules ...Rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range rules {
		p.rules = append(p.rules, &rules[i])
	}
}

// Clear removes all rules: fair weather. The log goes on.
func (p *Proxy) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = nil
}

// Do asks the real server directly: what a test does as somebody else.
// path may hold a query. The request is not in the log.
func (p *Proxy) Do(t testing.TB, method, path, contentType, body string) (status int, answer []byte) {
	t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	w := httptest.NewRecorder()
	p.forward.ServeHTTP(w, r)
	return w.Code, w.Body.Bytes()
}

// Requests is the log so far, in the order of arrival.
func (p *Proxy) Requests() []Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]Request, len(p.log))
	for i, r := range p.log {
		out[i] = *r
	}
	return out
}

// Count counts the requests of the log that match.
func (p *Proxy) Count(match func(Request) bool) int {
	n := 0
	for _, r := range p.Requests() {
		if match(r) {
			n++
		}
	}
	return n
}

// Request is one line of the log.
type Request struct {
	Method, Path, Query string
	DryRun, Spoiled     bool
	// Status is the code of the real server's answer, also of one that was kept back, or of the one
	// that was made up; 0 when there was none.
	Status int
	At     time.Time
}

// Writes tells that the request changes something when the server accepts it.
func (r Request) Writes() bool { return writes(r.Method, r.Path) && !r.DryRun }

// String is the request as a line of text.
func (r Request) String() string {
	return fmt.Sprintf("%s %s?%s -> %d", r.Method, r.Path, r.Query, r.Status)
}

// writes leaves out reviews: questions in the form of a POST.
func writes(method, path string) bool {
	if strings.HasPrefix(path, "/apis/authorization.k8s.io/") || strings.HasPrefix(path, "/apis/authentication.k8s.io/") {
		return false
	}
	switch method {
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return true
	}
	return false
}

// statusWriter tells the code and passes everything else on, hijacking included.
type statusWriter struct {
	http.ResponseWriter
	note func(code int)
}

// WriteHeader notes the code.
func (w *statusWriter) WriteHeader(code int) {
	w.note(code)
	w.ResponseWriter.WriteHeader(code)
}

// Unwrap lets http.ResponseController find the flusher and the hijacker.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// gone waits until the client has given up or the proxy ends.
func (p *Proxy) gone(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-p.closing:
		return errors.New("the proxy ends")
	}
}
