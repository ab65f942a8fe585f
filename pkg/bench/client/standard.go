package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
)

// standard sends with net/http: for HTTP/2, proxies and odd servers.
type standard struct {
	client  *Client
	rt      *http.Transport
	headers http.Header
}

func newStandard(c *Client, conf *tls.Config) *standard {
	t := &http.Transport{
		DialContext:         c.dialer.DialContext,
		TLSClientConfig:     conf,
		TLSHandshakeTimeout: c.opt.Timeouts.Dial,
		MaxIdleConns:        0,
		MaxIdleConnsPerHost: c.opt.MaxConns, // the default of 2 would dial for nearly every request
		DisableCompression:  true,           // a compressed stream cannot be timed token by token
		ReadBufferSize:      4 << 10,
		WriteBufferSize:     4 << 10,
		Protocols:           new(http.Protocols),
	}
	t.Protocols.SetHTTP1(true)
	t.Protocols.SetHTTP2(c.opt.HTTP2)
	if c.opt.ProxyFromEnv {
		t.Proxy = http.ProxyFromEnvironment
	}
	return &standard{client: c, rt: t, headers: replayable(c.headers)}
}

// replayable lets net/http send a request again when the idle connection it was put on
// turns out closed before a byte of an answer came. A header without values is not sent.
func replayable(h http.Header) http.Header {
	h = h.Clone()
	h["Idempotency-Key"] = nil
	return h
}

func (s *standard) close() { s.rt.CloseIdleConnections() }

// progressed is what the trace hooks of one request saw, from net/http's goroutines.
type progressed struct {
	conn  atomic.Pointer[net.Conn]
	wrote atomic.Bool
}

// send implements sender.
func (s *standard) send(ctx context.Context, k *call) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	clock := s.client.opt.Clock
	k.dog.begin(clock, s.client.opt.Timeouts, k.res.Rec.Sent, cancel)
	defer k.dog.stop()
	var p progressed
	var connected atomic.Int64
	trace := &httptrace.ClientTrace{
		GotConn: func(i httptrace.GotConnInfo) {
			connected.Store(clock.Now())
			p.conn.Store(&i.Conn)
		},
		WroteRequest: func(httptrace.WroteRequestInfo) { p.wrote.Store(true) },
	}
	resp, err := s.rt.RoundTrip(s.request(httptrace.WithClientTrace(ctx, trace), k))
	k.res.Rec.Connected = connected.Load()
	if err != nil {
		at := connecting
		if p.conn.Load() != nil {
			at = waiting
		}
		k.broke(err, context.Cause(ctx), at)
		return
	}
	defer resp.Body.Close() //nolint:errcheck // the outcome is judged by then
	arrived := func() arrival { return arrival{at: clock.Now()} }
	if c := p.conn.Load(); c != nil && resp.ProtoMajor == 1 {
		if st := stamperOf(*c); st != nil {
			arrived = st.arrival
		}
	}
	k.head(resp.StatusCode, resp.Header.Get("Content-Type"), arrived().at)
	k.read(ctx, resp.Body, arrived)
}

func (s *standard) request(ctx context.Context, k *call) *http.Request {
	h := s.headers
	if k.req.ID != "" {
		h = h.Clone()
		h.Set(requestID, k.req.ID)
	}
	body := k.req.Body
	r := &http.Request{
		Method: http.MethodPost, URL: k.target.url, Host: k.target.host, Header: h,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		ContentLength: int64(len(body)), Body: io.NopCloser(bytes.NewReader(body)),
		GetBody: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil },
	}
	return r.WithContext(ctx)
}

// read feeds the body to the call until it ends.
func (k *call) read(ctx context.Context, body io.Reader, arrived func() arrival) {
	if k.buf == nil {
		k.buf = make([]byte, 4<<10)
	}
	for {
		n, err := body.Read(k.buf)
		if n > 0 {
			if ferr := k.body(k.buf[:n], arrived()); ferr != nil {
				k.broke(ferr, nil, streaming)
				return
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			k.finish(true)
			return
		case err != nil:
			k.broke(err, context.Cause(ctx), streaming)
			return
		}
	}
}
