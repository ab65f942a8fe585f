package dataset

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// ServerCounter asks an inference server to count, through vLLM's POST /tokenize.
type ServerCounter struct {
	url, model string
	client     *http.Client
	special    bool
}

var _ Counter = (*ServerCounter)(nil)

// NewServerCounter takes the server's base URL, with or without /v1, and the model's
// name. A nil client means one with a time limit of 30 s.
func NewServerCounter(base, model string, client *http.Client) *ServerCounter {
	if client == nil {
		client = &http.Client{Timeout: 30 * time.Second}
	}
	base = strings.TrimSuffix(strings.TrimRight(base, "/"), "/v1")
	return &ServerCounter{url: base + "/tokenize", model: model, client: client}
}

// withSpecial counts what the server adds to a completion's prompt, too.
func (s *ServerCounter) withSpecial() *ServerCounter {
	c := *s
	c.special = true
	return &c
}

// tokenized is an answer of /tokenize.
type tokenized struct {
	Count  *int    `json:"count"`
	Tokens []int32 `json:"tokens"`
}

// Count asks the server. Its error names the URL and says what came back.
func (s *ServerCounter) Count(ctx context.Context, text string) (int, error) {
	answer, err := s.ask(ctx, text)
	if err != nil {
		return 0, err
	}
	return *answer.Count, nil
}

// ask returns an answer with a count, or an error.
func (s *ServerCounter) ask(ctx context.Context, text string) (tokenized, error) {
	body, err := json.Marshal(map[string]any{"model": s.model, "prompt": text, "add_special_tokens": s.special})
	if err != nil {
		return tokenized{}, fmt.Errorf("%s: %w", s.url, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		return tokenized{}, fmt.Errorf("%s: %w", s.url, err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := s.client.Do(req)
	if err != nil {
		return tokenized{}, fmt.Errorf("counting tokens at the server: %w", err)
	}
	defer resp.Body.Close() //nolint:errcheck // the body has been read
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 64<<20))
	if err != nil {
		return tokenized{}, fmt.Errorf("%s: %w", s.url, err)
	}
	if resp.StatusCode != http.StatusOK {
		return tokenized{}, fmt.Errorf("%s answers %s: %.200s; without /tokenize, give the scenario a tokenizer file", s.url, resp.Status, answer)
	}
	var out tokenized
	if err := json.Unmarshal(answer, &out); err != nil || out.Count == nil {
		return tokenized{}, fmt.Errorf("%s: answer without a count: %.200s", s.url, answer)
	}
	return out, nil
}

// Identity tells servers apart that count differently: it hashes the ids, or where there are
// none the counts, of some texts.
func (s *ServerCounter) Identity(ctx context.Context) (string, error) {
	h := sha256.New()
	for _, text := range probeTexts() {
		answer, err := s.ask(ctx, text)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(h, *answer.Count, answer.Tokens) //nolint:errcheck // a hash does not fail
	}
	return s.Rule().Hash + ":" + sumOf(h), nil
}

// Rule names the server and the model.
func (s *ServerCounter) Rule() Rule {
	return Rule{Text: "exact by the server's count (" + s.url + ", " + s.model + ")", Hash: "server:" + s.model, Exact: true}
}
