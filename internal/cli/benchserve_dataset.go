package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mifbench/mifbench/pkg/bench/dataset"
)

// servedDataset is a data set of the command line: its name, the flags that only it has, and
// what they mean.
type servedDataset struct {
	name  string
	flags []string
	// lengths are those of prompts and answers.
	lengths func(*serveFlags) (in, out int)
}

// servedDatasets is the table of data sets.
func servedDatasets() []servedDataset {
	return []servedDataset{
		{"sharegpt", []string{"sharegpt-input-len", "sharegpt-output-len"}, func(f *serveFlags) (int, int) { return f.shareIn, f.shareOut }},
		{"gutenberg", []string{"gutenberg-input-len", "gutenberg-output-len"}, func(f *serveFlags) (int, int) { return f.bookIn, f.bookOut }},
	}
}

func (f *serveFlags) datasetRow() (servedDataset, error) {
	var names []string
	for _, d := range servedDatasets() {
		if d.name == f.dataset {
			return d, nil
		}
		names = append(names, d.name)
	}
	hint := ""
	if !f.given("dataset-name") {
		hint = " (upstream's default)"
	}
	return servedDataset{}, fmt.Errorf("--dataset-name %s%s is not part of this version; use one of %s", f.dataset, hint, strings.Join(names, ", "))
}

// prompts opens the data set, with lengths counted as exactly as can be had.
func (s *serving) prompts(ctx context.Context) (dataset.Source, error) {
	f := s.flags
	d, err := f.datasetRow()
	if err != nil {
		return nil, err
	}
	in, out := d.lengths(f)
	if out == 0 {
		out = f.outputLen
	}
	var errs []error
	if in < 1 {
		errs = append(errs, fmt.Errorf("--%s is needed: prompts of the conversations' own lengths are not part of this version", d.flags[0]))
	}
	if out < 1 {
		errs = append(errs, fmt.Errorf("--%s is needed: how long answers are", d.flags[1]))
	}
	if f.path == "" {
		errs = append(errs, errors.New("--dataset-path is needed: the file or directory of "+d.name))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	s.osl = out
	o := dataset.Options{Kind: d.name, Path: f.path, Tokens: in, OutputTokens: out, Seed: f.seed, Prompts: f.numPrompts, Model: s.params.Model}
	byServer := s.counter(ctx, &o)
	source, err := dataset.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	info := source.Info()
	s.app.say("Prompts: %s %s, lengths %s", d.name, f.path, info.LengthRule)
	for _, w := range info.Warnings {
		s.app.say("warning: %s", w)
	}
	if !byServer {
		return source, nil
	}
	n := s.flags.numPrompts
	if d := source.Info().Distinct; d > 0 {
		n = min(n, d)
	}
	return s.app.prepare(ctx, source, n, o.Tokens)
}

// counter picks what counts tokens: the tokenizer's file when --tokenizer or --model is
// one, else the server itself, else an approximation. It tells whether it is the server.
func (s *serving) counter(ctx context.Context, o *dataset.Options) bool {
	for _, path := range []string{s.flags.tokenizer, s.flags.model} {
		if file := tokenizerFile(path); file != "" {
			o.TokenizerPath = file
			return false
		}
	}
	c := dataset.NewServerCounter(s.base, s.params.Model, s.http())
	if _, err := c.Count(ctx, "How long is this?"); err != nil {
		s.app.say("note: the server does not count tokens (%v); lengths are approximate", err)
		o.Counter = dataset.Approximate{}
		return false
	}
	o.Counter = c
	return true
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
