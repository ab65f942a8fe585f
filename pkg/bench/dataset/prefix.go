package dataset

import (
	"context"
	"fmt"
	"math"
	"sync"
)

func prefixRepetitionOptions() []OptionDoc {
	return []OptionDoc{
		{"num_prefixes", "Number of different prefixes; each is used equally often.", 10},
		{"prefix_len", "Tokens of a prefix.", 256},
		{"suffix_len", "Tokens of the part of its own; 0 means input_tokens less the prefix.", 0},
		textOption(),
	}
}

func sharedPrefixOptions() []OptionDoc {
	return []OptionDoc{
		{"hit_rate", "Share of a prompt's tokens that it has in common with its group, rounded down to blocks of 16.", 0.9},
		{"groups", "Number of groups; each has a prefix of its own.", 1},
		{"prompts", "Number of different prompts, sent in turn; 0 means no bound.", 0},
		textOption(),
	}
}

// openPrefixRepetition is vLLM's kind "prefix_repetition": groups that share a prefix,
// with a suffix of its own for each prompt.
func openPrefixRepetition(ctx context.Context, o *opening) (Source, error) {
	prefix, suffix := o.values.int("prefix_len"), o.values.int("suffix_len")
	if suffix == 0 {
		suffix = o.budget() - prefix
	}
	return openPrefixed(ctx, o, o.values.int("num_prefixes"), prefix, suffix, 0)
}

// openSharedPrefix is the kind "shared_prefix": a declared prefix-cache hit rate.
func openSharedPrefix(ctx context.Context, o *opening) (Source, error) {
	rate := o.values.float("hit_rate")
	if rate < 0 || rate > 1 {
		return nil, fmt.Errorf("hit_rate %v is not within [0, 1]", rate)
	}
	const block = 16 // vLLM's cache block, tokens
	prefix := min(int(math.Floor(rate*float64(o.budget())/block))*block, o.budget()-1)
	return openPrefixed(ctx, o, o.values.int("groups"), prefix, o.budget()-prefix, int64(o.values.int("prompts")))
}

// openPrefixed gives prompt i the prefix of its group; with a bound the prompts repeat.
func openPrefixed(ctx context.Context, o *opening, groups, prefix, suffix int, bound int64) (Source, error) {
	if groups < 1 || prefix < 0 || suffix < 1 || bound < 0 {
		return nil, fmt.Errorf("%d groups of prompts with a prefix of %d and %d tokens of their own cannot be made", groups, prefix, suffix)
	}
	c, sum, err := filler(ctx, o, prefix+suffix)
	if err != nil {
		return nil, err
	}
	if sum == "" {
		sum = generatedHash(o)
	}
	h := &heads{o: o, corpus: c, tokens: prefix, made: map[int64]string{}}
	distinct := int64(-1)
	if bound > 0 {
		distinct = bound
	}
	p := newPlanned(o, c, sum, distinct, func(ctx context.Context, i int64) (recipe, error) {
		if bound > 0 {
			i %= bound
		}
		n := int64(groups)
		head, err := h.get(ctx, newOrder(n, o.Seed, int(i/n)+1).at(i%n))
		// The places of the prefixes come first.
		return recipe{place: n + i, head: head, tokens: prefix + suffix + o.SpecialTokens, offset: -1}, err
	})
	p.info.SharesBeginnings = true
	p.info.Warnings = append(p.info.Warnings, fmt.Sprintf("prompts share prefixes on purpose: %d of %d tokens in %d groups", prefix, prefix+suffix, groups))
	return p, nil
}

// heads makes shared beginnings of one length and remembers them.
type heads struct {
	o      *opening
	corpus corpus
	tokens int

	mu   sync.Mutex
	made map[int64]string
}

func (h *heads) get(ctx context.Context, k int64) (string, error) {
	if h.tokens == 0 {
		return "", nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if s, ok := h.made[k]; ok {
		return s, nil
	}
	s, err := cutFrom(ctx, h.o, h.corpus, k, "", h.tokens)
	if err == nil {
		s += " "
		h.made[k] = s
	}
	return s, err
}
