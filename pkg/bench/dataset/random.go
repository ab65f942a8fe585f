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
		{"output_range_ratio", "The same for answers; below 0 means range_ratio.", -1.0},
		{"prefix_len", "Tokens that all prompts share, before and besides those of their own.", 0},
	}
}

// openRandom is the kind "random": random tokens of the tokenizer file, or made-up words
// when there is none, cut to exact lengths. As in vLLM a shared prefix comes on top of the
// wanted length, and special tokens are not varied.
func openRandom(_ context.Context, o *opening) (Source, error) {
	ratio, answers, prefix := o.values.float("range_ratio"), o.values.float("output_range_ratio"), o.values.int("prefix_len")
	if answers < 0 {
		answers = ratio
	}
	if ratio < 0 || ratio >= 1 || answers >= 1 || prefix < 0 {
		return nil, fmt.Errorf("range_ratio %v and output_range_ratio %v must be within [0, 1), prefix_len %d not negative", ratio, answers, prefix)
	}
	var c corpus = syllables{o.Seed}
	if f, ok := o.Counter.(FileCounter); ok {
		c = vocabulary{o.Seed, f}
	}
	shared := &heads{o: o, corpus: c, tokens: prefix, made: map[int64]string{}}
	p := newPlanned(o, c, generatedHash(o), -1, func(ctx context.Context, i int64) (recipe, error) {
		head, err := shared.get(ctx, unlimited-1)
		r := recipe{place: i, head: head, offset: -1}
		r.tokens = o.SpecialTokens + prefix + max(1, within(o.budget(), ratio, fnvOf("in", o.Seed, i)))
		if o.OutputTokens > 0 {
			r.output = max(1, within(o.OutputTokens, answers, fnvOf("out", o.Seed, i)))
		}
		return r, err
	})
	if prefix > 0 {
		p.info.Warnings = append(p.info.Warnings, fmt.Sprintf("prompts share their first %d tokens on purpose", prefix))
	}
	return p, nil
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
