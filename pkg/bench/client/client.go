package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"

	"golang.org/x/net/http/httpguts"

	"github.com/mifbench/mifbench/pkg/bench/client/lag"
)

// Client sends requests. It is safe for concurrent use; Close it when done.
type Client struct {
	opt     Options
	targets []target
	headers http.Header
	dialer  *dialer
	sender  sender
	next    atomic.Uint64
	calls   sync.Pool
	bufs    sync.Pool
	lags    lag.Histogram
	tokens  atomic.Int64
}

// sender is an HTTP implementation: it sends one request and feeds the answer.
type sender interface {
	send(ctx context.Context, c *call)
	close()
}

// New checks the options and returns a client; nothing is dialled.
func New(o Options) (*Client, error) {
	if o.API == "" {
		o.API = Completions
	}
	if o.Clock == nil {
		return nil, errors.New("client options lack a clock")
	}
	if o.MaxConns <= 0 {
		o.MaxConns = 1024
	}
	ts, err := o.targets()
	if err != nil {
		return nil, err
	}
	conf, err := o.TLS.Config()
	if err != nil {
		return nil, err
	}
	if err := checkHeaders(o); err != nil {
		return nil, err
	}
	c := &Client{opt: o, targets: ts, headers: headersOf(o)}
	c.calls.New = func() any { return new(call) }
	c.dialer = &dialer{net: net.Dialer{Timeout: o.Timeouts.Dial, Control: enableStamps}, rx: rxClock{o.Clock, &c.lags, &c.bufs}}
	c.sender, err = c.newSender(conf)
	return c, err
}

func (c *Client) newSender(conf *tls.Config) (sender, error) {
	lean := !c.opt.ProxyFromEnv && !c.opt.HTTP2
	switch c.opt.Transport {
	case Standard:
		lean = false
	case Lean:
		if !lean {
			return nil, fmt.Errorf("transport %q knows neither proxies nor HTTP/2: use %q", Lean, Standard)
		}
	case Auto:
	default:
		return nil, fmt.Errorf("transport %q is not one of %q, %q", c.opt.Transport, Lean, Standard)
	}
	if lean {
		return newLean(c, conf), nil
	}
	return newStandard(c, conf), nil
}

// headersOf are the headers of every request.
func headersOf(o Options) http.Header {
	h := http.Header{"Content-Type": {"application/json"}, "User-Agent": {"mifbench"}, "Accept": {"text/event-stream, application/json"}}
	if o.APIKey != "" {
		h.Set("Authorization", "Bearer "+o.APIKey)
	}
	for k, v := range o.Headers {
		if k = http.CanonicalHeaderKey(k); k != "Host" {
			h[k] = v
		}
	}
	return h
}

// checkHeaders refuses what would break a request's head; it shows no values.
func checkHeaders(o Options) error {
	if !httpguts.ValidHeaderFieldValue(o.APIKey) {
		return errors.New("the API key holds a control character: is there a line end in its file?")
	}
	for k, vs := range o.Headers {
		if !httpguts.ValidHeaderFieldName(k) {
			return fmt.Errorf("header name %q is not valid", k)
		}
		switch http.CanonicalHeaderKey(k) {
		case "Content-Length", "Transfer-Encoding", "Connection":
			return fmt.Errorf("header %q is set by the client itself", k)
		}
		for _, v := range vs {
			if !httpguts.ValidHeaderFieldValue(v) {
				return fmt.Errorf("the value of header %q holds a control character", k)
			}
		}
	}
	return nil
}

// Request is one request, rendered.
type Request struct {
	// Index is the position in the schedule.
	Index int64
	// ID is sent as X-Request-Id when not empty.
	ID   string
	Body []byte
	// Again, when not nil, renders Body again, so that it need not be kept while the
	// answer comes: 10,800 prompts of 2,000 tokens are 100 MB. It is used to mask what an
	// error repeats of the request.
	Again func() []byte
	// MaxTokens is the output length asked for; the result makes room for it.
	MaxTokens int32
	// PromptTokens is the prompt's length as the dataset counts it.
	PromptTokens int32
	// Stream tells that the body asks for a stream.
	Stream bool
	// Target picks a base URL, counted from 1; 0 takes the next in turn.
	Target int
}

// Do sends one request and returns when its outcome is in res, which it resets. It takes
// r over. ctx ends it early: the status is then Cancelled.
func (c *Client) Do(ctx context.Context, r *Request, res *Result) {
	k := c.begin(r, res)
	c.sender.send(ctx, k)
	c.end(k, res)
}

// begin readies a call. It is not inlined into Do, whose frame lies on the stack of every
// stream that waits for a token: what fits 4 KB of stack costs half of what does not.
//
//go:noinline
func (c *Client) begin(r *Request, res *Result) *call {
	res.Reset(r.MaxTokens)
	i := r.Target - 1
	if i < 0 {
		i = int((c.next.Add(1) - 1) % uint64(len(c.targets)))
	}
	rec := &res.Rec
	rec.Index, rec.MaxTokens, rec.PromptTokens, rec.Target = r.Index, r.MaxTokens, r.PromptTokens, int32(i)
	k := c.calls.Get().(*call)
	k.begin(c, r, res, &c.targets[i])
	return k
}

//go:noinline
func (c *Client) end(k *call, res *Result) {
	rec := &res.Rec
	if rec.Done == 0 {
		rec.Done = c.opt.Clock.Now()
	}
	if rec.Status == "" {
		panic("client: a sender left a request without a status")
	}
	rec.KernelClock = rec.KernelClock && res.Events() > 0
	k.end()
	c.calls.Put(k)
}

// ReceiveLag is the distribution of (time our code had the data - kernel's stamp), one
// sample a read; empty where the kernel gives no stamps.
func (c *Client) ReceiveLag() lag.Summary { return c.lags.Summary() }

// Tokens is how many token events have come so far, of all requests.
func (c *Client) Tokens() int64 { return c.tokens.Load() }

// Targets are the full URLs that requests go to, without credentials.
func (c *Client) Targets() []string {
	var s []string
	for _, t := range c.targets {
		s = append(s, t.url.Redacted())
	}
	return s
}

// KernelStamps tells whether this platform can stamp in the kernel.
func KernelStamps() bool { return kernelStamps }

// Close closes idle connections; requests in flight go on.
func (c *Client) Close() { c.sender.close() }

// dialer opens stamping connections.
type dialer struct {
	net net.Dialer
	rx  rxClock
}

func (d *dialer) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := d.net.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	s, err := wrap(c, d.rx)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return s, nil
}
