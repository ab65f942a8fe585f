package client

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/mifbench/mifbench/pkg/bench/record"
)

// maxWhole bounds an answer that is not streamed.
const maxWhole = 64 << 20

// call is one request on its way; its buffers are used again.
type call struct {
	client *Client
	req    *Request
	res    *Result
	target *target
	stream stream
	dog    *watchdog
	whole  []byte // body of an answer that is not a stream, or of an error
	buf    []byte
	plain  bool // the answer is one JSON object
}

func (k *call) begin(c *Client, r *Request, res *Result, t *target) {
	k.client, k.req, k.res, k.target = c, r, res, t
	k.plain, k.whole = false, k.whole[:0]
	k.stream.reset(res, c.opt.OnToken, &c.tokens)
	k.dog = new(watchdog)
	res.Rec.Sent = c.opt.Clock.Now()
}

// end lets go of what the pool must not keep alive.
func (k *call) end() {
	k.client, k.req, k.res, k.dog, k.target = nil, nil, nil, nil, nil
	k.stream.res, k.stream.onToken, k.stream.count = nil, nil, nil
	if cap(k.whole) > 1<<16 {
		k.whole = nil
	}
}

// head takes the response's status and headers.
func (k *call) head(status int, contentType string, at int64) {
	r := &k.res.Rec
	r.HTTPStatus, r.FirstByte = status, at
	if k.req.Again != nil {
		k.req.Body = nil
	}
	// Some servers label their stream text/plain; only JSON is surely not a stream.
	k.plain = status != http.StatusOK || !k.req.Stream || isJSON(contentType)
}

func isJSON(contentType string) bool {
	const want = "application/json"
	return len(contentType) >= len(want) && strings.EqualFold(contentType[:len(want)], want)
}

// body takes a piece of the response's body.
func (k *call) body(b []byte, a arrival) error {
	if k.plain {
		return k.keep(b, a)
	}
	before := k.stream.events
	err := k.stream.feed(b, a)
	if k.stream.events > before {
		k.dog.progress(a.at, k.res.Events() > 0)
	}
	if k.stream.done {
		k.dog.drain(k.stream.end)
	}
	return err
}

// keep collects a body that is read as a whole: of an error the beginning is enough.
func (k *call) keep(b []byte, a arrival) error {
	k.stream.arr = a
	k.res.Rec.MaxLag = max(k.res.Rec.MaxLag, a.lag)
	k.dog.progress(a.at, false)
	if k.res.Rec.HTTPStatus != http.StatusOK {
		k.whole = append(k.whole, b[:min(len(b), max(0, 16<<10-len(k.whole)))]...)
		return nil
	}
	if len(k.whole)+len(b) > maxWhole {
		return errEventTooLong
	}
	k.whole = append(k.whole, b...)
	return nil
}

// finish judges a response whose body ended; clean is false when it broke off.
func (k *call) finish(clean bool) {
	r := &k.res.Rec
	switch {
	case r.HTTPStatus != http.StatusOK:
		k.res.fail(record.HTTP, refusal(r.HTTPStatus, http.StatusText(r.HTTPStatus), k.excerpt(k.whole)))
	case k.plain:
		k.answer(clean)
	default:
		k.stream.close(clean)
		r.Done = k.stream.end
	}
}

// answer reads a whole answer: one event, at the time its last byte came.
func (k *call) answer(clean bool) {
	s := &k.stream
	s.done = clean
	if !clean {
		s.close(false)
		return
	}
	if err := s.event(nil, k.whole); err != nil {
		k.broke(err, nil, streaming)
		return
	}
	if n := k.res.Rec.UsageCompletion; n > 1 && k.res.Events() == 1 {
		k.res.log.reset(1)
		k.res.Tokens = 0
		k.res.Add(s.arr.at, n, false)
	}
	s.close(true)
	k.res.Rec.Done = s.end
}

// broke ends the request with an error of phase p; cause is why its context ended.
func (k *call) broke(err, cause error, p phase) {
	switch {
	case errors.Is(cause, errDrained):
		k.finish(true)
	case errors.Is(err, errInStream):
		k.res.fail(record.InStream, "error in the stream: "+k.excerpt(unquote(k.stream.failText)))
		k.res.Rec.Done = k.stream.end
	default:
		if k.stream.done {
			k.finish(true) // all was said before the connection broke
			return
		}
		k.res.fail(classify(err, cause, p))
	}
}

func (k *call) excerpt(b []byte) string {
	body := k.req.Body
	if body == nil && k.req.Again != nil {
		body = k.req.Again()
	}
	return excerpt(b, body, k.client.opt.APIKey)
}

// unquote undoes the escapes of a raw JSON string.
func unquote(raw []byte) []byte {
	var s string
	if json.Unmarshal(append(append([]byte{'"'}, raw...), '"'), &s) != nil {
		return raw
	}
	return []byte(s)
}
