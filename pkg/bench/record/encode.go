package record

import (
	"encoding/binary"
	"fmt"
)

// A record is a run of varints (z = zigzag, u = unsigned):
//
//	index:z intended:z sent-intended:z connected-sent:z* firstByte-sent:z* done-sent:z*
//	status:u [text]  httpStatus:z error:text finishReason:text
//	promptTokens:z usagePrompt:z usageCompletion:z cachedTokens:z maxTokens:z
//	reasoningEvents:z target:z maxLag:z flags:u events:u event*
//
// Fields marked * are 0 when the record's value is 0 ("did not happen"), else the
// zigzag of the difference plus 1 in the unsigned domain. An event is the zigzag of its
// gap less the gap before it, shifted left by one: an engine's steps take nearly the same
// time, so two or three bytes hold it. The low bit is set when it does not carry exactly
// one token or is coalesced; then uvarint(tokens<<1 | coalesced) follows. Gaps are in
// ticks; the first counts from sent, both rounded down to the tick, so that rounding
// never adds up.

const flagKernelClock = 1

// statusTable numbers the statuses in the file; new ones go to the end. Code 0 means
// that the text follows, so an older file never loses a newer program's status.
func statusTable() [15]Status {
	return [15]Status{
		"", OK, Dropped, Cancelled, Dial, TLS, HTTP, FirstByte, Idle, Reset, Truncated,
		InStream, Decode, NoTokens, Timeout,
	}
}

func statusCode(s Status) int {
	for i, t := range statusTable() {
		if t == s && i > 0 {
			return i
		}
	}
	return 0
}

func appendText(dst []byte, s string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}

func zigzag(v int64) uint64 { return uint64(v<<1) ^ uint64(v>>63) }

func unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

// appendOptional writes an instant relative to base; 0 stays 0. The most negative
// differences have no room for the +1 and do not occur within 292 years of the start.
func appendOptional(dst []byte, v, base int64) []byte {
	if v == 0 {
		return append(dst, 0)
	}
	return binary.AppendUvarint(dst, zigzag(v-base)+1)
}

// appendRecord appends r's encoding with token times rounded down to tick ns.
func appendRecord(dst []byte, r *Record, tick int64) ([]byte, error) {
	if err := checkEvents(r); err != nil {
		return dst, err
	}
	dst = binary.AppendVarint(dst, r.Index)
	dst = binary.AppendVarint(dst, r.Intended)
	dst = binary.AppendVarint(dst, r.Sent-r.Intended)
	dst = appendOptional(dst, r.Connected, r.Sent)
	dst = appendOptional(dst, r.FirstByte, r.Sent)
	dst = appendOptional(dst, r.Done, r.Sent)
	code := statusCode(r.Status)
	dst = binary.AppendUvarint(dst, uint64(code))
	if code == 0 {
		dst = appendText(dst, string(r.Status))
	}
	dst = binary.AppendVarint(dst, int64(r.HTTPStatus))
	dst = appendText(dst, r.Error)
	dst = appendText(dst, r.FinishReason)
	for _, v := range [...]int32{r.PromptTokens, r.UsagePrompt, r.UsageCompletion, r.CachedTokens, r.MaxTokens, r.ReasoningEvents, r.Target} {
		dst = binary.AppendVarint(dst, int64(v))
	}
	dst = binary.AppendVarint(dst, r.MaxLag)
	flags := uint64(0)
	if r.KernelClock {
		flags |= flagKernelClock
	}
	dst = binary.AppendUvarint(dst, flags)
	return appendEvents(dst, r, tick), nil
}

// maxInstant bounds an event's time on both sides, so that a difference of two gaps fits
// in 62 bits.
const maxInstant = 1<<59 - 1

// checkEvents refuses what the format cannot hold. These are bugs of the caller, but a
// long run is worth more than a panic in it.
func checkEvents(r *Record) error {
	if len(r.Events) > 0 && (r.Sent < -maxInstant || r.Sent > maxInstant) {
		return fmt.Errorf("record %d: sent at %d ns is out of range", r.Index, r.Sent)
	}
	for i := range r.Events {
		e := &r.Events[i]
		if e.Tokens < 0 {
			return fmt.Errorf("record %d: event %d carries %d tokens", r.Index, i, e.Tokens)
		}
		if e.At < -maxInstant || e.At > maxInstant {
			return fmt.Errorf("record %d: event %d at %d ns is out of range", r.Index, i, e.At)
		}
	}
	return nil
}

func appendEvents(dst []byte, r *Record, tick int64) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(r.Events)))
	prev, before := floorDiv(r.Sent, tick), int64(0)
	for i := range r.Events {
		e := &r.Events[i]
		at := floorDiv(e.At, tick)
		gap := at - prev
		u := zigzag(gap-before) << 1
		prev, before = at, gap
		if e.Tokens == 1 && !e.Coalesced {
			dst = binary.AppendUvarint(dst, u)
			continue
		}
		more := uint64(e.Tokens) << 1
		if e.Coalesced {
			more |= 1
		}
		dst = binary.AppendUvarint(dst, u|1)
		dst = binary.AppendUvarint(dst, more)
	}
	return dst
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
