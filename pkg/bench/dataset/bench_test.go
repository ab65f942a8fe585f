package dataset

import (
	"os"
	"testing"
)

// BenchmarkPrompt cuts prompts of 512 tokens from a ShareGPT file, with the tokenizer named
// by MIFBENCH_TOKENIZER; by the approximation without one.
func BenchmarkPrompt(b *testing.B) {
	path := os.Getenv("MIFBENCH_SHAREGPT")
	if path == "" {
		b.Skip("MIFBENCH_SHAREGPT is not set")
	}
	s, err := Open(b.Context(), Options{Kind: "sharegpt", Path: path, Tokens: 512, TokenizerPath: os.Getenv("MIFBENCH_TOKENIZER")})
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		p, err := s.Prompt(b.Context(), int64(i))
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(p.Text)))
	}
}
