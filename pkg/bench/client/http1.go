package client

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// maxHead bounds a response's head.
const maxHead = 256 << 10

// httpHandler takes what an http1 parser finds.
type httpHandler interface {
	head(status int, contentType string, at int64)
	body(b []byte, a arrival) error
}

// http1 is an incremental parser of one HTTP/1.1 response (RFC 9112) at a time: any
// split; informational responses skipped; bodies by chunks, by length, or until the
// connection closes. It allocates for the head only.
type http1 struct {
	state   parseState
	line    []byte // of a head, chunk size or trailer that an earlier feed ended in
	left    int64  // bytes left of the body or chunk
	began   bool   // a byte of the response was seen
	reuse   bool   // the connection may carry another request
	toClose bool   // the body ends with the connection
}

type parseState uint8

const (
	inHead parseState = iota
	inSize
	inChunk
	inChunkEnd
	inTrailer
	inLength
	inRest
	complete
)

func (p *http1) reset() { *p = http1{line: p.line[:0]} }

// feed parses b and tells whether the response is complete. Bytes beyond its end make
// the connection unfit for another request.
func (p *http1) feed(b []byte, a arrival, h httpHandler) (bool, error) {
	p.began = p.began || len(b) > 0
	for len(b) > 0 && p.state != complete {
		var err error
		switch p.state {
		case inHead:
			b, err = p.feedHead(b, a, h)
		case inChunk, inLength:
			n := min(p.left, int64(len(b)))
			if err = h.body(b[:n], a); err == nil {
				p.consume(n)
			}
			b = b[n:]
		case inRest:
			err = h.body(b, a)
			b = nil
		default:
			b, err = p.feedLine(b)
		}
		if err != nil {
			return false, err
		}
	}
	if len(b) > 0 {
		p.reuse = false
	}
	return p.state == complete, nil
}

// consume counts body bytes.
func (p *http1) consume(n int64) {
	if p.left -= n; p.left > 0 {
		return
	}
	if p.state == inLength {
		p.state = complete
		return
	}
	p.state = inChunkEnd
}

// feedLine handles the lines around chunks.
func (p *http1) feedLine(b []byte) ([]byte, error) {
	i := bytes.IndexByte(b, '\n')
	if i < 0 {
		if len(p.line)+len(b) > maxHead {
			return nil, fmt.Errorf("%w: line of more than %d bytes between chunks", errProtocol, maxHead)
		}
		p.line = append(p.line, b...)
		return nil, nil
	}
	line, rest := b[:i], b[i+1:]
	if len(p.line) > 0 {
		p.line = append(p.line, line...)
		line, p.line = p.line, p.line[:0]
	}
	line = bytes.TrimSuffix(line, []byte{'\r'})
	switch p.state {
	case inTrailer:
		if len(line) == 0 {
			p.state = complete
		}
	case inChunkEnd:
		if len(line) > 0 {
			return nil, fmt.Errorf("%w: chunk longer than its size", errProtocol)
		}
		p.state = inSize
	default:
		n, ok := chunkSize(line)
		if !ok {
			return nil, fmt.Errorf("%w: bad chunk size", errProtocol)
		}
		p.left, p.state = n, inChunk
		if n == 0 {
			p.state = inTrailer
		}
	}
	return rest, nil
}

// chunkSize reads hexadecimal digits; an extension after ';' is skipped.
func chunkSize(line []byte) (int64, bool) {
	v, n := int64(0), 0
	for _, c := range line {
		var d byte
		switch {
		case c >= '0' && c <= '9':
			d = c - '0'
		case c >= 'a' && c <= 'f':
			d = c - 'a' + 10
		case c >= 'A' && c <= 'F':
			d = c - 'A' + 10
		case c == ';' || c == ' ' || c == '\t':
			return v, n > 0
		default:
			return 0, false
		}
		if n++; n > 8 {
			return 0, false
		}
		v = v<<4 | int64(d)
	}
	return v, n > 0
}

