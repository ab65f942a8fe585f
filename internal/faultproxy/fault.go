package faultproxy

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"
)

// Rule says which requests are spoiled, and how.
type Rule struct {
	// Match chooses requests; nil means all.
	Match Match
	// Skip lets the first requests that match through.
	Skip int
	// Times bounds how many are spoiled; 0 means all that follow.
	Times int
	Do    Fault

	seen int
}

func (r *Rule) wants(q *http.Request) bool {
	if r.Match != nil && !r.Match(q) {
		return false
	}
	r.seen++
	return r.seen > r.Skip && (r.Times == 0 || r.seen <= r.Skip+r.Times)
}

// Match chooses requests.
type Match func(*http.Request) bool

// Reads matches GET requests of paths that contain part.
func Reads(part string) Match {
	return func(r *http.Request) bool {
		return r.Method == http.MethodGet && strings.Contains(r.URL.Path, part)
	}
}

// Writes matches requests that change something, of paths that contain part.
func Writes(part string) Match {
	return func(r *http.Request) bool {
		return writes(r.Method, r.URL.Path) && !r.URL.Query().Has("dryRun") && strings.Contains(r.URL.Path, part)
	}
}

// DryRuns matches dry-runs of paths that contain part.
func DryRuns(part string) Match {
	return func(r *http.Request) bool {
		return r.URL.Query().Has("dryRun") && strings.Contains(r.URL.Path, part)
	}
}

// Any matches paths that contain part.
func Any(part string) Match {
	return func(r *http.Request) bool { return strings.Contains(r.URL.Path, part) }
}

// Exchange is one request that is being spoiled.
type Exchange struct {
	Writer  http.ResponseWriter
	Request *http.Request

	proxy *Proxy
	entry *Request
}

// Forward lets the real server answer.
func (x *Exchange) Forward() { x.proxy.forward.ServeHTTP(x.Writer, x.Request) }

// answer lets the real server answer and keeps the answer back.
func (x *Exchange) answer() *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	x.proxy.forward.ServeHTTP(w, x.Request)
	x.proxy.note(x.entry, w.Code)
	return w
}

// Fault spoils one request.
type Fault func(x *Exchange)

// Answer answers as an API server does that refuses: a Status object. Headers come in pairs.
func Answer(code int, reason, message string, headers ...string) Fault {
	return AnswerStatus(code, map[string]any{"reason": reason, "message": message}, headers...)
}

// AnswerStatus is Answer with any fields of the Status object.
func AnswerStatus(code int, status map[string]any, headers ...string) Fault {
	body := map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code}
	for k, v := range status {
		body[k] = v
	}
	text, err := json.Marshal(body)
	if err != nil {
		panic("faultproxy: " + err.Error())
	}
	return func(x *Exchange) {
		h := x.Writer.Header()
		h.Set("Content-Type", "application/json")
		for i := 0; i+1 < len(headers); i += 2 {
			h.Set(headers[i], headers[i+1])
		}
		x.Writer.WriteHeader(code)
		_, _ = x.Writer.Write(text) // the client may have gone
	}
}

// Cut ends the request without an answer; the real server never sees it.
func Cut() Fault { return func(*Exchange) { panic(http.ErrAbortHandler) } }

// CutAfter lets the real server do its work and ends the request without an answer.
func CutAfter() Fault {
	return func(x *Exchange) {
		x.answer()
		panic(http.ErrAbortHandler)
	}
}

// CutBody sends the head and half of the real server's answer.
func CutBody() Fault {
	return func(x *Exchange) {
		w := x.answer()
		for k, v := range w.Header() {
			x.Writer.Header()[k] = v
		}
		x.Writer.WriteHeader(w.Code)
		half := w.Body.Len() / 2
		_, _ = x.Writer.Write(w.Body.Bytes()[:half])
		_ = http.NewResponseController(x.Writer).Flush()
		panic(http.ErrAbortHandler)
	}
}

// Garble answers 200 with something that is not JSON: a captive portal, a broken gateway.
func Garble() Fault {
	return func(x *Exchange) {
		x.Writer.Header().Set("Content-Type", "text/html")
		x.Writer.WriteHeader(http.StatusOK)
		_, _ = x.Writer.Write([]byte("<html>please log in</html>"))
	}
}

// Slow lets the real server answer after a pause.
func Slow(d time.Duration) Fault {
	return func(x *Exchange) {
		select {
		case <-time.After(d):
		case <-x.Request.Context().Done():
		}
		x.Forward()
	}
}

// Silent never answers: the connection stays open until the client gives up.
func Silent() Fault {
	return func(x *Exchange) {
		_ = x.proxy.gone(x.Request.Context())
		panic(http.ErrAbortHandler)
	}
}

// Before calls do, then ends the request without an answer; the real server never sees it.
func Before(do func(*http.Request)) Fault {
	return func(x *Exchange) {
		do(x.Request)
		panic(http.ErrAbortHandler)
	}
}

// After lets the real server do its work, calls do, and ends the request without an answer.
func After(do func(*http.Request)) Fault {
	return func(x *Exchange) {
		x.answer()
		do(x.Request)
		panic(http.ErrAbortHandler)
	}
}

// Then calls do and lets the real server answer.
func Then(do func(*http.Request)) Fault {
	return func(x *Exchange) {
		do(x.Request)
		x.Forward()
	}
}

// Rewrite lets the real server answer and edits the text of the answer.
func Rewrite(edit func([]byte) []byte) Fault {
	return func(x *Exchange) {
		x.Request.Header.Del("Accept-Encoding")
		w := x.answer()
		for k, v := range w.Header() {
			if k != "Content-Length" {
				x.Writer.Header()[k] = v
			}
		}
		x.Writer.WriteHeader(w.Code)
		_, _ = x.Writer.Write(edit(w.Body.Bytes()))
	}
}
