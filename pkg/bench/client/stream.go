package client

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/mifbench/mifbench/pkg/bench/record"
)

// arrival is when bytes came: their time, which uninterrupted run of reads brought
// them, how long after the kernel had them we did, and whose clock it was.
type arrival struct {
	at     int64
	group  uint64
	lag    int64
	kernel bool
}

// TokenFunc sees each token event of request index: its raw JSON text (valid during the
// call), its time and whether it is coalesced with the one before. Calls for one request
// come in order, those of different requests at once.
type TokenFunc func(index int64, text []byte, at int64, coalesced bool)

var (
	errInStream = errors.New("error object in the stream")
	errNotJSON  = errors.New("event is not a JSON object")
)

// stream turns the body of one streaming answer into token events.
type stream struct {
	res     *Result
	parser  sse
	chunk   chunk
	shape   template
	onToken TokenFunc
	count   *atomic.Int64 // of all streams

	arr        arrival
	lastGroup  uint64
	events     int // events with data so far, tokens or not
	tokenGroup bool
	continuous bool // the first token event carried usage: counts grow with the chunks
	done       bool // [DONE]
	finished   bool // a finish_reason
	answered   bool // a token event that was not reasoning
	failText   []byte
	end        int64 // arrival of the last event
}

func (s *stream) reset(res *Result, f TokenFunc, count *atomic.Int64) {
	s.parser.reset()
	s.shape.reset()
	*s = stream{res: res, onToken: f, count: count, parser: s.parser, shape: s.shape, failText: s.failText[:0]}
	res.Rec.KernelClock = true
}

// feed takes a piece of the body.
func (s *stream) feed(b []byte, a arrival) error {
	s.arr = a
	s.res.Rec.MaxLag = max(s.res.Rec.MaxLag, a.lag)
	return s.parser.feed(b, s)
}

// event implements eventHandler.
func (s *stream) event(_, data []byte) error {
	s.events++
	s.end = s.arr.at
	if string(data) == "[DONE]" {
		s.done = true
		return nil
	}
	if s.shape.match(data, &s.chunk) {
		s.token()
		return nil
	}
	if !s.chunk.parse(data) {
		return fmt.Errorf("event %d (%d bytes): %w", s.events, len(data), errNotJSON)
	}
	s.shape.learn(data, &s.chunk)
	if s.chunk.fail {
		s.failText = append(s.failText[:0], s.chunk.failText...)
		return errInStream
	}
	if len(s.chunk.finish) > 0 {
		s.finished = true
		s.res.Rec.FinishReason = intern(s.chunk.finish)
	}
	if s.chunk.token() {
		s.token()
	}
	s.usage()
	return nil
}

// token records one token event.
func (s *stream) token() {
	r, first := s.res, s.res.Events() == 0
	again := !first && s.tokenGroup && s.arr.group == s.lastGroup
	if again && r.log.markLast() {
		r.Coalesced++
	}
	s.lastGroup, s.tokenGroup = s.arr.group, true
	if first {
		s.continuous = s.chunk.usage && s.chunk.completion >= 0
	}
	tokens := int32(1)
	if s.continuous && s.chunk.completion >= 0 {
		tokens = max(1, s.chunk.completion-int32(r.Tokens))
	}
	r.Add(s.arr.at, tokens, again)
	s.count.Add(1)
	r.Rec.KernelClock = r.Rec.KernelClock && s.arr.kernel
	switch {
	case s.chunk.answer:
		s.answered = true
	case !s.answered:
		r.Rec.ReasoningEvents++
	}
	if s.onToken != nil {
		s.onToken(r.Rec.Index, s.chunk.text, s.arr.at, again)
	}
}

// usage keeps the server's counts from whichever chunk carries them.
func (s *stream) usage() {
	if !s.chunk.usage {
		return
	}
	r := &s.res.Rec
	keep(&r.UsagePrompt, s.chunk.prompt)
	keep(&r.UsageCompletion, s.chunk.completion)
	keep(&r.CachedTokens, s.chunk.cached)
}

func keep(to *int32, v int32) {
	if v >= 0 {
		*to = v
	}
}

// close judges a body that ended; clean is false when the connection broke off.
func (s *stream) close(clean bool) {
	r := s.res
	switch ended := s.done || s.finished && clean; {
	case !ended:
		r.fail(record.Truncated, fmt.Sprintf("stream ended after %d token events without finish_reason or [DONE]", r.Events()))
	case r.Events() == 0:
		r.fail(record.NoTokens, fmt.Sprintf("stream of %d events carried no content, reasoning or tool delta", s.events))
	default:
		r.fail(record.OK, "")
	}
	r.Rec.KernelClock = r.Rec.KernelClock && r.Events() > 0
}

// intern returns the usual finish reasons without an allocation.
func intern(b []byte) string {
	switch string(b) {
	case "length":
		return "length"
	case "stop":
		return "stop"
	case "tool_calls":
		return "tool_calls"
	case "abort":
		return "abort"
	}
	return string(b)
}
