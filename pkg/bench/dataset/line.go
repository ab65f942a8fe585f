package dataset

import (
	"errors"
	"fmt"
)

// line is a prompt in a file: vLLM's custom format (prompt, output_tokens) with what a
// prepared file says besides.
type line struct {
	Prompt       *string `json:"prompt,omitempty"`
	TokenIDs     []int32 `json:"token_ids,omitempty"`
	Tokens       int     `json:"tokens,omitempty"`
	OutputTokens int     `json:"output_tokens,omitempty"`
	OffsetNS     *int64  `json:"offset_ns,omitempty"`
}

func lineOf(p Prompt) line {
	l := line{Prompt: &p.Text, TokenIDs: p.TokenIDs, Tokens: p.Tokens, OutputTokens: p.OutputTokens}
	if p.OffsetNS >= 0 {
		l.OffsetNS = &p.OffsetNS
	}
	return l
}

func (l line) toPrompt(i int) (Prompt, error) {
	p := Prompt{TokenIDs: l.TokenIDs, Tokens: l.Tokens, OutputTokens: l.OutputTokens, OffsetNS: -1}
	if l.Prompt != nil {
		p.Text = *l.Prompt
	}
	if l.OffsetNS != nil {
		p.OffsetNS = *l.OffsetNS
	}
	switch {
	case l.Tokens < 0 || l.OutputTokens < 0:
		return p, fmt.Errorf("row %d has a negative number of tokens", i+1)
	case p.Text == "" && len(p.TokenIDs) == 0:
		return p, fmt.Errorf("row %d: %w", i+1, errors.New("no prompt; want {\"prompt\": \"…\", \"output_tokens\": 128}"))
	}
	return p, nil
}
