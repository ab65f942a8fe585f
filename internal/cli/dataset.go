package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mifbench/mifbench/pkg/bench/dataset"
	"github.com/mifbench/mifbench/pkg/config"
)

func (a *app) datasetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "dataset", Short: "Look at prompts, build them into a file, verify them",
		Long: `Look at prompts, build them into a file, verify them.

Prompts that were cut are kept in mifbench/prompts of the user's cache directory.
MIFBENCH_PROMPT_CACHE names another one, or is off; MIFBENCH_PROMPT_CACHE_MAX bounds
it (4Gi by default), and what was used least recently goes first. It may be deleted at
any time.`,
		Example: "  mifbench dataset inspect --tokenizer /models/r1 --tokens 512 sharegpt.json",
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.datasetInspectCommand(), a.datasetBuildCommand(), a.datasetVerifyCommand())
	return cmd
}

// promptFlags say which prompts are meant: a scenario's of the configuration, or a source's.
type promptFlags struct {
	o        dataset.Options
	scenario string
	options  []string
	vars     []config.VarArg
	json     bool
}

func (f *promptFlags) bind(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.scenario, "scenario", "", "take dataset, tokenizer, lengths, seed and number of prompts from this scenario of the configuration")
	fs.StringVar(&f.o.Kind, "type", "auto", "what the source is; told from the path by default")
	fs.StringVar(&f.o.TokenizerPath, "tokenizer", "", "tokenizer.json of the model, or its directory")
	fs.StringVar(&f.o.ServerURL, "endpoint", "", "server whose /tokenize counts when there is no tokenizer file")
	fs.StringVar(&f.o.Model, "model", "", "the model's name at that server")
	fs.IntVar(&f.o.Tokens, "tokens", 512, "length of a prompt as the server counts it, where the source does not say")
	fs.IntVar(&f.o.SpecialTokens, "special-tokens", 0, "how many of these the server adds by itself")
	fs.IntVar(&f.o.OutputTokens, "output-tokens", 0, "output length that goes with a prompt, where the source does not say")
	fs.Int64Var(&f.o.Prompts, "prompts", 0, "number of prompts; inspect looks at 1000 when absent")
	fs.Int64Var(&f.o.Seed, "seed", 0, "seed of the choice of prompts")
	fs.StringVar(&f.o.Column, "column", "", "column of a Parquet source that holds the text")
	fs.StringVar(&f.o.Language, "language", "", "only texts of this language, where the source says it")
	fs.StringVar(&f.o.PromptFormat, "prompt-format", dataset.FormatText, "text or token_ids")
	fs.StringArrayVar(&f.options, "option", nil, "option of the dataset's type, as name=value; repeatable")
	variableFlags(fs, &f.vars)
	fs.BoolVar(&f.json, "json", false, "print for machines")
}

// resolve makes the flags, and the scenario when one is named, to options.
func (a *app) resolve(f *promptFlags, cmd *cobra.Command, args []string) (dataset.Options, error) {
	o := f.o
	if f.scenario != "" {
		var err error
		if o, err = a.scenarioPrompts(f, cmd, args); err != nil {
			return o, err
		}
	} else if len(args) == 1 {
		o.Path = args[0]
	}
	for _, s := range f.options {
		name, value, ok := strings.Cut(s, "=")
		if !ok {
			return o, fmt.Errorf("--option %s: want name=value", s)
		}
		if o.Options == nil {
			o.Options = map[string]any{}
		}
		o.Options[name] = optionValue(value)
	}
	if o.Path == "" && (o.Kind == "" || o.Kind == "auto") {
		return o, errors.New("which prompts? Give a file or directory, --type of a generated dataset, or --scenario")
	}
	if err := a.useCache(&o); err != nil {
		return o, err
	}
	return o, asBuilt(&o, cmd)
}

// asBuilt takes what a built file says about itself, unless flags say otherwise.
func asBuilt(o *dataset.Options, cmd *cobra.Command) error {
	m, err := dataset.ReadManifest(o.Path)
	if err != nil || m == nil {
		return err
	}
	if !cmd.Flags().Changed("tokens") {
		o.Tokens = m.Tokens
	}
	if !cmd.Flags().Changed("special-tokens") {
		o.SpecialTokens = m.SpecialTokens
	}
	return nil
}

// scenarioPrompts takes a scenario's options; flags that were given win.
func (a *app) scenarioPrompts(f *promptFlags, cmd *cobra.Command, args []string) (dataset.Options, error) {
	if len(args) > 0 {
		return dataset.Options{}, fmt.Errorf("--scenario %s has its own dataset; leave %s away", f.scenario, args[0])
	}
	cfg, err := a.load(f.vars, nil)
	if err != nil {
		return dataset.Options{}, err
	}
	chosen, err := pick(cfg, []string{f.scenario})
	if err != nil {
		return dataset.Options{}, err
	}
	if chosen[0].Dataset == nil {
		return dataset.Options{}, fmt.Errorf("scenario %s has no dataset", f.scenario)
	}
	o, err := promptOptions(chosen[0], "")
	o.Salt = false // it is another one in each run
	given := cmd.Flags().Changed
	for name, set := range map[string]func(){
		"type": func() { o.Kind = f.o.Kind }, "tokenizer": func() { o.TokenizerPath = f.o.TokenizerPath },
		"endpoint": func() { o.ServerURL = f.o.ServerURL }, "model": func() { o.Model = f.o.Model },
		"tokens": func() { o.Tokens = f.o.Tokens }, "special-tokens": func() { o.SpecialTokens = f.o.SpecialTokens },
		"output-tokens": func() { o.OutputTokens = f.o.OutputTokens }, "prompts": func() { o.Prompts = f.o.Prompts },
		"seed": func() { o.Seed = f.o.Seed }, "column": func() { o.Column = f.o.Column },
		"language": func() { o.Language = f.o.Language }, "prompt-format": func() { o.PromptFormat = f.o.PromptFormat },
	} {
		if given(name) {
			set()
		}
	}
	return o, err
}

// optionValue reads a number or a truth value where it is one.
func optionValue(s string) any {
	switch s {
	case "true", "false":
		return s == "true"
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil {
		return f
	}
	return s
}

func (a *app) datasetInspectCommand() *cobra.Command {
	var f promptFlags
	cmd := &cobra.Command{
		Use: "inspect [PATH]", Short: "Say what prompts a source gives: lengths, beginnings, samples, hashes", Args: cobra.MaximumNArgs(1),
		Long: `Opens a source as a run would, cuts prompts and counts them again. Nothing is sent.`,
		Example: `  mifbench dataset inspect --tokenizer /models/r1 --tokens 512 sharegpt.json
  mifbench dataset inspect --scenario sharegpt-512
  mifbench dataset inspect --type shared_prefix --tokens 2000 --option hit_rate=0.8`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.datasetInspect(cmd.Context(), cmd, args, &f) },
	}
	f.bind(cmd)
	return cmd
}

func (a *app) datasetInspect(ctx context.Context, cmd *cobra.Command, args []string, f *promptFlags) error {
	o, err := a.resolve(f, cmd, args)
	if err != nil {
		return err
	}
	n := o.Prompts
	if n == 0 {
		n = 1000
	}
	r, err := dataset.Inspect(ctx, o, n)
	if err != nil {
		return err
	}
	return a.printPrompts(r, f.json)
}
