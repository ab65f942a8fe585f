package sim

import (
	"bytes"
	"encoding/json"
	"errors"
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
	param  string // the member of the request that is wrong; empty: null
}

func (e *apiError) Error() string { return e.msg }

func badRequest(format string, args ...any) *apiError {
	return &apiError{status: http.StatusBadRequest, msg: fmt.Sprintf(format, args...), kind: "BadRequestError"}
}

// about names the wrong member, as vLLM does behind its message; with a value when there
// is one.
func (e *apiError) about(param string, value ...int) *apiError {
	e.param = param
	e.msg += " (parameter=" + param
	if len(value) > 0 {
		e.msg += fmt.Sprintf(", value=%d", value[0])
	}
	e.msg += ")"
	return e
}

// invalid is an error of the request's form, which the framework below vLLM finds.
func invalid(kind, at, why, input, more string) *apiError {
	return &apiError{
		status: http.StatusBadRequest, kind: "Bad Request", param: at,
		msg: fmt.Sprintf("1 validation error:\n  {'type': '%s', 'loc': '%s', 'msg': '%s', 'input': '%s'%s}", kind, at, why, input, more),
	}
}

// malformed is the error of a body that is not JSON or has a member of another type.
func malformed(err error) *apiError {
	var where *json.UnmarshalTypeError
	if errors.As(err, &where) {
		at := strings.TrimSuffix("body."+where.Field, ".")
		return invalid("value_error", at, "Input should be a valid "+where.Type.Kind().String(), where.Value, "")
	}
	at := 0
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		at = int(syntax.Offset)
	}
	return invalid("json_invalid", fmt.Sprintf("body.%d", at), "JSON decode error", "<dict of 0 items>", ", 'ctx': {'error': 'Expecting value'}")
}

// unknownModel is the error of a model that is not served.
func unknownModel(asked, served string) *apiError {
	return &apiError{
		status: http.StatusNotFound, kind: "NotFoundError", param: "model",
		msg: fmt.Sprintf("The model `%s` does not exist. Valid aliases: %s.", asked, served),
	}
}

func (e *apiError) body() []byte {
	type detail struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    int     `json:"code"`
	}
	var param *string
	if e.param != "" {
		param = &e.param
	}
	return marshal(map[string]detail{"error": {e.msg, e.kind, param, e.status}})
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
		return nil, malformed(err)
	}
	if r.Model != "" && r.Model != s.cfg.Model {
		return nil, unknownModel(r.Model, s.cfg.Model)
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
			return nil, badRequest("Stream options can only be defined when `stream=True`.").about("stream_options")
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
	case chat && r.Messages == nil:
		return nil, 0, invalid("missing", "body.messages", "Field required", "<dict of 0 items>", "")
	case chat && len(r.Messages) == 0:
		return nil, 0, badRequest("Cannot apply chat template to an empty conversation. Provide at least one message.")
	case chat:
		text = r.chatText()
		count = 4*len(r.Messages) + 3 // the template's marks
	case len(r.Prompt) == 0 || string(r.Prompt) == "null" || string(r.Prompt) == `""`:
		return nil, 0, badRequest("Either prompt or prompt_embeds must be provided and non-empty.").about("prompt")
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
		return nil, 0, badRequest("You must pass at least one prompt")
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
		want = max(1, maxLen-j.prompt)
	}
	if r.MaxTokens != nil {
		want = *r.MaxTokens
	}
	if r.MaxCompletionTokens != nil {
		want = *r.MaxCompletionTokens
	}
	if err := checkLengths(j.prompt, want, r.MinTokens, maxLen); err != nil {
		return err
	}
	want = min(want, maxLen-j.prompt) // vLLM shortens what does not fit
	j.max, j.reason = want, "length"
	if natural := 32 + int(j.seed%480); !r.IgnoreEOS && max(natural, r.MinTokens+1) <= want {
		j.max, j.reason = max(natural, r.MinTokens+1), "stop"
	}
	return j.stopAt(r)
}

// checkLengths refuses what no model of that context length can do.
func checkLengths(prompt, want, least, maxLen int) *apiError {
	switch {
	case want < 1:
		return badRequest("max_tokens must be at least 1, got %d.", want).about("max_tokens", want)
	case want > maxLen:
		return badRequest("max_tokens=%d cannot be greater than max_model_len=%d. Please request fewer output tokens.", want, maxLen).about("max_tokens", want)
	case prompt >= maxLen:
		return badRequest("This model's maximum context length is %d tokens. However, your prompt contains at least %d input tokens, which exceeds this limit even without any output tokens. Please reduce the length of the input prompt.", maxLen, maxLen+1).about("input_tokens", maxLen+1)
	case least < 0:
		return badRequest("min_tokens must be greater than or equal to 0, got %d.", least)
	case least > want:
		return badRequest("min_tokens must be less than or equal to max_tokens=%d, got %d.", want, least)
	}
	return nil
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
