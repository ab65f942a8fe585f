package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
)

func randomOptions() []OptionDoc {
	return []OptionDoc{
		{"range_ratio", "Lengths are uniform within this share of the wanted ones, as in vLLM: 0.1 is 90 % to 110 %.", 0.0},
	}
}

// openRandom is the kind "random": random tokens of the tokenizer file, or made-up words
// when there is none, cut to exact lengths.
func openRandom(_ context.Context, o *opening) (Source, error) {
	ratio := o.values.float("range_ratio")
	if ratio < 0 || ratio >= 1 {
		return nil, fmt.Errorf("range_ratio %v is not within [0, 1)", ratio)
	}
	var c corpus = syllables{o.Seed}
	if f, ok := o.Counter.(FileCounter); ok {
		c = vocabulary{o.Seed, f}
	}
	return newPlanned(o, c, generatedHash(o), -1, func(_ context.Context, i int64) (recipe, error) {
		r := recipe{place: i, offset: -1}
		r.tokens = max(o.SpecialTokens+1, within(o.Tokens, ratio, fnvOf("in", o.Seed, i)))
		if o.OutputTokens > 0 {
			r.output = max(1, within(o.OutputTokens, ratio, fnvOf("out", o.Seed, i)))
		}
		return r, nil
	}), nil
}

// within is uniform on [floor(n(1-ratio)), ceil(n(1+ratio))], vLLM's rule.
func within(n int, ratio float64, h uint64) int {
	low, high := int(math.Floor(float64(n)*(1-ratio))), int(math.Ceil(float64(n)*(1+ratio)))
	return low + int(h%uint64(high-low+1)) //nolint:gosec // a small positive range
}

// generatedHash stands for the content of prompts that have no file: kind, seed, options.
func generatedHash(o *opening) string {
	sum := sha256.Sum256(fmt.Append(nil, o.Kind, o.Seed, o.values))
	return hex.EncodeToString(sum[:])
}
