package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/mifbench/mifbench/pkg/bench/client"
	"github.com/mifbench/mifbench/pkg/bench/dataset"
	"github.com/mifbench/mifbench/pkg/config"
)

// promptOptions are what a scenario says about its prompts. runID makes the salt of a run.
func promptOptions(s config.Scenario, runID string) (dataset.Options, error) {
	d := s.Dataset
	options, err := objectJSON(d.Options)
	if err != nil {
		return dataset.Options{}, fmt.Errorf("dataset %s: options: %w", d.Name, err)
	}
	o := dataset.Options{
		Kind: d.Kind, Path: d.Path, Column: d.Column, Language: d.Language, Options: options,
		Tokens: int(s.InputTokens), OutputTokens: int(s.OutputTokens), Seed: s.Seed, Prompts: s.Load.Requests, Salt: d.Salt,
		PromptFormat: s.PromptFormat, TokenizerPath: s.Tokenizer, Model: s.Model, RunID: runID,
	}
	if d.Seed != nil {
		o.Seed = *d.Seed
	}
	if s.Prompts > 0 {
		o.Prompts = s.Prompts
	}
	return o, nil
}

// openDataset opens a scenario's prompts. Lengths are counted by the tokenizer file where
// there is one, else by the server's own /tokenize, else approximately, which is said.
func (a *app) openDataset(ctx context.Context, s config.Scenario, base, runID string) (dataset.Source, error) {
	o, err := promptOptions(s, runID)
	if err != nil {
		return nil, err
	}
	side, err := a.sideClient(s, base)
	if err != nil {
		return nil, err
	}
	if err := a.chooseCounter(ctx, &o, base, s.API, side); err != nil {
		return nil, err
	}
	if err := a.useCache(&o); err != nil {
		return nil, err
	}
	cut, err := dataset.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	source := cut
	if s.Prompts > 0 {
		source = fixedSet{cut, s.Prompts}
	}
	n := min(orAll(s.Prompts, s.Load.Requests), s.Load.Requests)
	source, err = a.prepare(ctx, source, n, int(s.InputTokens))
	if err != nil {
		return nil, err
	}
	a.sayCache(cut)
	return source, a.sayAlike(ctx, o.Counter, source)
}

// sayShared warns of scenarios that take prompts from the same texts: what the first one sent
// may still be in a server's prefix cache when the next one begins.
func (a *app) sayShared(chosen []config.Scenario, salt bool) {
	users := map[string]int{}
	var names []string
	for _, s := range chosen {
		if s.Dataset == nil || s.Dataset.Salt || salt {
			continue
		}
		if users[s.Dataset.Name]++; users[s.Dataset.Name] == 2 {
			names = append(names, s.Dataset.Name)
		}
	}
	for _, n := range names {
		a.say("note: %d scenarios take their prompts from dataset %s; a prefix cache that lives through the run answers for what they share. run --salt prevents it", users[n], n)
	}
}

// sayAlike counts the prompts that begin like others although the dataset does not say that
// they do: a server's prefix cache would answer for a part of them.
func (a *app) sayAlike(ctx context.Context, c dataset.Counter, source dataset.Source) error {
	p, ok := source.(prepared)
	info := source.Info()
	if n := int64(len(p.prompts)); !ok || info.SharesBeginnings || info.Distinct >= 0 && info.Distinct < n {
		return nil
	}
	same, err := dataset.SameBeginning(ctx, c, p.prompts)
	if same > 0 {
		a.say("  warning: %d of %d prompts begin like an earlier one, and a prefix cache answers for a part of them; salt = true in the dataset, or run --salt, makes every beginning its own", same, len(p.prompts))
	}
	return err
}

func orAll(n, all int64) int64 {
	if n > 0 {
		return n
	}
	return all
}

// chooseCounter counts by the tokenizer file, without one the server counts when it can, and
// what the server adds to a prompt by itself is found out. A chat template's tokens are told by
// usage only, so they are left to the comparison after the run.
func (a *app) chooseCounter(ctx context.Context, o *dataset.Options, base, api string, side *http.Client) error {
	probe := dataset.ProbeOptions{ServerURL: base, Model: o.Model, HTTP: side}
	if o.TokenizerPath != "" {
		local, err := dataset.NewFileCounter(o.TokenizerPath)
		if err != nil {
			return err
		}
		o.Counter, probe.Local = local, local
	} else {
		server := dataset.NewServerCounter(base, o.Model, side)
		if _, err := server.Count(ctx, "a few words"); err != nil {
			a.say("  the server does not count tokens for us (%v)", err)
			return nil
		}
		o.Counter = server
	}
	if api == string(client.Chat) {
		return nil
	}
	var err error
	o.SpecialTokens, err = dataset.ProbeSpecialTokens(ctx, probe)
	switch {
	case errors.Is(err, dataset.ErrTokenizerDiffers):
		return err
	case err != nil:
		a.say("  the server does not say how many tokens it adds by itself (%v); none are assumed", err)
	}
	return nil
}

// fixedSet repeats the first n prompts in turn.
type fixedSet struct {
	dataset.Source
	n int64
}

// Prompt implements dataset.Source.
func (f fixedSet) Prompt(ctx context.Context, i int64) (dataset.Prompt, error) {
	return f.Source.Prompt(ctx, i%f.n)
}

// Info implements dataset.Source.
func (f fixedSet) Info() dataset.Info {
	info := f.Source.Info()
	info.Distinct = f.n
	return info
}

// prepared holds prompts that were cut before the clock started.
type prepared struct {
	dataset.Source
	prompts []dataset.Prompt
}

// Prompt implements dataset.Source.
func (p prepared) Prompt(ctx context.Context, i int64) (dataset.Prompt, error) {
	if n := int64(len(p.prompts)); i < n {
		return p.prompts[i], nil
	}
	return p.Source.Prompt(ctx, i)
}

// cutters is how many prompts are cut at a time.
const cutters = 8

// together is how many prompts in a row one of them cuts: what the prompt cache has in a file.
const together = 64

// maxPrepared bounds the text that is held ready, in bytes; longer sets are cut during the run.
const maxPrepared = 512 << 20

// prepare cuts the first n prompts, so that no request waits for its prompt.
func (a *app) prepare(ctx context.Context, source dataset.Source, n int64, tokens int) (dataset.Source, error) {
	const bytesPerToken = 6
	if n == 0 || n*int64(max(tokens, 1))*bytesPerToken > maxPrepared {
		return source, nil
	}
	start := time.Now()
	p := prepared{source, make([]dataset.Prompt, n)}
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range cutters {
		group.Go(func() error {
			for first := next.Add(together) - together; first < n; first = next.Add(together) - together {
				if err := a.cutSome(ctx, source, p.prompts[first:min(n, first+together)], first); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if took := time.Since(start); took > time.Second {
		a.say("  %d prompts ready in %s", n, took.Round(100*time.Millisecond))
	}
	return p, nil
}

// cutSome fills in some prompts, the first of which has the number first.
func (a *app) cutSome(ctx context.Context, source dataset.Source, into []dataset.Prompt, first int64) error {
	for i := range into {
		if err := a.soft.Err(); err != nil {
			return err
		}
		prompt, err := source.Prompt(ctx, first+int64(i))
		if err != nil {
			return err
		}
		into[i] = prompt
	}
	return nil
}
