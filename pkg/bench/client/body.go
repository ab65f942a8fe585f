package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// API is the endpoint's dialect.
type API string

// The dialects.
const (
	Completions API = "completions"
	Chat        API = "chat"
)

// path is where a server of the dialect listens.
func (a API) path() string {
	if a == Chat {
		return "/v1/chat/completions"
	}
	return "/v1/completions"
}

// Params is what all requests of a run have in common.
type Params struct {
	Model     string
	IgnoreEOS bool
	// NoStream asks for whole answers: one token event each, at the end.
	NoStream bool
	// NoUsage leaves stream_options out, for servers that refuse it.
	NoUsage bool
	// ContinuousUsage asks for token counts in every chunk (vLLM, SGLang).
	ContinuousUsage bool
	// Sampling are body fields such as temperature, top_p, repetition_penalty.
	Sampling map[string]any
	// ExtraBody is merged at the top level over everything else.
	ExtraBody map[string]any
}

// Template renders request bodies: the common part once, prompt and length per request.
type Template struct {
	api       API
	head      []byte // {"model":…,…  without prompt, length and closing brace
	fixedSize bool   // ExtraBody sets the length
}

// NewTemplate returns the template of an API; an error names the field that is wrong.
func NewTemplate(api API, p Params) (*Template, error) {
	if api != Completions && api != Chat {
		return nil, fmt.Errorf("api %q is not one of %q, %q", api, Completions, Chat)
	}
	if p.Model == "" {
		return nil, errors.New("no model name: set the scenario's model to the name that the server lists in /v1/models")
	}
	fields := map[string]any{"model": p.Model, "stream": !p.NoStream}
	if !p.NoStream && !p.NoUsage {
		o := map[string]bool{"include_usage": true}
		if p.ContinuousUsage {
			o["continuous_usage_stats"] = true
		}
		fields["stream_options"] = o
	}
	if p.IgnoreEOS {
		fields["ignore_eos"] = true
	}
	maps.Copy(fields, p.Sampling)
	maps.Copy(fields, p.ExtraBody)
	for _, k := range []string{"prompt", "messages"} {
		if _, ok := fields[k]; ok {
			return nil, fmt.Errorf("extra body sets %q, which comes from the dataset", k)
		}
	}
	_, a := fields["max_tokens"]
	_, b := fields["max_completion_tokens"]
	t := &Template{api: api, fixedSize: a || b}
	return t, t.render(fields)
}

// render writes the common fields in the order of their names, the model first.
func (t *Template) render(fields map[string]any) error {
	keys := slices.Sorted(maps.Keys(fields))
	slices.SortStableFunc(keys, func(a, b string) int { return rank(a) - rank(b) })
	for i, k := range keys {
		v, err := encode(fields[k])
		if err != nil {
			return fmt.Errorf("body field %q: %w", k, err)
		}
		t.head = append(t.head, "{,"[min(i, 1)])
		t.head = append(strconv.AppendQuote(t.head, k), ':')
		t.head = append(t.head, v...)
	}
	return nil
}

func rank(k string) int {
	if k == "model" {
		return 0
	}
	return 1
}

// Body renders one request. ids replace text when not nil (completions only).
func (t *Template) Body(text string, ids []int32, maxTokens int32) ([]byte, error) {
	if t.api == Chat && ids != nil {
		return nil, errors.New("a chat request cannot carry token ids: use api \"completions\" or a dataset of text")
	}
	var prompt []byte
	if ids == nil {
		var err error
		if prompt, err = encode(text); err != nil {
			return nil, fmt.Errorf("prompt: %w", err)
		}
	} else {
		prompt = appendIDs(nil, ids)
	}
	b := make([]byte, 0, len(t.head)+len(prompt)+96)
	b = append(b, t.head...)
	limit := `,"max_tokens":`
	if t.api == Chat {
		b = append(b, `,"messages":[{"role":"user","content":`...)
		b = append(append(b, prompt...), "}]"...)
		limit = `,"max_completion_tokens":`
	} else {
		b = append(append(b, `,"prompt":`...), prompt...)
	}
	if maxTokens > 0 && !t.fixedSize {
		b = strconv.AppendInt(append(b, limit...), int64(maxTokens), 10)
	}
	return append(b, '}'), nil
}

func appendIDs(b []byte, ids []int32) []byte {
	b = append(b, '[')
	for i, id := range ids {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(id), 10)
	}
	return append(b, ']')
}

// encode is json.Marshal without the escaping of <, > and &, which would make a prompt
// longer on the wire for nothing.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
