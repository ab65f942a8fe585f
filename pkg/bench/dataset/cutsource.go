package dataset

import (
	"context"
	"errors"
	"fmt"
)

// pieces is a Source that cuts prompts of one length from a corpus.
type pieces struct {
	o      *opening
	corpus corpus
	info   Info
}

var _ Source = (*pieces)(nil)

// newStreamPieces cuts prompts from bodies laid end to end, no two of which begin alike.
func newStreamPieces(ctx context.Context, o *opening, s *stream, hash string, warnings []string) (Source, error) {
	d, err := newDistinct(ctx, o, s)
	if err != nil {
		return nil, err
	}
	if o.Prompts > s.separate() && o.Prompts <= d.Places() {
		warnings = append(warnings, fmt.Sprintf("%d prompts are wanted and there is text for %d: prompts share text, never their beginning", o.Prompts, s.separate()))
	}
	return newPieces(o, d, hash, warnings)
}

// newPieces checks that the corpus has prompts at all and warns of repeats.
func newPieces(o *opening, c corpus, hash string, warnings []string) (Source, error) {
	places := c.Places()
	if places < 1 {
		return nil, fmt.Errorf("too little text for one prompt of %d tokens", o.Tokens)
	}
	rule := o.Counter.Rule()
	p := &pieces{o: o, corpus: c, info: Info{
		Kind: o.Kind, Path: o.Path, Hash: hash, LengthRule: rule.Text, Exact: rule.Exact, Distinct: places, Warnings: warnings,
	}}
	p.info.Warnings = append(p.info.Warnings, repeatWarning(o, places)...)
	if places >= unlimited {
		p.info.Distinct = -1
	}
	return p, nil
}

func repeatWarning(o *opening, places int64) []string {
	if o.Prompts <= places {
		return nil
	}
	w := fmt.Sprintf("%d of %d prompts are repeats: the source gives %d different ones", o.Prompts-places, o.Prompts, places)
	if o.Salt {
		return []string{w + "; the salt makes their beginnings differ"}
	}
	return []string{w + "; the server's prefix cache will answer for them unless salt = true"}
}

// Prompt cuts prompt i, asking for more text when the first helping is too short.
func (p *pieces) Prompt(ctx context.Context, i int64) (Prompt, error) {
	n := p.o.budget()
	text, err := cutFrom(ctx, p.o, p.corpus, i%p.corpus.Places(), p.o.salt(i), n)
	if err != nil {
		return Prompt{}, fmt.Errorf("dataset %s: prompt %d: %w", p.o.Path, i, err)
	}
	return Prompt{Text: text, Tokens: p.o.Tokens, OutputTokens: p.o.OutputTokens, OffsetNS: -1}, nil
}

// Info describes the source.
func (p *pieces) Info() Info { return p.info }

// cutFrom cuts n tokens, head included, from place i of a corpus.
func cutFrom(ctx context.Context, o *opening, c corpus, i int64, head string, n int) (string, error) {
	cutter := o.cutter
	if head == "" {
		cutter.taken, _ = c.(taker)
	}
	for _, perToken := range []int{7, 28, 112} {
		text, err := c.Text(ctx, i, n*perToken+512)
		if err != nil {
			return "", err
		}
		cut, err := cutter.cut(ctx, head, text, n)
		if !errors.Is(err, errShort) {
			return cut, err
		}
	}
	// The end of the corpus was reached: go on at another place.
	return wrapAround(ctx, cutter, c, i, head, n)
}

// wrapAround joins the text of the next places when one is not enough.
func wrapAround(ctx context.Context, cutter cutter, c corpus, i int64, head string, n int) (string, error) {
	text := ""
	for k := range int64(64) {
		more, err := c.Text(ctx, (i+k)%c.Places(), n*7+512)
		if err != nil {
			return "", err
		}
		text += more + "\n\n"
		cut, err := cutter.cut(ctx, head, text, n)
		if !errors.Is(err, errShort) {
			return cut, err
		}
	}
	return "", fmt.Errorf("%w for %d tokens", errShort, n)
}

// salt is what prompt i begins with: different in the first tokens for each run and index.
func (o *opening) salt(i int64) string {
	if !o.Salt {
		return ""
	}
	h := fnvOf(o.RunID, o.Seed, i)
	return fmt.Sprintf("%016x %d. ", h, i)
}
