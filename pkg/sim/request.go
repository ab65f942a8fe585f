package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// genRequest is the part of a completions or chat request that matters here.
type genRequest struct {
	Model               string          `json:"model"`
	Prompt              json.RawMessage `json:"prompt"`
	Messages            []chatMessage   `json:"messages"`
	MaxTokens           *int            `json:"max_tokens"`
	MaxCompletionTokens *int            `json:"max_completion_tokens"`
	MinTokens           int             `json:"min_tokens"`
	IgnoreEOS           bool            `json:"ignore_eos"`
	Stop                json.RawMessage `json:"stop"`
	N                   *int            `json:"n"`
	Stream              bool            `json:"stream"`
	StreamOptions       *struct {
		IncludeUsage         bool `json:"include_usage"`
		ContinuousUsageStats bool `json:"continuous_usage_stats"`
	} `json:"stream_options"`
	KVTransfer json.RawMessage `json:"kv_transfer_params"`
}

type chatMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// job is a request that was checked and is ready for an engine.
type job struct {
	chat       bool
	stream     bool
	usage      bool // a usage event at the end
	continuous bool // usage in every event
	prompt     int
	hashes     []uint64
	max        int
	reason     string // finish_reason
	stopWord   string // the stop string that ended it; empty: none
	seed       uint64
	prefillFor bool // the request carries kv_transfer_params: answer with some
	faults     plagued
}

// apiError is an error in vLLM's shape.
type apiError struct {
	status int
	msg    string
	kind   string
}

func (e *apiError) Error() string { return e.msg }

func badRequest(format string, args ...any) *apiError {
	return &apiError{status: http.StatusBadRequest, msg: fmt.Sprintf(format, args...), kind: "BadRequestError"}
}

func (e *apiError) body() []byte {
	type detail struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    int     `json:"code"`
	}
	return marshal(map[string]detail{"error": {e.msg, e.kind, nil, e.status}})
}

// marshal is JSON as vLLM writes it: no escapes for HTML.
func marshal(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // only plain values are passed
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// parseJob checks a request body against the server's limits.
func (s *Server) parseJob(body []byte, chat bool, number uint64) (*job, *apiError) {
	var r genRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, badRequest("%v", err)
	}
	if r.Model != "" && r.Model != s.cfg.Model {
		return nil, &apiError{status: http.StatusNotFound, kind: "NotFoundError",
			msg: fmt.Sprintf("The model `%s` does not exist.", r.Model)}
	}
	if r.N != nil && *r.N != 1 {
		return nil, badRequest("n=%d is not simulated; only n=1", *r.N)
	}
	ids, count, apiErr := r.promptTokens(chat, s.cfg.PrefixCaching)
	if apiErr != nil {
		return nil, apiErr
	}
	j := &job{chat: chat, stream: r.Stream, prompt: count, seed: mix(s.cfg.Seed ^ mix(number)), prefillFor: len(r.KVTransfer) > 0 && string(r.KVTransfer) != "null"}
	if o := r.StreamOptions; o != nil {
		if !r.Stream {
			return nil, badRequest("Stream options can only be defined when `stream=True`.")
		}
		j.usage, j.continuous = o.IncludeUsage, o.IncludeUsage && o.ContinuousUsageStats
	}
	if s.cfg.PrefixCaching {
		j.hashes = chainHashes(ids)
	}
	if apiErr = j.lengths(&r, s.model.MaxModelLen); apiErr != nil {
		return nil, apiErr
	}
	if s.cfg.Role == RolePrefill {
		j.max, j.reason, j.stopWord = 1, "length", ""
	}
	return j, nil
}

