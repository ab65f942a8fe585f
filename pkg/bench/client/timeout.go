package client

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mifbench/mifbench/pkg/bench/record"
)

// Timeouts bound one request; 0 means no limit.
type Timeouts struct {
	// Dial bounds getting a connection, the TLS handshake included.
	Dial time.Duration
	// FirstByte is from the send to the first token event.
	FirstByte time.Duration
	// Idle is between events once the first token was there.
	Idle time.Duration
	// Total is from the send to the end of the stream.
	Total time.Duration
}

// DefaultTimeouts suits overloaded servers with long queues: dial 30 s, first token
// 30 min, idle 5 min, total 6 h (vLLM's own client has only the last).
func DefaultTimeouts() Timeouts {
	return Timeouts{Dial: 30 * time.Second, FirstByte: 30 * time.Minute, Idle: 5 * time.Minute, Total: 6 * time.Hour}
}

// limit is a timeout that passed; as an error it is the cause of a cancelled request.
type limit struct {
	status record.Status
	after  time.Duration
}

func (l *limit) Error() string {
	switch l.status {
	case record.FirstByte:
		return "no token within " + l.after.String()
	case record.Idle:
		return "no event for " + l.after.String()
	case record.Dial:
		return "no connection within " + l.after.String()
	default:
		return "not done within " + l.after.String()
	}
}

// errDrained ends the wait for a server that sent [DONE] and then kept the body open.
var errDrained = errors.New("body still open after [DONE]")

const drainLimit = time.Second

// watchdog ends a request whose limit passed. Progress is one atomic store; the timer
// is looked at only when it fires, and set again for what is left, so that a token
// costs no timer operation.
type watchdog struct {
	clock *Clock
	t     Timeouts
	start int64
	abort func(error)
	kick  func() // makes a read look again; may be nil

	first    atomic.Bool  // a token has come
	last     atomic.Int64 // time of the last event
	draining atomic.Int64 // when [DONE] came, 0 before

	mu      sync.Mutex
	timer   *time.Timer
	stopped bool
}

func (w *watchdog) begin(clock *Clock, t Timeouts, start int64, abort func(error)) {
	w.clock, w.t, w.start, w.abort = clock, t, start, abort
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last.Store(start)
	if at := w.next(clock.Now()); at > 0 {
		w.timer = time.AfterFunc(time.Duration(at-clock.Now()), w.fire)
	}
}

// kickAfter is how long a stream is still before its socket is looked at again: a reset
// that arrives together with data wakes us once, and the data comes first.
const kickAfter = 2 * time.Second

// next is when to look again: at the nearest limit or the next kick.
func (w *watchdog) next(now int64) int64 {
	at, _ := w.due()
	if w.kick == nil {
		return at
	}
	look := now + int64(kickAfter)
	if at == 0 || look < at {
		return look
	}
	return at
}

// progress notes an event; token tells that a token has come by now.
func (w *watchdog) progress(at int64, token bool) {
	w.last.Store(at)
	if !token || w.first.Load() {
		return
	}
	w.first.Store(true)
	w.rearm() // idle is usually shorter than what was left for the first token
}

// drain begins the short wait for the body's end.
func (w *watchdog) drain(at int64) {
	if w.draining.CompareAndSwap(0, max(at, 1)) {
		w.rearm()
	}
}

func (w *watchdog) rearm() {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock.Now()
	at := w.next(now)
	if w.stopped || at == 0 {
		return
	}
	left := time.Duration(max(0, at-now))
	if w.timer == nil {
		w.timer = time.AfterFunc(left, w.fire)
		return
	}
	w.timer.Reset(left)
}

func (w *watchdog) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	if w.timer != nil {
		w.timer.Stop()
	}
}

func (w *watchdog) fire() {
	w.mu.Lock()
	at, why := w.due()
	now := w.clock.Now()
	if w.stopped {
		w.mu.Unlock()
		return
	}
	if at != 0 && now >= at {
		w.stopped = true
		w.mu.Unlock()
		w.abort(why)
		return
	}
	if again := w.next(now); again > 0 {
		w.timer.Reset(time.Duration(again - now))
	}
	still := w.kick != nil && now-w.last.Load() >= int64(kickAfter)
	w.mu.Unlock()
	if still {
		w.kick()
	}
}

// due is when the nearest limit passes, 0 for never, and which it is.
func (w *watchdog) due() (int64, error) {
	if d := w.draining.Load(); d != 0 {
		return d + int64(drainLimit), errDrained
	}
	at, why := int64(0), error(nil)
	add := func(from int64, after time.Duration, s record.Status) {
		if after > 0 && (at == 0 || from+int64(after) < at) {
			at, why = from+int64(after), &limit{s, after}
		}
	}
	add(w.start, w.t.Total, record.Timeout)
	if w.first.Load() {
		add(w.last.Load(), w.t.Idle, record.Idle)
	} else {
		add(w.start, w.t.FirstByte, record.FirstByte)
	}
	return at, why
}
