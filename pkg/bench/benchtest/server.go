// Package benchtest is a model server for tests of the load generator: raw TCP on
// loopback, so that a test decides each byte, each write and each pause, and which
// fault ends the connection. It knows nothing of models. Imported by tests only;
// misuse fails the test that started it.
package benchtest

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// Step is one thing the server does on a connection, in the order of its fields.
type Step struct {
	// Wait pauses first.
	Wait time.Duration
	// Write is sent in one write, when not empty.
	Write string
	// Do is called, when not nil.
	Do func()
	// End closes the connection: by FIN, by RST, or not before the server stops.
	End End
}

// End is how a script ends its connection.
type End int

// The ends. Keep waits for the next request.
const (
	Keep End = iota
	Close
	Reset
	Hang
)

// Request is what the server was sent.
type Request struct {
	// N counts requests of the server from 0; Conn counts its connections.
	N, Conn int
	Path    string
	Header  http.Header
	Host    string
	Body    string
}

// Handler scripts the answer to a request.
type Handler func(Request) []Step

// Server is a running server.
type Server struct {
	// URL is its base URL; Addr its host:port.
	URL, Addr string
	handler   Handler
	ctx       context.Context
	mu        sync.Mutex
	requests  []Request
	conns     map[net.Conn]int
}

// Start runs a server until the test ends. With conf it speaks TLS.
func Start(t testing.TB, conf *tls.Config, h Handler) *Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("benchtest: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{Addr: l.Addr().String(), handler: h, ctx: ctx, conns: map[net.Conn]int{}}
	s.URL = "http://" + s.Addr
	if conf != nil {
		s.URL = "https://" + s.Addr
	}
	var wg sync.WaitGroup
	wg.Go(func() { s.accept(l, conf, &wg) })
	t.Cleanup(func() {
		cancel()
		_ = l.Close()
		s.closeAll()
		wg.Wait()
	})
	return s
}

// Requests are the requests so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

func (s *Server) accept(l net.Listener, conf *tls.Config, wg *sync.WaitGroup) {
	for n := 0; ; n++ {
		c, err := l.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.conns[c] = n
		s.mu.Unlock()
		wg.Go(func() { s.serve(c, conf, n) })
	}
}

func (s *Server) closeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		_ = c.Close()
	}
}

func (s *Server) serve(raw net.Conn, conf *tls.Config, n int) {
	defer func() {
		_ = raw.Close()
		s.mu.Lock()
		delete(s.conns, raw)
		s.mu.Unlock()
	}()
	c := raw
	if conf != nil {
		c = tls.Server(raw, conf)
	}
	r := bufio.NewReader(c)
	for {
		hr, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		body, err := io.ReadAll(hr.Body)
		if err != nil || !s.play(c, raw, s.handler(s.note(hr, string(body), n))) {
			return
		}
	}
}

func (s *Server) note(hr *http.Request, body string, conn int) Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := Request{N: len(s.requests), Conn: conn, Path: hr.URL.Path, Header: hr.Header, Host: hr.Host, Body: body}
	s.requests = append(s.requests, r)
	return r
}

// play tells whether the connection is to be kept.
func (s *Server) play(c, raw net.Conn, steps []Step) bool {
	for _, st := range steps {
		if st.Wait > 0 && s.sleep(st.Wait) != nil {
			return false
		}
		if st.Write != "" {
			if _, err := io.WriteString(c, st.Write); err != nil {
				return false
			}
		}
		if st.Do != nil {
			st.Do()
		}
		switch st.End {
		case Keep:
		case Close:
			return false
		case Reset:
			if t, ok := raw.(*net.TCPConn); ok {
				_ = t.SetLinger(0)
			}
			return false
		case Hang:
			<-s.ctx.Done()
			return false
		}
	}
	return true
}

func (s *Server) sleep(d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-s.ctx.Done():
		return errors.New("stopped")
	case <-t.C:
		return nil
	}
}
