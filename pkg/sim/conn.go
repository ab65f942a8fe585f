package sim

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// maxPending bounds what is kept for a client that does not read.
const maxPending = 16 << 20

// maxBody bounds a request body.
const maxBody = 64 << 20

// conn is one client connection. Its goroutine reads requests; the engine's
// goroutine writes tokens with send, which never waits for the client. net/http's
// server is not used because one write per token from one goroutine for all
// streams of a rank, without a goroutine wake-up per stream, is what makes the
// simulator cheap.
type conn struct {
	rank *rank
	nc   *net.TCPConn
	fd   uintptr // of nc; valid under mu while not dead, since only abort closes nc
	br   *bufio.Reader

	cur      *stream // the answer under way, of the reading goroutine only
	curGroup *group

	mu       sync.Mutex
	pend     []byte // not written yet; a flusher is under way when not empty
	holding  time.Duration
	flushing bool
	closing  bool // close when pend is empty
	dead     bool
}

func newConn(r *rank, nc *net.TCPConn) (*conn, error) {
	raw, err := nc.SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("raw connection of %s: %w", nc.RemoteAddr(), err)
	}
	c := &conn{rank: r, nc: nc, br: bufio.NewReaderSize(nc, 4096)}
	if err := raw.Control(func(fd uintptr) { c.fd = fd }); err != nil {
		return nil, fmt.Errorf("descriptor of %s: %w", nc.RemoteAddr(), err)
	}
	return c, nil
}

// send writes b, or queues what the socket does not take at once. It reports
// false when the connection is gone.
func (c *conn) send(b []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead {
		return false
	}
	if c.flushing || c.holding > 0 {
		return c.queue(b)
	}
	n, errno := writeOnce(c.fd, b) // not nc.Write, which may wait, nor RawConn, which costs a tenth more
	if errno != 0 && !errors.Is(errno, syscall.EAGAIN) && !errors.Is(errno, syscall.EINTR) {
		c.abort()
		return false
	}
	if n < len(b) {
		return c.queue(b[n:])
	}
	return true
}

// queue keeps b for the flusher and starts it when needed. c.mu is held.
func (c *conn) queue(b []byte) bool {
	if len(c.pend)+len(b) > maxPending {
		c.abort()
		return false
	}
	c.pend = append(c.pend, b...)
	if !c.flushing {
		c.flushing = true
		c.rank.srv.tasks.Go(c.flush)
	}
	return true
}

// hold delays everything that is sent from now on by d.
func (c *conn) hold(d time.Duration) {
	c.mu.Lock()
	c.holding = d
	c.mu.Unlock()
}

// flush writes the queue, after the time that it is held and waiting for the
// client as long as it takes.
func (c *conn) flush() {
	for {
		c.mu.Lock()
		if d := c.holding; d > 0 {
			c.holding = 0
			c.mu.Unlock()
			sleep(c.rank.srv.stop, d)
			continue
		}
		b := c.pend
		c.pend = nil
		if len(b) == 0 || c.dead {
			c.flushing = false
			if c.closing {
				c.abort()
			}
			c.mu.Unlock()
			return
		}
		c.mu.Unlock()
		if _, err := c.nc.Write(b); err != nil {
			c.kill()
		}
	}
}

// sleep waits for d or until ctx is done.
func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// abort closes the socket; the reading goroutine then sees an error. c.mu is held.
func (c *conn) abort() {
	c.dead = true
	_ = c.nc.Close() // nobody could use the error: the client is gone
}

func (c *conn) kill() {
	c.mu.Lock()
	c.abort()
	c.mu.Unlock()
}

// finish closes the connection once everything queued is written.
func (c *conn) finish() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing = true; !c.flushing {
		c.abort()
	}
}

// reset makes the client see a connection reset.
func (c *conn) reset() {
	_ = c.nc.SetLinger(0) // on failure the client sees an end instead
	c.kill()
}

// serve reads requests until the client or the server is done with them. While
// an answer is under way it waits in Peek: the end of the input means that the
// client hung up.
func (c *conn) serve() {
	defer c.kill()
	for {
		_, err := c.br.Peek(1)
		if c.cur != nil {
			if err != nil {
				c.curGroup.cancel(c.cur)
				return
			}
			<-c.cur.done
			c.cur = nil
		}
		if err != nil || !c.next() {
			return
		}
	}
}

// next reads and answers one request; false when it was the last.
func (c *conn) next() bool {
	req, err := http.ReadRequest(c.br)
	if err != nil {
		c.respond(true, http.StatusBadRequest, "text/plain; charset=utf-8", []byte("Invalid HTTP request received."))
		c.finish()
		c.linger()
		return false
	}
	open := c.handle(req)
	if !open && c.cur == nil {
		c.finish()
		c.linger()
	}
	return open || c.cur != nil
}

// keepAlive reports whether the connection outlives the request.
func keepAlive(req *http.Request) bool { return !req.Close && req.ProtoAtLeast(1, 1) }

// linger waits until the queue is written, so that kill does not cut it off.
func (c *conn) linger() {
	for {
		c.mu.Lock()
		dead := c.dead
		c.mu.Unlock()
		if dead {
			return
		}
		if _, err := c.br.Discard(1); err != nil {
			return
		}
	}
}

// handle answers one request and reports whether the connection stays open.
func (c *conn) handle(req *http.Request) bool {
	if req.Header.Get("Expect") == "100-continue" {
		c.send([]byte("HTTP/1.1 100 Continue\r\n\r\n"))
	}
	body, err := io.ReadAll(io.LimitReader(req.Body, maxBody+1))
	if err != nil {
		return false
	}
	if len(body) > maxBody {
		c.fail(req, &apiError{status: http.StatusRequestEntityTooLarge, kind: "BadRequestError", msg: "request body too large"})
		return false
	}
	c.rank.route(c, req, body)
	return keepAlive(req)
}

// respond writes a whole response; last says so in its header.
func (c *conn) respond(last bool, status int, contentType string, body []byte, extra ...string) {
	b := statusLine(status, contentType)
	for _, h := range extra {
		b = append(append(b, h...), '\r', '\n')
	}
	if last {
		b = append(b, "connection: close\r\n"...)
	}
	b = strconv.AppendInt(append(b, "content-length: "...), int64(len(body)), 10)
	b = append(b, "\r\n\r\n"...)
	c.send(append(b, body...))
}

func (c *conn) answer(req *http.Request, status int, contentType string, body []byte) {
	c.respond(!keepAlive(req), status, contentType, body)
}

func (c *conn) fail(req *http.Request, e *apiError, extra ...string) {
	c.respond(!keepAlive(req), e.status, "application/json", e.body(), extra...)
}

func statusLine(status int, contentType string) []byte {
	b := fmt.Appendf(nil, "HTTP/1.1 %d %s\r\ndate: %s\r\nserver: uvicorn\r\n",
		status, http.StatusText(status), time.Now().UTC().Format(http.TimeFormat))
	if contentType == "" { // vLLM's empty answers have none
		return b
	}
	return append(append(append(b, "content-type: "...), contentType...), '\r', '\n')
}