// promptTokens is the prompt's length, and its ids when they are wanted.
func (r *genRequest) promptTokens(chat, wantIDs bool) (ids []int, count int, apiErr *apiError) {
	var text string
	switch {
	case chat && len(r.Messages) == 0:
		return nil, 0, badRequest("messages: Field required")
	case chat:
		text = r.chatText()
		count = 4*len(r.Messages) + 3 // the template's marks
	case len(r.Prompt) == 0 || string(r.Prompt) == "null":
		return nil, 0, badRequest("prompt: Field required")
	default:
		var err *apiError
		if text, ids, err = promptOf(r.Prompt); err != nil {
			return nil, 0, err
		}
	}
	if ids == nil && wantIDs {
		ids = Tokenize(text)
		count += len(ids)
	} else if ids == nil {
		count += CountTokens(text)
	} else {
		count = len(ids)
	}
	if count == 0 {
		return nil, 0, badRequest("The prompt must not be empty.")
	}
	return ids, count, nil
}

// promptOf reads a prompt: a text, token ids, or a list with one of these.
func promptOf(raw json.RawMessage) (text string, ids []int, apiErr *apiError) {
	if json.Unmarshal(raw, &text) == nil {
		return text, nil, nil
	}
	if json.Unmarshal(raw, &ids) == nil {
		return "", ids, nil
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil && len(list) == 1 {
		return promptOf(list[0])
	}
	return "", nil, badRequest("prompt: a text, a list of token ids, or a list with exactly one of these (batches are not simulated)")
}

func (r *genRequest) chatText() string {
	var b strings.Builder
	for _, m := range r.Messages {
		var text string
		if json.Unmarshal(m.Content, &text) == nil {
			b.WriteString(text)
			continue
		}
		var parts []struct {
			Text string `json:"text"`
		}
		if json.Unmarshal(m.Content, &parts) == nil {
			for _, p := range parts {
				b.WriteString(p.Text)
			}
		}
	}
	return b.String()
}

// lengths decides how many tokens the answer has and why it ends.
func (j *job) lengths(r *genRequest, maxLen int) *apiError {
	want := 16
	if j.chat {
		want = maxLen - j.prompt
	}
	if r.MaxTokens != nil {
		want = *r.MaxTokens
	}
	if r.MaxCompletionTokens != nil {
		want = *r.MaxCompletionTokens
	}
	if j.prompt >= maxLen {
		return badRequest("This model's maximum context length is %d tokens. However, your request has %d input tokens. Please reduce the length of the input messages.", maxLen, j.prompt)
	}
	if want > maxLen-j.prompt {
		return badRequest("'max_tokens' or 'max_completion_tokens' is too large: %d. This model's maximum context length is %d tokens and your request has %d input tokens (%d > %d - %d).",
			want, maxLen, j.prompt, want, maxLen, j.prompt)
	}
	if want < 1 {
		return badRequest("max_tokens must be at least 1, got %d.", want)
	}
	if r.MinTokens < 0 || r.MinTokens > want {
		return badRequest("min_tokens must be between 0 and max_tokens=%d, got %d.", want, r.MinTokens)
	}
	j.max, j.reason = want, "length"
	if natural := 32 + int(j.seed%480); !r.IgnoreEOS && max(natural, r.MinTokens+1) <= want {
		j.max, j.reason = max(natural, r.MinTokens+1), "stop"
	}
	return j.stopAt(r)
}

// stopAt shortens the answer to the first stop string that occurs in it.
func (j *job) stopAt(r *genRequest) *apiError {
	var stops []string
	var one string
	switch {
	case len(r.Stop) == 0 || string(r.Stop) == "null":
		return nil
	case json.Unmarshal(r.Stop, &one) == nil:
		stops = []string{one}
	case json.Unmarshal(r.Stop, &stops) != nil:
		return badRequest("stop: a text or a list of texts")
	}
	var text strings.Builder
	for i := range j.max {
		text.WriteString(word(j.seed, i))
		for _, stop := range stops {
			if stop != "" && i >= r.MinTokens && strings.Contains(text.String(), stop) {
				j.max, j.reason, j.stopWord = i+1, "stop", stop
				return nil
			}
		}
	}
	return nil
}
