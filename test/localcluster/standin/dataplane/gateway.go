// Package dataplane is the way of a request through the stand-in gateway: an HTTP/1.1 listener, the choice of a route, the
// choice of a prefill and a decode rank, and a reverse proxy that passes each piece of a stream on as it arrives.
//
// It stands for Envoy, the ext-proc call to heimdall and heimdall's scheduling with pd-profile-handler and
// active-request-scorer in one. It has no TLS, no HTTP/2, no retries, no timeouts (the chart switches them off), and it
// never reads a request's body, so it does not route by model.
//
// Who gets which errors: the client, as an OpenAI-style error object with status 404 (no route), 502 (the engine broke
// off before answering) or 503 (nothing to send it to). An error after the first byte ends the connection, as a real
// proxy's would.
package dataplane

import (
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"sync"
	"sync/atomic"
	"time"
)

// PrefillHeader tells the decode side's proxy where the prompt is to be computed: host:port.
const PrefillHeader = "x-prefiller-host-port"

// Gateway serves one listener of a Gateway; it is an http.Handler.
type Gateway struct {
	picker *Picker
	proxy  *httputil.ReverseProxy
	table  atomic.Pointer[Table]
}

// New returns a Gateway that serves nothing yet. Gateways that lead to the same engines share picker and transport.
func New(picker *Picker, transport http.RoundTripper) *Gateway {
	g := &Gateway{picker: picker}
	g.table.Store(&Table{Down: "the gateway is not programmed yet"})
	g.proxy = &httputil.ReverseProxy{
		Rewrite:        rewrite,
		Transport:      transport,
		FlushInterval:  -1, // a token is passed on when it comes
		BufferPool:     &buffers{},
		ModifyResponse: releasePrefill,
		ErrorHandler:   upstreamError,
		ErrorLog:       log.New(io.Discard, "", 0), // broken streams are the client's to report
	}
	return g
}

// Transport returns a transport fit for thousands of streams to a few dozen ranks.
func Transport() *http.Transport {
	return &http.Transport{
		DialContext:         (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
		MaxIdleConns:        0, // no limit
		MaxIdleConnsPerHost: 4096,
		IdleConnTimeout:     90 * time.Second,
		DisableCompression:  true,
	}
}

// Set replaces the table for the requests to come.
func (g *Gateway) Set(t *Table) { g.table.Store(t) }

// choice is what was picked for one request.
type choice struct {
	decode, prefill string
	release         func() // gives the prefill rank back, once
}

func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	t := g.table.Load()
	if t.Down != "" {
		fail(w, http.StatusServiceUnavailable, t.Down)
		return
	}
	route := t.Find(r)
	if route == nil {
		fail(w, http.StatusNotFound, "no route matches "+r.Method+" "+r.Host+r.URL.Path)
		return
	}
	if route.Pool == nil {
		fail(w, http.StatusServiceUnavailable, "route "+route.Name+" has no usable backend: "+route.Problem)
		return
	}
	c, problem := g.choose(route.Pool, r.Method)
	if problem != "" {
		fail(w, http.StatusServiceUnavailable, problem)
		return
	}
	defer g.picker.Release(c.decode)
	defer c.release()
	// An engine may answer before it has read the whole request; net/http would then close the request's body under the
	// transport's hands and so cut the answer short. Writers that cannot do it are not connections.
	_ = http.NewResponseController(w).EnableFullDuplex()
	g.proxy.ServeHTTP(w, r.WithContext(withChoice(r.Context(), c)))
}

// choose picks the ranks for a request; only a POST computes a prompt.
func (g *Gateway) choose(p *Pool, method string) (*choice, string) {
	if p.Down != "" {
		return nil, p.Down
	}
	c := &choice{decode: g.picker.Acquire(p.Decode), release: func() {}}
	if c.decode == "" {
		return nil, "no ready endpoints: pool " + p.Name + " has no ready pod that decodes"
	}
	if method != http.MethodPost {
		return c, ""
	}
	if c.prefill = g.picker.Acquire(p.Prefill); c.prefill != "" {
		c.release = sync.OnceFunc(func() { g.picker.Release(c.prefill) })
	}
	return c, ""
}

func rewrite(r *httputil.ProxyRequest) {
	c := choiceOf(r.In.Context())
	r.Out.URL.Scheme, r.Out.URL.Host = "http", c.decode
	r.Out.Host = r.In.Host
	r.Out.Header.Del(PrefillHeader) // a client must not choose
	if c.prefill != "" {
		r.Out.Header.Set(PrefillHeader, c.prefill)
	}
	r.SetXForwarded()
}

// releasePrefill gives the prefill rank back at the first byte of the answer: its work is done then.
func releasePrefill(resp *http.Response) error {
	if c := choiceOf(resp.Request.Context()); c.prefill != "" {
		resp.Body = &firstByte{ReadCloser: resp.Body, then: c.release}
	}
	return nil
}

type firstByte struct {
	io.ReadCloser
	then func()
}

func (b *firstByte) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 && b.then != nil {
		b.then()
		b.then = nil
	}
	return n, err
}

func upstreamError(w http.ResponseWriter, r *http.Request, err error) {
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		fail(w, http.StatusServiceUnavailable, "upstream connect error: "+err.Error())
		return
	}
	fail(w, http.StatusBadGateway, "upstream "+choiceOf(r.Context()).decode+" broke off before answering: "+err.Error())
}

func fail(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// A client that is gone cannot be told.
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{
		"message": message, "type": "gateway_error", "code": status,
	}})
}
