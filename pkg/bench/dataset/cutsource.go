package dataset

import (
	"context"
	"errors"
	"fmt"
	"strings"
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

// cutFrom cuts n tokens, head included, from place i of a corpus. There may be more places
// than the corpus has: then their texts come again, each under a beginning of its own.
func cutFrom(ctx context.Context, o *opening, c corpus, i int64, head string, n int) (string, error) {
	lead, place := o.lead(i, n), i
	own, err := isOwn(ctx, c, i)
	if err != nil {
		return "", err
	}
	if !own {
		place %= c.Places()
	}
	for _, perToken := range []int{7, 28, 112} {
		text, err := c.Text(ctx, place, n*perToken+512)
		if err != nil {
			return "", err
		}
		var cut string
		if own {
			cut, err = o.cutter.cut(ctx, head, lead, text, n)
		} else {
			cut, err = o.cutter.move(ctx, head+lead, text, n)
		}
		if !errors.Is(err, errShort) {
			return cut, err
		}
	}
	// The end of the corpus was reached: go on at another place.
	return wrapAround(ctx, o.cutter, c, place, head+lead, n)
}

// isOwn tells whether a corpus has a place for i alone.
func isOwn(ctx context.Context, c corpus, i int64) (bool, error) {
	if d, ok := c.(*distinct); ok {
		return d.has(ctx, i)
	}
	return c.Places() >= unlimited || i < c.Places(), nil
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
		cut, err := cutter.move(ctx, head, text, n)
		if !errors.Is(err, errShort) {
			return cut, err
		}
	}
	return "", fmt.Errorf("%w for %d tokens", errShort, n)
}

// lead is what a prompt begins with that cannot begin as its place does: no other prompt has
// it, and no place begins like it. Less than a block needs none, and a salted prompt has its
// own.
func (o *opening) lead(i int64, n int) string {
	if o.Salt || n < blockTokens {
		return ""
	}
	return fmt.Sprintf("#%d: ", i)
}

// isLead tells whether a text begins as leads do.
func isLead(text string) bool {
	rest, ok := strings.CutPrefix(text, "#")
	digits := strings.TrimLeft(rest, "0123456789")
	return ok && len(digits) < len(rest) && strings.HasPrefix(digits, ":")
}

// salt is what prompt i begins with: different in the first tokens for each run and index.
func (o *opening) salt(i int64) string {
	if !o.Salt {
		return ""
	}
	h := fnvOf(o.RunID, o.Seed, i)
	return fmt.Sprintf("%016x %d. ", h, i)
}
