package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"

	"golang.org/x/sync/errgroup"
)

func conversationOptions() []OptionDoc {
	return []OptionDoc{
		{"shuffle", "Take conversations in the seed's order, not the file's.", true},
		{"min_tokens", "Shorter prompts and answers are left out.", 4},
		{"max_prompt_tokens", "Longer prompts are left out.", 1024},
		{"max_total_tokens", "Longer prompts and answers together are left out.", 2048},
	}
}

// turn is where a conversation lies in the file, and the lengths of its first two turns,
// special tokens included.
type turn struct {
	span
	prompt, answer int
}

// conversations is a source of first turns at their own lengths.
type conversations struct {
	o     *opening
	turns []turn
	info  Info
}

// openConversations is the kind "conversations": a ShareGPT file as vLLM samples it. The
// prompt is the first turn as it is, the answer as long as the second, unless
// Options.OutputTokens says how long; conversations outside vLLM's bounds are left out
// (is_valid_sequence in vllm/benchmarks/datasets). Only as many are counted as Prompts asks.
func openConversations(ctx context.Context, o *opening) (Source, error) {
	spans, sum, err := indexConversations(ctx, o.Path)
	if err != nil {
		return nil, err
	}
	if o.values.bool("shuffle") {
		rng := rand.New(rand.NewPCG(uint64(o.Seed), 0x5ba9e)) //nolint:gosec // a seeded choice, not a secret
		rng.Shuffle(len(spans), func(i, k int) { spans[i], spans[k] = spans[k], spans[i] })
	}
	c := &conversations{o: o}
	if err := c.choose(ctx, spans); err != nil {
		return nil, err
	}
	if len(c.turns) == 0 {
		return nil, fmt.Errorf("none of its %d conversations has a prompt within the bounds", len(spans))
	}
	rule, n := o.Counter.Rule(), int64(len(c.turns))
	c.info = Info{
		Kind: o.Kind, Path: o.Path, Hash: sum, LengthRule: "the conversations' own; counted: " + rule.Text, Exact: rule.Exact, Distinct: n,
		Warnings: repeatWarning(o, n),
	}
	return c, nil
}

// choose counts conversations in order until there are enough, some at a time.
func (c *conversations) choose(ctx context.Context, spans []span) error {
	const together, atOnce = 128, 8
	for first := 0; first < len(spans) && (c.o.Prompts == 0 || int64(len(c.turns)) < c.o.Prompts); first += together {
		part := spans[first:min(first+together, len(spans))]
		counted := make([]turn, len(part))
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(atOnce)
		for i, s := range part {
			group.Go(func() (err error) {
				counted[i], err = c.count(ctx, s)
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
		for _, t := range counted {
			if c.valid(t) && (c.o.Prompts == 0 || int64(len(c.turns)) < c.o.Prompts) {
				c.turns = append(c.turns, t)
			}
		}
	}
	return nil
}

func (c *conversations) count(ctx context.Context, s span) (turn, error) {
	prompt, answer, err := c.read(s)
	if err != nil || prompt == "" {
		return turn{}, err
	}
	t := turn{span: s, answer: c.o.OutputTokens}
	if t.prompt, err = c.o.Counter.Count(ctx, prompt); err == nil && t.answer == 0 {
		t.answer, err = c.o.Counter.Count(ctx, answer)
		t.answer += c.o.SpecialTokens // vLLM counts them here, too
	}
	t.prompt += c.o.SpecialTokens
	return t, err
}

func (c *conversations) valid(t turn) bool {
	least := c.o.values.int("min_tokens")
	return t.prompt >= max(1, least) && (t.answer >= least || c.o.OutputTokens > 0) && t.answer > 0 &&
		t.prompt <= c.o.values.int("max_prompt_tokens") && t.prompt+t.answer <= c.o.values.int("max_total_tokens")
}

// read returns the first two turns of a conversation, empty texts when it has fewer.
func (c *conversations) read(s span) (prompt, answer string, err error) {
	raw, err := readAt(c.o.Path, s.off, int64(s.size))
	if err != nil {
		return "", "", err
	}
	var one talk
	err = json.Unmarshal(raw, &one)
	switch {
	case err != nil:
		return "", "", fmt.Errorf("entry at byte %d: %w", s.off, err)
	case one.Conversations == nil:
		return "", "", fmt.Errorf("entry at byte %d has no conversations; want {\"conversations\": [{\"from\": …, \"value\": …}, …]}", s.off)
	case len(one.Conversations) < 2:
		return "", "", nil
	}
	return one.Conversations[0].Value, one.Conversations[1].Value, nil
}

// Prompt is conversation i, from the first again when there are no more.
func (c *conversations) Prompt(ctx context.Context, i int64) (Prompt, error) {
	t := c.turns[i%int64(len(c.turns))]
	text, _, err := c.read(t.span)
	if err != nil {
		return Prompt{}, fmt.Errorf("dataset %s: prompt %d: %w", c.o.Kind, i, err)
	}
	p := Prompt{Text: c.o.salt(i) + text, Tokens: t.prompt, OutputTokens: t.answer, OffsetNS: -1}
	if c.o.Salt {
		n, err := c.o.Counter.Count(ctx, p.Text)
		p.Tokens = n + c.o.SpecialTokens
		return p, err
	}
	return p, nil
}

// Info describes the source.
func (c *conversations) Info() Info { return c.info }

// indexConversations reads the whole file once: where its entries lie, and its hash. They
// are decoded when they are counted.
func indexConversations(ctx context.Context, path string) ([]span, string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, "", err
	}
	defer f.Close() //nolint:errcheck // only read
	h := sha256.New()
	split, err := newSplitter(io.TeeReader(ctxReader{ctx, f}, h))
	if err != nil {
		return nil, "", err
	}
	var spans []span
	for {
		raw, off, err := split.next()
		if errors.Is(err, io.EOF) {
			return spans, sumOf(h), nil
		}
		if err != nil {
			return nil, "", err
		}
		spans = append(spans, span{off, int32(len(raw))}) //nolint:gosec // at most maxElement
	}
}