// feedHead gathers a head until its empty line.
func (p *http1) feedHead(b []byte, a arrival, h httpHandler) ([]byte, error) {
	had := len(p.line)
	p.line = append(p.line, b...)
	end, next := headEnd(p.line, max(0, had-3))
	if end < 0 {
		if len(p.line) > maxHead {
			return nil, fmt.Errorf("%w: response head of more than %d bytes", errProtocol, maxHead)
		}
		if !plausible(p.line) {
			return nil, fmt.Errorf("%w: response does not begin with an HTTP/1 status line", errProtocol)
		}
		return nil, nil
	}
	text := string(p.line[:end])
	p.line = p.line[:0]
	return b[next-had:], p.parseHead(text, a, h)
}

// headEnd finds the empty line from index from on: where the head ends and what follows
// begins. A bare LF is taken for CRLF.
func headEnd(b []byte, from int) (end, next int) {
	for i := from; i < len(b); i++ {
		if b[i] != '\n' {
			continue
		}
		switch rest := b[i+1:]; {
		case len(rest) > 0 && rest[0] == '\n':
			return i, i + 2
		case len(rest) > 1 && rest[0] == '\r' && rest[1] == '\n':
			return i, i + 3
		}
	}
	return -1, 0
}

func plausible(b []byte) bool {
	const want = "HTTP/1."
	n := min(len(b), len(want))
	return string(b[:n]) == want[:n]
}

// parseHead reads status line and the headers that frame the body.
func (p *http1) parseHead(text string, a arrival, h httpHandler) error {
	first, rest, _ := strings.Cut(text, "\n")
	version, status, _ := strings.Cut(strings.TrimRight(first, "\r"), " ")
	code, err := strconv.Atoi(status[:min(3, len(status))])
	if !strings.HasPrefix(version, "HTTP/1.") || err != nil || code < 100 {
		return fmt.Errorf("%w: bad status line", errProtocol)
	}
	if code < 200 {
		if code == 101 {
			return fmt.Errorf("%w: server switched protocols unasked", errProtocol)
		}
		return nil // informational: the real head follows
	}
	f, err := framingOf(rest)
	if err != nil {
		return err
	}
	p.reuse = f.keep(version)
	switch {
	case code == 204 || code == 304:
		p.state = complete
	case f.chunked:
		p.state = inSize
	case f.length > 0:
		p.state, p.left = inLength, f.length
	case f.length == 0:
		p.state = complete
	default:
		p.state, p.toClose, p.reuse = inRest, true, false
	}
	h.head(code, f.contentType, a.at)
	return nil
}

// framing is what the headers say about the body and the connection.
type framing struct {
	chunked     bool
	length      int64 // -1: not given
	contentType string
	closes      bool
	keepAlive   bool
}

func (f framing) keep(version string) bool {
	return !f.closes && (version != "HTTP/1.0" || f.keepAlive)
}

func framingOf(headers string) (framing, error) {
	f := framing{length: -1}
	for line := range strings.SplitSeq(headers, "\n") {
		name, value, _ := strings.Cut(strings.TrimRight(line, "\r"), ":")
		value = strings.TrimSpace(value)
		switch strings.ToLower(name) {
		case "transfer-encoding":
			if !strings.EqualFold(value, "chunked") {
				return f, fmt.Errorf("%w: transfer-encoding %q", errProtocol, oneLine(value, 40))
			}
			f.chunked = true
		case "content-encoding":
			if !strings.EqualFold(value, "identity") {
				return f, fmt.Errorf("%w: content-encoding %q, which was not asked for", errProtocol, oneLine(value, 40))
			}
		case "content-length":
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil || n < 0 || f.length >= 0 && f.length != n {
				return f, fmt.Errorf("%w: bad content-length", errProtocol)
			}
			f.length = n
		case "content-type":
			f.contentType = value
		case "connection":
			f.closes = f.closes || hasToken(value, "close")
			f.keepAlive = f.keepAlive || hasToken(value, "keep-alive")
		}
	}
	return f, nil
}

func hasToken(list, token string) bool {
	for part := range strings.SplitSeq(list, ",") {
		if strings.EqualFold(strings.TrimSpace(part), token) {
			return true
		}
	}
	return false
}
