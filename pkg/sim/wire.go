package sim

import (
	"strconv"
	"strings"
)

// wire writes the events of one stream in the form of vLLM 0.11. The parts that never
// change are formatted once, so that a token costs a few copies.
type wire struct {
	j       *job
	id      string
	lead    []byte // data: {"id":…,"choices":[{"index":0,
	eol     string // end of an event
	created int64
	model   string
	reason  int // leading tokens sent as reasoning
}

func newWire(j *job, id, model string, created int64, reasoning int) *wire {
	w := &wire{j: j, id: id, eol: "\n\n", created: created, model: quote(model)}
	if _, ok := j.faults[faultCRLF]; ok {
		w.eol = "\r\n\r\n"
	}
	if j.chat {
		w.reason = reasoning
	}
	w.lead = []byte(`data: {"id":` + quote(id) + `,"object":"` + w.object(true) + `","created":` +
		strconv.FormatInt(created, 10) + `,"model":` + w.model + `,"choices":[`)
	return w
}

func quote(s string) string { return string(marshal(s)) }

func (w *wire) object(chunk bool) string {
	switch {
	case !w.j.chat:
		return "text_completion"
	case chunk:
		return "chat.completion.chunk"
	}
	return "chat.completion"
}

// role appends the event that opens a chat answer.
func (w *wire) role(b []byte) []byte {
	b = append(b, w.lead...)
	b = append(b, `{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"prompt_token_ids":null`...)
	return w.close(b, 0)
}

// token appends the event with the tokens from..to-1 (counted from 0).
func (w *wire) token(b []byte, from, to int, stamp int64, last, usage bool) []byte {
	b = append(b, w.lead...)
	switch {
	case !w.j.chat:
		b = append(b, `{"index":0,"text":"`...)
	case from < w.reason:
		b = append(b, `{"index":0,"delta":{"reasoning_content":"`...)
	default:
		b = append(b, `{"index":0,"delta":{"content":"`...)
	}
	for i := from; i < to; i++ {
		b = w.text(b, i, stamp)
	}
	switch {
	case w.j.chat:
		b = append(b, `"},"logprobs":null,"finish_reason":`...)
	default:
		b = append(b, `","logprobs":null,"finish_reason":`...)
	}
	b = w.ending(b, last)
	if !w.j.chat {
		b = append(b, `,"prompt_token_ids":null`...)
	}
	b = append(b, `,"token_ids":null}]`...)
	if usage {
		return w.closeUsage(b, to)
	}
	return w.close(b, to)
}

// text appends the text of token i: a word, or the time of sending. A stop
// string is not part of the answer.
func (w *wire) text(b []byte, i int, stamp int64) []byte {
	if stamp != 0 {
		b = append(b, ' ')
		return strconv.AppendInt(b, stamp, 10)
	}
	if w.j.stopWord != "" && i == w.j.max-1 {
		text, _, _ := strings.Cut(word(w.j.seed, i), w.j.stopWord)
		return append(b, text...)
	}
	return append(b, word(w.j.seed, i)...)
}

// ending appends finish_reason and, where vLLM writes it, stop_reason.
func (w *wire) ending(b []byte, last bool) []byte {
	switch {
	case !last && w.j.chat:
		return append(b, "null"...)
	case !last:
		return append(b, `null,"stop_reason":null`...)
	}
	b = append(append(append(b, '"'), w.j.reason...), `","stop_reason":`...)
	if w.j.stopWord == "" {
		return append(b, "null"...)
	}
	return append(b, quote(w.j.stopWord)...)
}

// close ends an event after its choices; done is the number of tokens so far.
func (w *wire) close(b []byte, done int) []byte {
	if w.j.continuous {
		return w.closeUsage(b, done)
	}
	if !w.j.chat {
		b = append(b, `,"usage":null`...)
	}
	return append(append(b, '}'), w.eol...)
}

func (w *wire) closeUsage(b []byte, done int) []byte {
	b = w.usage(append(b, `,"usage":`...), done)
	if !w.j.chat { // completions dump unset fields, too
		b = append(b[:len(b)-1], `,"prompt_tokens_details":null}`...)
	}
	return append(append(b, '}'), w.eol...)
}

func (w *wire) usage(b []byte, done int) []byte {
	b = strconv.AppendInt(append(b, `{"prompt_tokens":`...), int64(w.j.prompt), 10)
	b = strconv.AppendInt(append(b, `,"total_tokens":`...), int64(w.j.prompt+done), 10)
	b = strconv.AppendInt(append(b, `,"completion_tokens":`...), int64(done), 10)
	return append(b, '}')
}

// finalUsage appends the usage event of include_usage: no choices.
func (w *wire) finalUsage(b []byte, done int) []byte {
	b = append(append(b, w.lead...), `],"usage":`...)
	return append(append(w.usage(b, done), '}'), w.eol...)
}

// fail appends an error event as vLLM sends it inside a stream.
func (w *wire) fail(b []byte) []byte {
	b = append(b, `data: {"error": {"message": "simulated engine failure", "type": "InternalServerError", "param": null, "code": 500}}`...)
	return append(b, w.eol...)
}

func (w *wire) done(b []byte) []byte {
	return append(append(b, "data: [DONE]"...), w.eol...)
}

// whole is the body of an answer that is not streamed.
func (w *wire) whole(stamp int64, kvParams string) []byte {
	var text []byte
	for i := range w.j.max {
		if i >= w.reason {
			text = w.text(text, i, stamp)
		}
	}
	var thought []byte
	for i := range min(w.reason, w.j.max) {
		thought = w.text(thought, i, stamp)
	}
	b := []byte(`{"id":` + quote(w.id) + `,"object":"` + w.object(false) + `","created":` + strconv.FormatInt(w.created, 10) + `,"model":` + w.model + `,"choices":[{"index":0,`)
	if w.j.chat {
		b = append(b, `"message":{"role":"assistant","content":`+quote(string(text))+`,"refusal":null,"annotations":null,"audio":null,"function_call":null,"tool_calls":[],"reasoning_content":`...)
		if w.reason > 0 {
			b = append(b, quote(string(thought))...)
		} else {
			b = append(b, "null"...)
		}
		b = append(b, `},"logprobs":null,"finish_reason":`...)
	} else {
		b = append(b, `"text":`+quote(string(text))+`,"logprobs":null,"finish_reason":`...)
	}
	b = append(w.ending(b, true), `,"token_ids":null`...)
	if !w.j.chat {
		b = append(b, `,"prompt_logprobs":null,"prompt_token_ids":null`...)
	}
	b = append(b, `}],"service_tier":null,"system_fingerprint":null,"usage":`...)
	b = w.usage(b, w.j.max)
	b = b[:len(b)-1]
	b = append(b, `,"prompt_tokens_details":null}`...)
	if w.j.chat {
		b = append(b, `,"prompt_logprobs":null,"prompt_token_ids":null`...)
	}
	return append(b, `,"kv_transfer_params":`+kvParams+`}`...)
}
