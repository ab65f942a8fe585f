package sim

import (
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// rank is one data-parallel rank: a listener and its engine (or engines).
type rank struct {
	srv    *Server
	index  int
	ln     *net.TCPListener
	groups []*group
	m      *rankMetrics
	count  atomic.Uint64 // requests
	// refused counts connections that could not be accepted for want of file
	// descriptors.
	refused atomic.Uint64

	mu    sync.Mutex
	conns map[*conn]struct{}
}

func newRank(s *Server, index int) *rank {
	r := &rank{srv: s, index: index, m: newRankMetrics(), conns: map[*conn]struct{}{}}
	for i := range s.cfg.Stagger {
		seed := mix(s.cfg.Seed ^ uint64(index*1000+i))
		r.groups = append(r.groups, &group{
			srv: s, rank: r, phase: float64(i) / float64(s.cfg.Stagger), wake: make(chan struct{}, 1),
			e: newEngine(s.model, s.cfg.StreamScale, s.cfg.PrefixCaching, seed),
		})
	}
	return r
}

// accept serves connections until the listener is closed.
func (r *rank) accept() error {
	for {
		nc, err := r.ln.AcceptTCP()
		if err != nil {
			if !errors.Is(err, syscall.EMFILE) && !errors.Is(err, syscall.ENFILE) && !errors.Is(err, syscall.ECONNABORTED) {
				return err
			}
			r.refused.Add(1) // shown in /metrics; descriptors may come free
			sleep(r.srv.stop, 10*time.Millisecond)
			continue
		}
		c, err := newConn(r, nc)
		if err != nil {
			_ = nc.Close() // the client is gone already
			continue
		}
		r.mu.Lock()
		r.conns[c] = struct{}{}
		r.mu.Unlock()
		r.srv.tasks.Go(func() {
			c.serve()
			r.mu.Lock()
			delete(r.conns, c)
			r.mu.Unlock()
		})
	}
}

// closeConns ends every connection, busy or not.
func (r *rank) closeConns() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.conns {
		c.kill()
	}
}

// route is one row of the table of endpoints.
type route struct {
	method, path string
	serve        func(r *rank, c *conn, req *http.Request, body []byte)
}

// routes is the visible table.
var routes = []route{ //nolint:gochecknoglobals // read-only table, the place where an endpoint is added
	{http.MethodPost, "/v1/completions", (*rank).completions},
	{http.MethodPost, "/v1/chat/completions", (*rank).chat},
	{http.MethodGet, "/v1/models", (*rank).models},
	{http.MethodPost, "/tokenize", (*rank).tokenize},
	{http.MethodGet, "/health", (*rank).health},
	{http.MethodGet, "/ping", (*rank).health},
	{http.MethodPost, "/ping", (*rank).health},
	{http.MethodGet, "/version", (*rank).version},
	{http.MethodGet, "/metrics", (*rank).metrics},
	{http.MethodPost, "/reset_prefix_cache", (*rank).resetPrefixCache},
}

func (r *rank) route(c *conn, req *http.Request, body []byte) {
	known := false
	for _, rt := range routes {
		if rt.path != req.URL.Path {
			continue
		}
		known = true
		if rt.method != req.Method {
			continue
		}
		if key := r.srv.cfg.APIKey; key != "" && strings.HasPrefix(rt.path, "/v1") && req.Header.Get("Authorization") != "Bearer "+key {
			c.answer(req, http.StatusUnauthorized, "application/json", []byte(`{"error":"Unauthorized"}`))
			return
		}
		rt.serve(r, c, req, body)
		return
	}
	if known {
		c.answer(req, http.StatusMethodNotAllowed, "application/json", []byte(`{"detail":"Method Not Allowed"}`))
		return
	}
	c.answer(req, http.StatusNotFound, "application/json", []byte(`{"detail":"Not Found"}`))
}

func (r *rank) completions(c *conn, req *http.Request, body []byte) {
	r.generate(c, req, body, false)
}
func (r *rank) chat(c *conn, req *http.Request, body []byte) { r.generate(c, req, body, true) }

// generate begins to answer one completions or chat request; the engine's
// goroutine goes on with it.
func (r *rank) generate(c *conn, req *http.Request, body []byte, chat bool) {
	n := r.count.Add(1)
	j, apiErr := r.srv.parseJob(body, chat, n<<10|uint64(r.index))
	if apiErr != nil {
		c.fail(req, apiErr)
		return
	}
	j.faults = draw(r.srv.cfg.Faults, r.srv.cfg.Seed+uint64(r.index), n)
	if r.refuse(c, req, j) {
		return
	}
	g := r.groups[int(n)%len(r.groups)]
	st := &stream{c: c, done: make(chan struct{}), chunk: req.ProtoAtLeast(1, 1), close: !keepAlive(req)}
	st.w = newWire(j, r.requestID(req, chat, n), r.srv.cfg.Model, time.Now().Unix(), r.srv.cfg.ReasoningTokens)
	st.s = &seq{prompt: j.prompt, max: j.max, hashes: j.hashes, owner: st}
	if r.srv.cfg.TTFT > 0 {
		st.s.remote, st.s.ready = true, r.srv.cfg.TTFT
	}
	if f, ok := j.faults[faultSlowFirst]; ok {
		c.hold(r.srv.real(f.Delay))
	}
	peer := req.Header.Get("X-Prefiller-Host-Port")
	if peer == "" || r.srv.cfg.Role == RolePrefill {
		st.begin()
		g.submit(st)
	} else {
		r.srv.tasks.Go(func() { r.remotePrefill(g, st, req, peer, body) })
	}
	c.cur, c.curGroup = st, g
}

// refuse plays the faults that answer with an error status.
func (r *rank) refuse(c *conn, req *http.Request, j *job) bool {
	if f, ok := j.faults[fault5xx]; ok {
		c.fail(req, &apiError{status: f.N, kind: "InternalServerError", msg: "simulated failure"})
		return true
	}
	if _, ok := j.faults[fault429]; ok {
		c.fail(req, &apiError{status: http.StatusTooManyRequests, kind: "TooManyRequests", msg: "simulated overload"}, "retry-after: 1")
		return true
	}
	return false
}

// requestID is made of X-Request-Id when the client sent one, as vLLM does.
func (r *rank) requestID(req *http.Request, chat bool, n uint64) string {
	id := req.Header.Get("X-Request-Id")
	if id == "" {
		a, b := mix(r.srv.cfg.Seed^n<<16^uint64(r.index)), mix(n)
		id = hex16(a) + hex16(b)
	}
	if chat {
		return "chatcmpl-" + id
	}
	return "cmpl-" + id
}

func hex16(v uint64) string {
	s := strconv.FormatUint(v, 16)
	return strings.Repeat("0", 16-len(s)) + s
}
