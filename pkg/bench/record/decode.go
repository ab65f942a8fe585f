package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// decoder reads varints from one block's payload. The first failure sticks; reads after
// it give 0, so that a record is checked once at its end.
type decoder struct {
	b   []byte
	off int
	err error
}

func (d *decoder) fail(what string) {
	if d.err == nil {
		d.err = fmt.Errorf("%s at byte %d of the block's payload", what, d.off)
	}
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b[d.off:])
	if n <= 0 {
		d.fail("broken number")
		d.off = len(d.b)
		return 0
	}
	d.off += n
	return v
}

func (d *decoder) varint() int64 { return unzigzag(d.uvarint()) }

func (d *decoder) int32() int32 {
	v := d.varint()
	if v < math.MinInt32 || v > math.MaxInt32 {
		d.fail("number out of range")
		return 0
	}
	return int32(v)
}

func (d *decoder) optional(base int64) int64 {
	u := d.uvarint()
	if u == 0 {
		return 0
	}
	return base + unzigzag(u-1)
}

func (d *decoder) text() string {
	n := d.uvarint()
	if n > uint64(len(d.b)-d.off) {
		d.fail("text longer than its block")
		return ""
	}
	s := string(d.b[d.off : d.off+int(n)])
	d.off += int(n)
	return s
}

func (d *decoder) status() Status {
	code := d.uvarint()
	table := statusTable()
	switch {
	case code == 0:
		return Status(d.text())
	case code < uint64(len(table)):
		return table[code]
	default:
		d.fail("unknown status")
		return ""
	}
}

// record decodes the next record into r, whose Events slice is reused.
func (d *decoder) record(r *Record, tick int64) error {
	events := r.Events[:0]
	r.Index = d.varint()
	r.Intended = d.varint()
	r.Sent = r.Intended + d.varint()
	r.Connected = d.optional(r.Sent)
	r.FirstByte = d.optional(r.Sent)
	r.Done = d.optional(r.Sent)
	r.Status = d.status()
	r.HTTPStatus = int(d.int32())
	r.Error = d.text()
	r.FinishReason = d.text()
	r.PromptTokens, r.UsagePrompt, r.UsageCompletion = d.int32(), d.int32(), d.int32()
	r.CachedTokens, r.MaxTokens, r.ReasoningEvents, r.Target = d.int32(), d.int32(), d.int32(), d.int32()
	r.MaxLag = d.varint()
	r.KernelClock = d.uvarint()&flagKernelClock != 0
	n := d.uvarint()
	if n > uint64(len(d.b)-d.off) { // an event takes a byte at least
		d.fail("more events than bytes")
	}
	if d.err != nil {
		return d.err
	}
	r.Events = d.events(events, int(n), floorDiv(r.Sent, tick), tick)
	return d.err
}

// events decodes n events. The common event (up to three bytes, one token) is decoded
// inline: this loop is what makes re-reading 65 M events a matter of a second.
func (d *decoder) events(dst []Event, n int, prev, tick int64) []Event {
	if cap(dst) < n {
		dst = make([]Event, 0, n)
	}
	dst = dst[:n]
	b, off := d.b, d.off
	limit := maxInstant / tick
	if n > 0 && outside(prev, limit) {
		d.fail("time of sending out of range")
		return dst[:0]
	}
	before := int64(0)
	for i := range dst {
		var u uint64
		if off+3 <= len(b) && (b[off]&b[off+1]&b[off+2])&0x80 == 0 {
			c := b[off : off+3 : off+3]
			u = uint64(c[0] & 0x7f)
			off++
			if c[0] >= 0x80 {
				u |= uint64(c[1]&0x7f) << 7
				off++
				if c[1] >= 0x80 {
					u |= uint64(c[2]) << 14
					off++
				}
			}
		} else {
			d.off = off
			u = d.uvarint()
			off = d.off
		}
		e := Event{Tokens: 1}
		if u&1 != 0 {
			d.off = off
			e.Tokens, e.Coalesced = d.extended()
			off = d.off
		}
		before += unzigzag(u >> 1)
		prev += before
		if outside(before, 4*limit) || outside(prev, limit) {
			d.fail("instant out of range")
			return dst[:0]
		}
		e.At = prev * tick
		dst[i] = e
	}
	d.off = off
	if d.err != nil {
		return dst[:0]
	}
	return dst
}

// outside tells whether a number of ticks, rounded down, lies beyond ±limit.
func outside(ticks, limit int64) bool { return ticks > limit || ticks < -limit-1 }

func (d *decoder) extended() (tokens int32, coalesced bool) {
	more := d.uvarint()
	if more>>1 > math.MaxInt32 {
		d.fail("token count out of range")
		return 0, false
	}
	return int32(more >> 1), more&1 != 0
}

// footer decodes a footer's payload.
func (d *decoder) footer() (records, events int64, err error) {
	r, e := d.uvarint(), d.uvarint()
	if d.err == nil && d.off != len(d.b) {
		d.err = errors.New("bytes after the footer's numbers")
	}
	return int64(r), int64(e), d.err
}
