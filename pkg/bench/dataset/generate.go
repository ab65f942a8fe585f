package dataset

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
)

// unlimited is the number of places of a corpus that never ends.
const unlimited = int64(1) << 60

// syllables is a corpus of made-up words: no text of its own is needed, and no two places
// begin alike. It reads like gibberish, which matters only to speculative decoding.
type syllables struct{ seed int64 }

func (s syllables) Places() int64 { return unlimited }

// Text makes words of one to four syllables.
func (s syllables) Text(_ context.Context, i int64, want int) (string, error) {
	rng := rand.New(rand.NewPCG(uint64(s.seed), mix(uint64(i)))) //nolint:gosec // a seeded choice, not a secret
	const consonants, vowels = "bcdfghjklmnprstvwz", "aeiou"
	var b strings.Builder
	for b.Len() < want {
		for range 1 + rng.IntN(4) {
			b.WriteByte(consonants[rng.IntN(len(consonants))])
			b.WriteByte(vowels[rng.IntN(len(vowels))])
		}
		if b.WriteByte(' '); rng.IntN(12) == 0 {
			b.WriteString("\n")
		}
	}
	return b.String(), nil
}

// vocabulary is a corpus of random tokens, as vLLM's random dataset has them.
type vocabulary struct {
	seed int64
	t    FileCounter
}

func (v vocabulary) Places() int64 { return unlimited }

// Text decodes random ids that are not special; what is not text is left out.
func (v vocabulary) Text(_ context.Context, i int64, want int) (string, error) {
	rng := rand.New(rand.NewPCG(uint64(v.seed), mix(uint64(i)))) //nolint:gosec // a seeded choice, not a secret
	ids := make([]int32, 0, want/4)
	for len(ids) < max(8, want/4) {
		if id := int32(rng.IntN(v.t.Size())); !v.t.Special(id) { //nolint:gosec // ids fit
			ids = append(ids, id)
		}
	}
	return strings.Map(func(r rune) rune {
		if r == '\ufffd' || r == 0 {
			return -1
		}
		return r
	}, v.t.Decode(ids)), nil
}

// filler is the text of kinds that are about lengths: option "text", or made-up words.
func filler(ctx context.Context, o *opening, need int) (corpus, string, error) {
	path := o.values.string("text")
	if path == "" {
		return syllables{o.Seed}, "", nil
	}
	bodies, sum, _, err := textBodies(ctx, path)
	if err != nil {
		return nil, "", err
	}
	d, err := newDistinct(ctx, o, newStream(bodies, need*bytesPerToken, o.Seed))
	if err == nil && d.Places() < 1 {
		err = fmt.Errorf("text %s: too little text for one prompt of %d tokens", path, need)
	}
	return d, sum, err
}

func textOption() OptionDoc {
	return OptionDoc{"text", "File or directory of .txt files whose text is used; made-up words when empty.", ""}
}
