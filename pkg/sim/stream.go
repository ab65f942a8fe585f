package sim

import (
	"fmt"
	"net"
	"strconv"
	"time"
)

// stream is one request under way: the bridge between a sequence in an engine
// and a connection. Its methods are called by the engine's group, under its lock,
// except where a comment says otherwise.
type stream struct {
	c     *conn
	w     *wire
	s     *seq
	done  chan struct{} // closed when nothing more will be sent
	over  bool
	sent  int
	chunk bool // transfer-encoding: chunked (HTTP/1.1)
	close bool // the connection ends with the answer
}

var _ receiver = (*stream)(nil)

// begin sends the response header of a streamed answer. Called once, before the
// sequence is submitted.
func (st *stream) begin() {
	if !st.w.j.stream {
		return
	}
	b := statusLine(200, "text/event-stream; charset=utf-8")
	if st.chunk {
		b = append(b, "transfer-encoding: chunked\r\n"...)
	}
	if st.close {
		b = append(b, "connection: close\r\n"...)
	}
	st.c.send(append(b, '\r', '\n'))
}

// advance is called when the engine produced token number n (from 1); buf is
// scratch space that it returns, grown. It reports false when the client is gone.
func (st *stream) advance(buf []byte, n int, stamp bool) ([]byte, bool) {
	if st.over {
		return buf, false
	}
	j := st.w.j
	last := n >= j.max
	if !j.stream {
		if last {
			st.c.respond(st.close, 200, "application/json", st.w.whole(stampNow(stamp), st.kvParams()))
			st.end()
		}
		return buf, true
	}
	if j.faults != nil {
		if st.afflict() {
			return buf, false
		}
		if f, ok := j.faults[faultMerge]; ok && n-st.sent < f.N && !last {
			return buf, true
		}
	}
	return st.emit(buf[:0], n, last, stampNow(stamp))
}

// emit writes the tokens up to n in one write.
func (st *stream) emit(b []byte, n int, last bool, stamp int64) ([]byte, bool) {
	j := st.w.j
	if st.sent == 0 {
		if j.chat {
			b = st.event(b, st.w.role)
		}
		if _, ok := j.faults[faultEmptyFirst]; ok {
			b = st.event(b, func(b []byte) []byte { return st.w.token(b, 0, 0, 0, false, false) })
		}
	}
	_, inLast := j.faults[faultUsageLast]
	start := len(b)
	b = append(b, sizeGap...)
	b = st.w.token(b, st.sent, n, stamp, last, last && inLast)
	b = st.frame(b, start)
	st.sent = n
	if last {
		b = st.closing(b, inLast)
	}
	ok := st.c.send(b)
	if last {
		st.end()
	}
	return b, ok
}

// closing appends what follows the last token.
func (st *stream) closing(b []byte, usageSent bool) []byte {
	j := st.w.j
	if j.usage && !usageSent {
		b = st.event(b, func(b []byte) []byte { return st.w.finalUsage(b, j.max) })
	}
	if _, ok := j.faults[faultNoDone]; !ok {
		b = st.event(b, st.w.done)
	}
	if st.chunk {
		b = append(b, "0\r\n\r\n"...)
	}
	return b
}

// sizeGap is room for the size line of an HTTP chunk: 6 hexadecimal digits are
// enough for any event.
const sizeGap = "000000\r\n"

// event appends one HTTP chunk with the event that f appends.
func (st *stream) event(b []byte, f func([]byte) []byte) []byte {
	start := len(b)
	return st.frame(f(append(b, sizeGap...)), start)
}

// frame fills in the size line reserved at start, as short as servers write it.
func (st *stream) frame(b []byte, start int) []byte {
	body := start + len(sizeGap)
	if !st.chunk {
		return append(b[:start], b[body:]...)
	}
	var hex [8]byte
	size := strconv.AppendInt(hex[:0], int64(len(b)-body), 16)
	size = append(size, '\r', '\n')
	copy(b[start:], size)
	n := copy(b[start+len(size):], b[body:])
	return append(b[:start+len(size)+n], '\r', '\n')
}

// afflict plays the faults that happen between tokens; true when the stream is over.
func (st *stream) afflict() bool {
	faults := st.w.j.faults
	if f, ok := faults[faultReset]; ok && st.sent >= f.After {
		st.c.reset()
		st.end()
		return true
	}
	if f, ok := faults[faultTruncate]; ok && st.sent >= f.After {
		st.c.send(st.event(nil, func(b []byte) []byte { return st.w.token(b, st.sent, st.sent+1, 0, false, false) })[:60])
		st.c.finish()
		st.end()
		return true
	}
	if f, ok := faults[faultInStream]; ok && st.sent >= f.After {
		b := st.event(st.event(nil, st.w.fail), st.w.done)
		if st.chunk {
			b = append(b, "0\r\n\r\n"...)
		}
		st.c.send(b)
		st.end()
		return true
	}
	if f, ok := faults[faultStall]; ok && st.sent == f.After {
		st.c.hold(st.c.rank.srv.real(f.Delay))
		delete(faults, faultStall)
	}
	return false
}

func (st *stream) end() {
	if !st.over {
		st.over = true
		close(st.done)
		if st.close {
			st.c.finish()
		}
	}
}

// stampNow is CLOCK_REALTIME in nanoseconds when it is wanted, else 0.
func stampNow(want bool) int64 {
	if !want {
		return 0
	}
	return time.Now().UnixNano()
}

// kvParams is what a prefill engine says about where its KV cache is, in the
// form of vLLM's NIXL connector; null when it was not asked.
func (st *stream) kvParams() string {
	if !st.w.j.prefillFor {
		return "null"
	}
	r := st.c.rank
	host, port, _ := net.SplitHostPort(r.ln.Addr().String())
	return fmt.Sprintf(`{"do_remote_prefill":true,"do_remote_decode":false,"remote_block_ids":[],"remote_engine_id":"rank-%d","remote_host":%q,"remote_port":%s}`, r.index, host, port)
}
