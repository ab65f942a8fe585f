package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"unicode"

	"github.com/mifbench/mifbench/pkg/bench/record"
)

// phase is how far a request had come when it failed.
type phase int

const (
	connecting phase = iota
	waiting          // request sent, no response yet
	streaming        // response headers were there
)

// classify gives the class and the one line of a failure. cause is why the request's
// context ended, nil when it did not.
func classify(err, cause error, p phase) (record.Status, string) {
	var l *limit
	switch {
	case errors.As(cause, &l):
		return l.status, l.Error()
	case cause != nil:
		return record.Cancelled, "cancelled: " + oneLine(cause.Error(), excerptLen)
	case errors.Is(err, errNotJSON), errors.Is(err, errEventTooLong), errors.Is(err, errProtocol),
		strings.Contains(err.Error(), "malformed HTTP"): // net/http has no type for it
		return record.Decode, oneLine(err.Error(), excerptLen)
	}
	text := oneLine(trimURL(err), excerptLen)
	switch {
	case isTLS(err):
		return record.TLS, text
	case p == connecting:
		if isTimeout(err) {
			return record.Dial, "no connection in time: " + text
		}
		return record.Dial, text
	case p == waiting:
		return record.Reset, "connection broke before the response: " + text
	case errors.Is(err, io.ErrUnexpectedEOF):
		return record.Truncated, "connection closed in the middle of the body"
	default:
		return record.Reset, text
	}
}

// trimURL takes off net/http's `Post "url":`, which repeats the target in each record.
func trimURL(err error) string {
	var u interface{ Unwrap() error }
	if s := err.Error(); strings.HasPrefix(s, "Post \"") && errors.As(err, &u) && u.Unwrap() != nil {
		return u.Unwrap().Error()
	}
	return err.Error()
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &n) && n.Timeout()
}

func isTLS(err error) bool {
	var verify *tls.CertificateVerificationError
	var head tls.RecordHeaderError
	var alert tls.AlertError
	var unknown x509.UnknownAuthorityError
	var shake *handshakeError
	return errors.As(err, &verify) || errors.As(err, &head) || errors.As(err, &alert) ||
		errors.As(err, &unknown) || errors.As(err, &shake) ||
		strings.Contains(err.Error(), "tls: ") || strings.Contains(err.Error(), "TLS handshake timeout")
}

// handshakeError marks a failure between connect and the first request byte.
type handshakeError struct{ err error }

func (e *handshakeError) Error() string { return "tls handshake: " + e.err.Error() }
func (e *handshakeError) Unwrap() error { return e.err }

// errProtocol marks a response that is not HTTP or not what was asked for.
var errProtocol = errors.New("not the expected protocol")

const (
	excerptLen = 240
	// echoLen is the shortest run of request bytes that is taken for an echo.
	echoLen = 24
)

// excerpt makes one line of an error body: its message when it is JSON of a known
// shape, its beginning otherwise. What the body repeats of the request, and the key,
// are masked: servers echo whole requests in validation errors.
func excerpt(body, request []byte, key string) string {
	var known struct {
		Message, Detail any
		Error           any
	}
	text := string(body)
	if json.Unmarshal(body, &known) == nil {
		for _, v := range []any{known.Error, known.Message, known.Detail} {
			if s := messageOf(v); s != "" {
				text = s
				break
			}
		}
	}
	if key != "" {
		text = strings.ReplaceAll(text, key, "***")
	}
	return oneLine(maskEcho(text, request), excerptLen)
}

func messageOf(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case map[string]any:
		s, _ := v["message"].(string)
		return s
	}
	return ""
}

// maskEcho replaces what text has in common with the request, in runs of echoLen
// bytes or more. The request is looked at as sent and with its JSON escapes undone.
func maskEcho(text string, request []byte) string {
	plain := unescape(request)
	var b strings.Builder
	for i := 0; i < len(text); {
		n := max(echo(text[i:], request), echo(text[i:], plain))
		if n == 0 {
			b.WriteByte(text[i])
			i++
			continue
		}
		b.WriteString("[request]")
		i += n
	}
	return b.String()
}

// echo is the length of text's beginning that is found in request, 0 when short.
func echo(text string, request []byte) int {
	if len(text) < echoLen || !bytes.Contains(request, []byte(text[:echoLen])) {
		return 0
	}
	n := echoLen
	for n < len(text) && bytes.Contains(request, []byte(text[max(0, n+1-echoLen):n+1])) {
		n++
	}
	return n
}

// unescape undoes the JSON string escapes that matter for finding text again.
func unescape(b []byte) []byte {
	return []byte(strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\n`, "\n", `\t`, "\t", `\r`, "\r").Replace(string(b)))
}

// oneLine keeps at most n bytes, without control characters.
func oneLine(s string, n int) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }), " ")
	if len(s) > n {
		s = strings.ToValidUTF8(s[:n], "") + "…"
	}
	return s
}

// refusal is the line for a status other than 200.
func refusal(code int, reason, body string) string {
	if body == "" {
		return fmt.Sprintf("status %d %s", code, reason)
	}
	return fmt.Sprintf("status %d: %s", code, body)
}
