package dataset

import (
	"context"
	"path/filepath"

	"github.com/mifbench/mifbench/pkg/bench/tokenizer"
)

// FileCounter counts with a model's tokenizer.json.
type FileCounter struct {
	*tokenizer.Tokenizer
}

var (
	_ Counter  = FileCounter{}
	_ guesser  = FileCounter{}
	_ reserver = FileCounter{}
	_ encoder  = FileCounter{}
	_ beginner = FileCounter{}
)

// NewFileCounter loads tokenizer.json, given by itself or by its directory.
func NewFileCounter(path string) (FileCounter, error) {
	t, err := tokenizer.Load(path)
	return FileCounter{t}, err
}

// Count counts; it cannot fail.
func (f FileCounter) Count(_ context.Context, text string) (int, error) {
	return f.Tokenizer.Count(text), nil
}

// Guess is the end of the longest prefix of whole pieces within n tokens.
func (f FileCounter) Guess(text string, n int) int { return f.Prefix(text, n) }

// FirstBlock identifies the first tokens of a text.
func (f FileCounter) FirstBlock(text string, tokens int) uint64 {
	ids := f.Encode(text)
	h := uint64(0)
	for _, id := range ids[:min(len(ids), tokens)] {
		h = mix(h ^ uint64(uint32(id))) //nolint:gosec // bits, not a number
	}
	return h
}

// BOS is the token that begins a prompt.
func (f FileCounter) BOS() (int32, bool) { return f.Facts().BOS, f.Facts().BOS >= 0 }

// Rule names the file and its hash.
func (f FileCounter) Rule() Rule {
	name := filepath.Join(filepath.Base(filepath.Dir(f.Path())), filepath.Base(f.Path()))
	return Rule{Text: "exact (tokenizer " + name + ", sha256 " + f.Hash()[:12] + ")", Hash: f.Hash(), Exact: true}
}
