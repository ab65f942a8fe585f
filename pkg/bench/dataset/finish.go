package dataset

import (
	"context"
	"fmt"
)

// encoder is a counter that can give token ids.
type encoder interface {
	// Encode returns the ids of a text without special tokens.
	Encode(text string) []int32
	// BOS is the token that begins a prompt, if the model has one.
	BOS() (int32, bool)
}

// counterOf makes the counter that the options ask for.
func counterOf(o Options) (Counter, error) {
	switch {
	case o.Counter != nil:
		return o.Counter, nil
	case o.TokenizerPath != "":
		return NewFileCounter(o.TokenizerPath)
	case o.ServerURL != "":
		return NewServerCounter(o.ServerURL, o.Model, o.HTTP), nil
	}
	return Approximate{}, nil
}

// finish adds what all kinds have in common: token ids and the cache.
func (o *opening) finish(ctx context.Context, s Source) (Source, error) {
	if o.Salt {
		s = salted{s, o.RunID}
	}
	if o.PromptFormat == FormatTokenIDs {
		e, _ := o.Counter.(encoder) // checked when the options were
		s = &ids{Source: s, enc: e, special: o.SpecialTokens}
	}
	if o.CacheDir == "" || o.Salt || o.Kind == "custom" {
		return s, nil
	}
	return newCached(ctx, o, s)
}

// salted says in the provenance what the salt was made from.
type salted struct {
	Source
	run string
}

// Info describes the source.
func (s salted) Info() Info {
	info := s.Source.Info()
	info.Salt, info.SharesBeginnings = s.run, false
	return info
}

// ids turns texts into token ids, with the model's first token where there is one.
type ids struct {
	Source
	enc     encoder
	special int
}

// Prompt has exactly Tokens ids: the text's and, in place of the special tokens that a
// server would have added, the model's first one.
func (s *ids) Prompt(ctx context.Context, i int64) (Prompt, error) {
	p, err := s.Source.Prompt(ctx, i)
	if err != nil {
		return p, err
	}
	list := make([]int32, 0, p.Tokens)
	if bos, ok := s.enc.BOS(); ok && s.special > 0 {
		list = append(list, bos)
	}
	list = append(list, s.enc.Encode(p.Text)...)
	if p.Tokens = len(list); len(list) == 0 {
		return p, fmt.Errorf("prompt %d has no tokens", i)
	}
	p.TokenIDs = list
	return p, nil
}
