package client

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// lean sends with our own HTTP/1.1: a goroutine and no buffers per waiting stream, one
// system call per token event. It follows no redirects and knows no proxies.
type lean struct {
	client *Client
	tls    *tls.Config
	heads  map[string]string // target address → request head up to per-request headers
	writes sync.Pool
	mu     sync.Mutex
	idle   map[string][]*leanConn
	count  int
	closed bool
}

// leanConn is a connection with its response parser.
type leanConn struct {
	net.Conn
	rx     stamper // below TLS, if any; nil when not TCP
	parser http1
	addr   string
	plain  bool
	used   bool // has carried a request before
}

func newLean(c *Client, conf *tls.Config) *lean {
	l := &lean{client: c, tls: conf, heads: map[string]string{}, idle: map[string][]*leanConn{}}
	for _, t := range c.targets {
		l.heads[t.url.String()] = leanHead(c, t)
	}
	return l
}

// requestID is the header of Request.ID, which wins over one of Options.Headers.
const requestID = "X-Request-Id"

// leanHead renders what all requests to a target share.
func leanHead(c *Client, t target) string {
	var b strings.Builder
	b.WriteString("POST " + t.url.RequestURI() + " HTTP/1.1\r\nHost: " + t.host + "\r\n")
	var names []string
	for k := range c.headers {
		if k != requestID { // each request has its own, or this one; never both
			names = append(names, k)
		}
	}
	slices.Sort(names)
	for _, k := range names {
		for _, v := range c.headers[k] {
			b.WriteString(k + ": " + v + "\r\n")
		}
	}
	return b.String()
}

// send implements sender.
func (l *lean) send(ctx context.Context, k *call) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	for fresh := false; ; fresh = true {
		c, err := l.get(ctx, k.target, fresh)
		if err != nil {
			k.broke(err, dialCause(ctx, err), connecting)
			return
		}
		k.res.Rec.Connected = l.client.opt.Clock.Now()
		if !l.exchange(ctx, cancel, c, k) {
			return
		}
	}
}

// dialCause is why ctx ended, or the dial limit that passed.
func dialCause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	var l *limit
	if errors.As(err, &l) {
		return l
	}
	return nil
}

// exchange sends k on c and takes the answer; true asks for another connection, because
// the server had closed this idle one before it saw the request.
func (l *lean) exchange(ctx context.Context, cancel context.CancelCauseFunc, c *leanConn, k *call) bool {
	unhook := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
	dog := k.dog
	if c.plain {
		dog.kick = func() { _ = c.SetReadDeadline(time.Unix(1, 0)) }
	}
	dog.begin(l.client.opt.Clock, l.client.opt.Timeouts, k.res.Rec.Sent, cancel)
	c.parser.reset()
	err := l.write(c, k)
	phase := waiting
	if err == nil {
		err = l.read(ctx, c, k)
		if k.res.Rec.HTTPStatus != 0 {
			phase = streaming
		}
	}
	dog.stop()
	whole := unhook()
	if err != nil && c.used && !c.parser.began && context.Cause(ctx) == nil {
		_ = c.Close()
		k.dog = new(watchdog)
		return true
	}
	l.judge(ctx, c, k, err, phase)
	if err == nil && whole && c.parser.reuse && c.parser.state == complete {
		l.put(c)
		return false
	}
	_ = c.Close()
	return false
}

// judge turns the end of an exchange into an outcome.
func (l *lean) judge(ctx context.Context, c *leanConn, k *call, err error, p phase) {
	switch {
	case err == nil:
		k.finish(true)
	case errors.Is(err, io.EOF) && c.parser.toClose:
		k.finish(true)
	case errors.Is(err, io.EOF) && p == streaming:
		k.broke(io.ErrUnexpectedEOF, context.Cause(ctx), p)
	default:
		k.broke(err, context.Cause(ctx), p)
	}
}

// write sends the request in one write, so that it leaves in as few segments as it can.
func (l *lean) write(c *leanConn, k *call) error {
	p, _ := l.writes.Get().(*[]byte)
	if p == nil {
		p = new([]byte)
	}
	b := append((*p)[:0], l.heads[k.target.url.String()]...)
	id := k.req.ID
	if id == "" {
		id = l.client.headers.Get(requestID)
	}
	if id != "" {
		b = append(append(append(b, requestID+": "...), id...), "\r\n"...)
	}
	b = strconv.AppendInt(append(b, "Content-Length: "...), int64(len(k.req.Body)), 10)
	b = append(append(b, "\r\n\r\n"...), k.req.Body...)
	_, err := c.Write(b)
	*p = b
	l.writes.Put(p)
	return err
}

