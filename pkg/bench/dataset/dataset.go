// Package dataset is where prompts come from: one file per dataset and one row in
// the table. A prompt depends on (source, tokenizer, seed, index) only, so that any
// number of workers sends the same set. Unreadable or wrongly shaped sources come
// back as errors with file, row or offset; never a silently shorter prompt set.
package dataset

import "context"

// Prompt is one request's input.
type Prompt struct {
	// Text is the prompt as sent; TokenIDs replaces it when not nil.
	Text     string
	TokenIDs []int32
	// Tokens is the prompt's length as the server is expected to count it.
	Tokens int
	// OutputTokens is the output length that goes with this prompt; 0 = the scenario's.
	OutputTokens int
	// OffsetNS is the send time of a trace, ns since start; -1 when the dataset has no times.
	OffsetNS int64
}

// Source gives prompts by index and is safe for concurrent use.
type Source interface {
	// Prompt returns prompt i (0 <= i); the same i always gives the same prompt.
	Prompt(ctx context.Context, i int64) (Prompt, error)
	// Info describes the source for provenance.
	Info() Info
}

// Info is what a result keeps about its prompts.
type Info struct {
	Kind string `json:"kind"`
	Path string `json:"path,omitempty"`
	// Hash is the SHA-256 of the source's bytes, hex.
	Hash string `json:"hash,omitempty"`
	// LengthRule says how lengths were made: "exact (DeepSeek tokenizer …)" or
	// "approximate: 4 characters a token".
	LengthRule string `json:"lengthRule"`
	// Exact is true when every prompt has exactly its Tokens at the named tokenizer.
	Exact bool `json:"exact"`
	// Distinct is how many different prompts the source can give; -1 when unknown or unlimited.
	Distinct int64 `json:"distinct"`
	// SharesBeginnings is true when prompts begin alike because the dataset says so.
	SharesBeginnings bool `json:"sharesBeginnings,omitempty"`
	// Salt is what the salt at the beginning of each prompt was made from, "" without one.
	Salt     string   `json:"salt,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}
