package dataset

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
)

func sonnetOptions() []OptionDoc {
	return []OptionDoc{{"prefix_len", "Tokens that all prompts share, from the first lines.", 200}}
}

// maxSonnet bounds a poem's file, bytes.
const maxSonnet = 16 << 20

// lines is a corpus of a poem's lines in random order.
type lines struct {
	seed int64
	all  []string
}

func (l lines) Places() int64 { return unlimited }

// Text strings random lines together.
func (l lines) Text(_ context.Context, i int64, want int) (string, error) {
	rng := rand.New(rand.NewPCG(uint64(l.seed), mix(uint64(i)))) //nolint:gosec // a seeded choice, not a secret
	var b strings.Builder
	for b.Len() < want {
		b.WriteString(l.all[rng.IntN(len(l.all))])
		b.WriteByte('\n')
	}
	return b.String(), nil
}

// openSonnet is vLLM's kind "sonnet": a shared prefix of the file's first lines, then
// random lines of it.
func openSonnet(ctx context.Context, o *opening) (Source, error) {
	bodies, sum, _, err := textBodies(ctx, o.Path)
	if err != nil {
		return nil, err
	}
	whole := newStream(bodies, 0, o.Seed)
	text, err := whole.read(ctx, 0, maxSonnet)
	if err != nil {
		return nil, err
	}
	var all []string
	for l := range strings.Lines(text) {
		if l = strings.TrimSpace(l); l != "" {
			all = append(all, l)
		}
	}
	if len(all) < 2 {
		return nil, errors.New("a poem has at least two lines")
	}
	head := ""
	if n := o.values.int("prefix_len"); n > 0 {
		if head, err = o.cutter.cut(ctx, "", "", strings.Join(all, "\n"), n); err != nil {
			return nil, err
		}
		head += "\n"
	}
	p := newPlanned(o, lines{o.Seed, all}, sum, -1, func(_ context.Context, i int64) (recipe, error) {
		return recipe{place: i, head: head, tokens: o.Tokens, offset: -1}, nil
	})
	p.info.SharesBeginnings = true
	p.info.Warnings = []string{"prompts share a prefix on purpose, and lines"}
	return p, nil
}
