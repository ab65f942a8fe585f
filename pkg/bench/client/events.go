package client

import (
	"encoding/binary"

	"github.com/mifbench/mifbench/pkg/bench/record"
)

// eventLog holds a stream's token events in about 4 to 5 bytes each while the stream
// runs: 10,800 streams of 2,000 tokens would need 350 MB as record.Event. An event is a
// uvarint of (ns since the one before)<<2 | several<<1 | coalesced, followed, when
// several is set, by a uvarint of its token count.
type eventLog struct {
	b    []byte
	last int64 // time of the last event
	head int   // where the last event begins
	n    int
}

const (
	flagCoalesced = 1 << iota
	flagSeveral
	flagBits = iota
)

// reset empties the log and makes room for n single-token events.
func (l *eventLog) reset(n int32) {
	if room := int(n) * 5; cap(l.b) < room {
		l.b = make([]byte, 0, room)
	}
	*l = eventLog{b: l.b[:0]}
}

// add appends an event; time does not run backwards within a stream.
func (l *eventLog) add(at int64, tokens int32, coalesced bool) {
	at = max(at, l.last)
	v := uint64(at-l.last) << flagBits
	if coalesced {
		v |= flagCoalesced
	}
	if tokens != 1 {
		v |= flagSeveral
	}
	l.head = len(l.b)
	l.b = binary.AppendUvarint(l.b, v)
	if tokens != 1 {
		l.b = binary.AppendUvarint(l.b, uint64(max(tokens, 0)))
	}
	l.last = at
	l.n++
}

// markLast marks the last event as coalesced and tells whether that was news.
func (l *eventLog) markLast() bool {
	if l.n == 0 || l.b[l.head]&flagCoalesced != 0 {
		return false
	}
	l.b[l.head] |= flagCoalesced
	return true
}

// appendTo decodes the log.
func (l *eventLog) appendTo(to []record.Event) []record.Event {
	at := int64(0)
	for b := l.b; len(b) > 0; {
		v, n := binary.Uvarint(b)
		b = b[n:]
		tokens := uint64(1)
		if v&flagSeveral != 0 {
			tokens, n = binary.Uvarint(b)
			b = b[n:]
		}
		at += int64(v >> flagBits)
		to = append(to, record.Event{At: at, Tokens: int32(tokens), Coalesced: v&flagCoalesced != 0})
	}
	return to
}
