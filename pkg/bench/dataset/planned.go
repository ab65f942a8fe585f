package dataset

import (
	"context"
	"fmt"
)

// recipe is what one prompt is made of.
type recipe struct {
	place  int64  // where in the corpus its own text begins
	head   string // what it shares with others
	tokens int    // whole length, special tokens included
	output int    // 0 = the scenario's
	offset int64  // ns since the trace began; -1 = none
}

// planned is a Source that makes prompts by recipe.
type planned struct {
	o      *opening
	corpus corpus
	info   Info
	plan   func(ctx context.Context, i int64) (recipe, error)
}

var _ Source = (*planned)(nil)

func newPlanned(o *opening, c corpus, hash string, distinct int64, plan func(context.Context, int64) (recipe, error)) *planned {
	rule := o.Counter.Rule()
	return &planned{o: o, corpus: c, plan: plan, info: Info{
		Kind: o.Kind, Path: o.Path, Hash: hash, LengthRule: rule.Text, Exact: rule.Exact, Distinct: distinct,
	}}
}

// Prompt follows recipe i.
func (p *planned) Prompt(ctx context.Context, i int64) (Prompt, error) {
	r, err := p.plan(ctx, i)
	if err != nil {
		return Prompt{}, fmt.Errorf("dataset %s: prompt %d: %w", p.o.Kind, i, err)
	}
	text, err := cutFrom(ctx, p.o, p.corpus, r.place, p.o.salt(i)+r.head, r.tokens-p.o.SpecialTokens)
	if err != nil {
		return Prompt{}, fmt.Errorf("dataset %s: prompt %d: %w", p.o.Kind, i, err)
	}
	if r.output == 0 {
		r.output = p.o.OutputTokens
	}
	return Prompt{Text: text, Tokens: r.tokens, OutputTokens: r.output, OffsetNS: r.offset}, nil
}

// Info describes the source.
func (p *planned) Info() Info { return p.info }