// read takes the answer until it is complete; a kicked read looks again at once.
func (l *lean) read(ctx context.Context, c *leanConn, k *call) error {
	take := func(b []byte, a arrival) (bool, error) { return c.parser.feed(b, a, k) }
	for {
		var err error
		if c.plain {
			err = c.rx.each(take)
		} else {
			err = l.readTLS(c, k, take)
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) || context.Cause(ctx) != nil {
			return err
		}
		// The deadline may be an abort's as well: that has ended ctx before it set it.
		if err := c.SetReadDeadline(time.Time{}); err != nil {
			return err
		}
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
	}
}

// readTLS reads through crypto/tls, into a buffer that the call keeps.
func (l *lean) readTLS(c *leanConn, k *call, take func([]byte, arrival) (bool, error)) error {
	if k.buf == nil {
		k.buf = make([]byte, 4<<10)
	}
	for {
		n, err := c.Read(k.buf)
		if n > 0 {
			a := arrival{at: l.client.opt.Clock.Now()}
			if c.rx != nil {
				a = c.rx.arrival()
			}
			if stop, ferr := take(k.buf[:n], a); stop || ferr != nil {
				return ferr
			}
		}
		if err != nil {
			return err
		}
	}
}

// get returns an idle connection that still lives, or a new one.
func (l *lean) get(ctx context.Context, t *target, fresh bool) (*leanConn, error) {
	key := t.url.Scheme + t.addr
	for !fresh {
		c := l.pop(key)
		if c == nil {
			break
		}
		if c.rx == nil || c.rx.alive(c.plain) {
			c.used = true
			return c, nil
		}
		_ = c.Close()
	}
	if d := firstOf(l.client.opt.Timeouts.Dial, l.client.opt.Timeouts.Total); d > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d)
		defer cancel()
	}
	return l.dialAside(ctx, t, key)
}

// dialAside dials on a goroutine of its own: dialling and TLS need a deep stack, which
// the stream's goroutine would keep while it waits for tokens.
func (l *lean) dialAside(ctx context.Context, t *target, key string) (*leanConn, error) {
	type dialled struct {
		c   *leanConn
		err error
	}
	done := make(chan dialled, 1)
	go func() {
		c, err := l.dial(ctx, t, key)
		done <- dialled{c, err}
	}()
	d := <-done
	return d.c, d.err
}

func (l *lean) dial(ctx context.Context, t *target, key string) (*leanConn, error) {
	raw, err := l.client.dialer.DialContext(ctx, "tcp", t.addr)
	if err != nil {
		return nil, err
	}
	rx, _ := raw.(stamper)
	c := &leanConn{Conn: raw, rx: rx, addr: key, plain: t.url.Scheme == "http" && rx != nil}
	if t.url.Scheme != "https" {
		return c, nil
	}
	conf := l.tls.Clone()
	if conf.ServerName == "" {
		conf.ServerName = t.url.Hostname()
	}
	conf.NextProtos = []string{"http/1.1"}
	tc := tls.Client(raw, conf)
	if err := tc.HandshakeContext(ctx); err != nil {
		_ = raw.Close()
		return nil, &handshakeError{err}
	}
	c.Conn = tc
	return c, nil
}

func (l *lean) pop(key string) *leanConn {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := l.idle[key]
	if len(list) == 0 {
		return nil
	}
	c := list[len(list)-1]
	l.idle[key] = list[:len(list)-1]
	l.count--
	return c
}

func (l *lean) put(c *leanConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.count >= l.client.opt.MaxConns {
		_ = c.Close()
		return
	}
	l.idle[c.addr] = append(l.idle[c.addr], c)
	l.count++
}

func (l *lean) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, list := range l.idle {
		for _, c := range list {
			_ = c.Close()
		}
	}
	clear(l.idle)
}

// firstOf is the first that is set.
func firstOf(a, b time.Duration) time.Duration {
	if a > 0 {
		return a
	}
	return b
}
