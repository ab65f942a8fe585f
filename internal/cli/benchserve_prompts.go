package cli

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/mifbench/mifbench/pkg/bench/client"
	"github.com/mifbench/mifbench/pkg/bench/dataset"
)

// prompts opens the data set, with lengths counted as exactly as can be had, and cuts them
// before the clock starts.
func (s *serving) prompts(ctx context.Context) error {
	f := s.flags
	row, err := f.datasetRow()
	if err != nil {
		return err
	}
	o, err := row.options(f)
	if err != nil {
		return err
	}
	if row.path == (f.path == "") {
		return pathError(row)
	}
	o.Path, o.Seed, o.Prompts, o.Model = f.path, f.seed, max(0, f.numPrompts), s.params.Model
	if err := s.count(ctx, &o); err != nil {
		return err
	}
	if err := s.app.useCache(&o); err != nil {
		return err
	}
	cut, err := dataset.Open(ctx, o)
	if err != nil {
		return err
	}
	s.isl, s.osl = o.Tokens, o.OutputTokens
	source := s.ordered(cut)
	s.limit(source.Info())
	info := source.Info()
	s.app.say("Prompts: %s, lengths %s", joined(f.dataset, f.path), info.LengthRule)
	for _, w := range info.Warnings {
		s.app.say("warning: %s", w)
	}
	n := f.numPrompts
	if info.Distinct > 0 {
		n = min(n, info.Distinct)
	}
	if s.source, err = s.app.prepare(ctx, source, n, o.Tokens); err != nil {
		return err
	}
	s.app.sayCache(cut)
	return s.times(ctx)
}

func joined(name, path string) string {
	if path == "" {
		return name
	}
	return name + " " + path
}

func pathError(row servedDataset) error {
	if row.path {
		return errors.New("--dataset-path is needed: the file or directory of " + row.name)
	}
	return fmt.Errorf("--dataset-path has no place in --dataset-name %s, whose prompts are made up; name the data set of the file, such as sharegpt or custom", row.name)
}

// ordered applies --disable-shuffle and the lengths of answers that the source would not.
func (s *serving) ordered(source dataset.Source) dataset.Source {
	f := s.flags
	switch {
	case f.dataset == "custom" && s.osl > 0:
		source = answersOf{source, s.osl}
	case f.dataset == "custom":
		source = answersOf{source, 0}
	case f.dataset != "burstgpt":
		return source
	}
	if n := source.Info().Distinct; !f.noShuffle && n > 1 {
		source = shuffled{source, rand.New(rand.NewPCG(uint64(f.seed), 0x0de2)).Perm(int(n))} //nolint:gosec // a seeded choice, not a secret
	}
	return source
}

// limit is how many requests there are: all rows of a custom file for 0, no repeats with
// --no-oversample, and a trace is sent once.
func (s *serving) limit(info dataset.Info) {
	f := s.flags
	if info.Distinct < 1 {
		return
	}
	if f.numPrompts < 1 {
		f.numPrompts = info.Distinct
	}
	if (f.noOversample || f.dataset == "timed_trace") && info.Distinct < f.numPrompts {
		s.app.say("There are %d prompts; each is sent once.", info.Distinct)
		f.numPrompts = info.Distinct
	}
}

// times takes a trace's send times, unless --no-self-timed.
func (s *serving) times(ctx context.Context) error {
	if s.flags.dataset != "timed_trace" || s.flags.given("self-timed") && !s.flags.selfTimed {
		return nil
	}
	for i := range s.flags.numPrompts {
		p, err := s.source.Prompt(ctx, i)
		if err != nil {
			return err
		}
		if p.OffsetNS < 0 {
			return fmt.Errorf("%s: row %d has no time; give --no-self-timed and a --request-rate", s.flags.path, i+1)
		}
		s.offsets = append(s.offsets, time.Duration(p.OffsetNS))
	}
	return nil
}

// answersOf sets the length of answers, or with 0 wants each prompt to say it.
type answersOf struct {
	dataset.Source
	tokens int
}

// Prompt implements dataset.Source.
func (a answersOf) Prompt(ctx context.Context, i int64) (dataset.Prompt, error) {
	p, err := a.Source.Prompt(ctx, i)
	if err == nil && a.tokens == 0 && p.OutputTokens == 0 {
		err = fmt.Errorf("prompt %d has no output_tokens: give --custom-output-len", i)
	}
	if a.tokens > 0 {
		p.OutputTokens = a.tokens
	}
	return p, err
}

// shuffled gives a source's prompts in another order.
type shuffled struct {
	dataset.Source
	order []int
}

// Prompt implements dataset.Source.
func (s shuffled) Prompt(ctx context.Context, i int64) (dataset.Prompt, error) {
	return s.Source.Prompt(ctx, int64(s.order[i%int64(len(s.order))]))
}

// count picks what counts tokens: the tokenizer's file when --tokenizer or --model is one,
// else the server, else an approximation. What the server adds to a completion's prompt by
// itself is found out, so that prompts have their length as the server counts.
func (s *serving) count(ctx context.Context, o *dataset.Options) error {
	server := dataset.NewServerCounter(s.base, s.params.Model, s.http())
	probe := dataset.ProbeOptions{ServerURL: s.base, Model: s.params.Model, HTTP: s.http()}
	for _, path := range []string{s.flags.tokenizer, s.flags.model} {
		if file := tokenizerFile(path); file != "" {
			return s.countByFile(ctx, o, file, probe)
		}
	}
	if _, err := server.Count(ctx, "How long is this?"); err != nil {
		s.app.say("note: the server does not count tokens (%v); lengths are approximate", err)
		o.Counter = dataset.Approximate{}
		return ctx.Err()
	}
	o.Counter = server
	return s.special(ctx, o, probe)
}

func (s *serving) countByFile(ctx context.Context, o *dataset.Options, file string, probe dataset.ProbeOptions) error {
	local, err := dataset.NewFileCounter(file)
	if err != nil {
		return err
	}
	o.Counter, probe.Local = local, local
	err = s.special(ctx, o, probe)
	if !errors.Is(err, dataset.ErrTokenizerDiffers) {
		return err
	}
	// Upstream aligns prompts with the server's tokenizer as well.
	s.app.say("warning: %v; the server counts instead", err)
	o.Counter, probe.Local = dataset.NewServerCounter(s.base, s.params.Model, s.http()), nil
	return s.special(ctx, o, probe)
}

// special finds out how many tokens the server adds. With chats that is the template's
// doing, which only a request would tell; upstream does not count it either.
func (s *serving) special(ctx context.Context, o *dataset.Options, probe dataset.ProbeOptions) error {
	if s.flags.api() == client.Chat {
		return nil
	}
	n, err := dataset.ProbeSpecialTokens(ctx, probe)
	switch {
	case errors.Is(err, dataset.ErrTokenizerDiffers) || ctx.Err() != nil:
		return err
	case err != nil:
		s.app.say("note: the server does not say how many tokens it adds to a prompt (%v); none are assumed", err)
	}
	o.SpecialTokens = n
	return nil
}

// tokenizerFile is the tokenizer.json that a path names, "" when it names none.
func tokenizerFile(path string) string {
	if path == "" {
		return ""
	}
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		path = filepath.Join(path, "tokenizer.json")
		info, err = os.Stat(path)
	}
	if err != nil || info.IsDir() {
		return ""
	}
	return path
}
