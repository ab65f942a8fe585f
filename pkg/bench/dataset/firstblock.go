package dataset

import (
	"context"
	"hash/fnv"
	"io"
)

// blockTokens is the cache block of a server, tokens: prompts that differ within their first
// one share nothing in a prefix cache.
const blockTokens = 16

// blockMost bounds the bytes of a text that are looked at for its first block.
const blockMost = 256

// blockBytes is what stands for a block where tokens are counted elsewhere, bytes: less than
// 16 tokens of any language.
const blockBytes = 32

// beginner is a counter that can tell the first block of a text.
type beginner interface {
	// FirstBlock identifies the first tokens of a text.
	FirstBlock(text string, tokens int) uint64
}

// firstBlock identifies the first block of a text: by its tokens where the tokenizer is at
// hand, by its first bytes otherwise. Texts with different blocks share none in a prefix
// cache. One of the tokens is left to the model's first token.
func firstBlock(ctx context.Context, c Counter, text string) (uint64, error) {
	if b, ok := c.(beginner); ok {
		return b.FirstBlock(text[:min(len(text), blockMost)], blockTokens-1), ctx.Err()
	}
	return beginning(text), ctx.Err()
}

// leadBlock stands for the first blocks of all places that begin as leads do.
const leadBlock = 1

// placeBlock is the first block of a place, white space before its first word aside.
func placeBlock(ctx context.Context, c Counter, text string) (uint64, error) {
	text = text[nextStart(text, 0):]
	if isLead(text) {
		return leadBlock, ctx.Err()
	}
	return firstBlock(ctx, c, text)
}

// begins are the first blocks that are taken.
type begins map[uint64]struct{}

// newBegins leaves leads to prompts that have one of their own.
func newBegins(size int) begins {
	b := make(begins, size)
	b[leadBlock] = struct{}{}
	return b
}

// add takes a block; false when it was taken before.
func (b begins) add(block uint64) bool {
	if _, taken := b[block]; taken {
		return false
	}
	b[block] = struct{}{}
	return true
}

// beginning identifies the first bytes of a text.
func beginning(text string) uint64 {
	h := fnv.New64a()
	io.WriteString(h, text[:min(len(text), blockBytes)]) //nolint:errcheck // a hash does not fail
	return h.Sum64()
}

// SameBeginning counts the prompts that begin like an earlier one. A nil counter compares
// bytes.
func SameBeginning(ctx context.Context, c Counter, prompts []Prompt) (n int64, err error) {
	seen := make(map[uint64]struct{}, len(prompts))
	for _, p := range prompts {
		k, err := firstBlock(ctx, c, p.Text)
		if err != nil {
			return 0, err
		}
		if _, ok := seen[k]; ok {
			n++
		}
		seen[k] = struct{}{}
	}
	return n, nil
}
