package sim

import (
	"strconv"
	"strings"
)

// wire writes the events of one stream in the form of vLLM 0.32, to which
// `make real-vllm` holds it. The parts that never change are formatted once, so that a
// token costs a few copies.
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
	b = append(b, `{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]`...)
	if w.j.continuous {
		b = w.usageNow(b, 0)
	}
	return append(append(b, `,"prompt_token_ids":null,"prompt_text":null}`...), w.eol...)
}

// token appends the event with the tokens from..to-1 (counted from 0).
func (w *wire) token(b []byte, from, to int, stamp int64, last, usage bool) []byte {
	b = append(b, w.lead...)
	switch {
	case !w.j.chat:
		b = append(b, `{"index":0,"text":"`...)
	case from < w.reason:
		b = append(b, `{"index":0,"delta":{"reasoning":"`...)
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
	if usage || w.j.continuous {
		b = w.usageNow(b, to)
	}
	if last && !w.j.usage {
		b = append(b, fingerprint...)
	}
	return append(append(b, '}'), w.eol...)
}

// fingerprint is on the last event that has one, as vLLM writes it.
const fingerprint = `,"system_fingerprint":"vllm-` + imitated + `-simulated"`

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

// usageNow appends the counts of a chunk among others (continuous_usage_stats).
func (w *wire) usageNow(b []byte, done int) []byte {
	b = w.usage(append(b, `,"usage":`...), done)
	if w.j.chat && w.reason == 0 {
		b = append(b[:len(b)-1], `,"completion_tokens_details":null}`...)
	}
	return b
}

// usage appends the counts; an engine with a reasoning parser tells how many were that.
func (w *wire) usage(b []byte, done int) []byte {
	b = strconv.AppendInt(append(b, `{"prompt_tokens":`...), int64(w.j.prompt), 10)
	b = strconv.AppendInt(append(b, `,"total_tokens":`...), int64(w.j.prompt+done), 10)
	b = strconv.AppendInt(append(b, `,"completion_tokens":`...), int64(done), 10)
	if w.reason > 0 {
		b = append(b, `,"completion_tokens_details":`...)
		b = append(w.reasoned(b, done), '}')
		return b
	}
	return append(b, '}')
}

func (w *wire) reasoned(b []byte, done int) []byte {
	b = strconv.AppendInt(append(b, `{"reasoning_tokens":`...), int64(min(done, w.reason)), 10)
	return append(b, '}')
}

// finalUsage appends the usage event of include_usage: no choices.
func (w *wire) finalUsage(b []byte, done int) []byte {
	b = append(append(b, w.lead...), `],"usage":`...)
	b = append(w.usage(b, done), fingerprint...)
	return append(append(b, '}'), w.eol...)
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
	b := []byte(`{"id":` + quote(w.id) + `,"object":"` + w.object(false) + `","created":` + strconv.FormatInt(w.created, 10) + `,"model":` + w.model + `,"choices":[{"index":0,`)
	if w.j.chat {
		b = w.message(b, stamp)
	} else {
		b = append(b, `"text":`+quote(w.texts(0, w.j.max, stamp))...)
	}
	b = w.ending(append(b, `,"logprobs":null,"finish_reason":`...), true)
	b = append(b, `,"token_ids":null`...)
	if !w.j.chat {
		b = append(b, `,"prompt_logprobs":null,"prompt_token_ids":null`...)
	}
	b = append(b, `,"routed_experts":null}],"service_tier":null`+fingerprint+`,"usage":`...)
	b = w.wholeUsage(b)
	if w.j.chat {
		b = append(b, `,"prompt_logprobs":null,"prompt_token_ids":null,"prompt_text":null`...)
	}
	return append(b, `,"kv_transfer_params":`+kvParams+`,"ec_transfer_params":null,"metrics":null}`...)
}

// message appends a chat answer: what was reasoned apart from what was said.
func (w *wire) message(b []byte, stamp int64) []byte {
	content, thought := "null", "null"
	if w.reason < w.j.max {
		content = quote(w.texts(w.reason, w.j.max, stamp))
	}
	if w.reason > 0 {
		thought = quote(w.texts(0, min(w.reason, w.j.max), stamp))
	}
	return append(b, `"message":{"role":"assistant","content":`+content+
		`,"refusal":null,"annotations":null,"audio":null,"function_call":null,"reasoning":`+thought+`}`...)
}

// texts are those of tokens from..to-1.
func (w *wire) texts(from, to int, stamp int64) string {
	var b []byte
	for i := from; i < to; i++ {
		b = w.text(b, i, stamp)
	}
	return string(b)
}

func (w *wire) wholeUsage(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"prompt_tokens":`...), int64(w.j.prompt), 10)
	b = strconv.AppendInt(append(b, `,"total_tokens":`...), int64(w.j.prompt+w.j.max), 10)
	b = strconv.AppendInt(append(b, `,"completion_tokens":`...), int64(w.j.max), 10)
	b = append(b, `,"prompt_tokens_details":null,"completion_tokens_details":`...)
	if w.reason > 0 {
		b = w.reasoned(b, w.j.max)
	} else {
		b = append(b, "null"...)
	}
	return append(b, '}')
}
