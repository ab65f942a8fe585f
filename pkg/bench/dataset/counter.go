package dataset

import (
	"context"
	"unicode/utf8"
)

// Counter counts tokens. Three exist: a Hugging Face tokenizer file, a server's own
// /tokenize, and an approximation by characters.
type Counter interface {
	// Count is the number of tokens of the text without special tokens. An error is the
	// world's (a server that does not answer), never the text's.
	Count(ctx context.Context, text string) (int, error)
	// Rule describes the counter for provenance and cache keys.
	Rule() Rule
}

// Rule is what a result says about how tokens were counted.
type Rule struct {
	// Text completes "lengths are …": "exact (tokenizer deepseek/tokenizer.json)".
	Text string `json:"text"`
	// Hash identifies the vocabulary and its rules; hex, or a fixed word.
	Hash string `json:"hash"`
	// Exact is false when the counts are an estimate.
	Exact bool `json:"exact"`
}

// guesser is a counter that knows where tokens end, which saves most of the search.
type guesser interface {
	// Guess returns the end in bytes of a prefix of whole words with at most n tokens.
	Guess(text string, n int) int
}

// reserver is a counter to which some texts mean control tokens.
type reserver interface {
	// Reserved returns the end of the first control token written out in the text, or -1.
	Reserved(text string) int
}

// charsPerToken is the approximation's one parameter: English under the tokenizers of
// large models has about four characters a token.
const charsPerToken = 4

// Approximate is the counter for want of a tokenizer: 4 characters a token.
type Approximate struct{}

var _ Counter = Approximate{}

// Count is a quarter of the characters, rounded up.
func (Approximate) Count(_ context.Context, text string) (int, error) {
	return (utf8.RuneCountInString(text) + charsPerToken - 1) / charsPerToken, nil
}

// Rule says that counts are approximate.
func (Approximate) Rule() Rule {
	return Rule{Text: "approximate: 4 characters a token", Hash: "approximate-4"}
}
