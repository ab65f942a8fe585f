package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/mifbench/mifbench/pkg/bench/dataset"
)

func (a *app) datasetBuildCommand() *cobra.Command {
	var f promptFlags
	var out string
	cmd := &cobra.Command{
		Use: "build [PATH] --out FILE", Short: "Cut prompts into a portable file", Args: cobra.MaximumNArgs(1),
		Long: `Writes the prompts to FILE, one JSON object a line, and beside it FILE.info.json with the hashes
and the tokenizer they were cut for. A dataset block with this path, or bench serve's custom
dataset, reads them back; so do client pods that mount it, which then need neither the source
nor the tokenizer. vllm bench serve reads FILE as its custom dataset, too.`,
		Example: `  mifbench dataset build --scenario sharegpt-512 --out prompts-512.jsonl
  mifbench dataset build --tokenizer /models/r1 --tokens 512 --prompts 32400 --out p.jsonl sharegpt.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.datasetBuild(cmd.Context(), cmd, args, &f, out)
		},
	}
	f.bind(cmd)
	cmd.Flags().StringVar(&out, "out", "", "file to write")
	return cmd
}

func (a *app) datasetBuild(ctx context.Context, cmd *cobra.Command, args []string, f *promptFlags, out string) error {
	if out == "" {
		return errors.New("--out is needed: the file to write")
	}
	o, err := a.resolve(f, cmd, args)
	if err != nil {
		return err
	}
	if o.Prompts < 1 {
		return errors.New("--prompts is needed: how many prompts to cut")
	}
	start := time.Now()
	m, use, err := dataset.Build(ctx, o, out)
	if err != nil {
		return err
	}
	a.sayCacheUse(use)
	for _, w := range m.Info.Warnings {
		a.say("warning: %s", w)
	}
	if f.json {
		return a.printJSON(m)
	}
	_, err = fmt.Fprintf(a.env.Stdout, "%s: %d prompts in %s, lengths %s\nsha256 %s\n", out, m.Prompts, time.Since(start).Round(100*time.Millisecond), m.Info.LengthRule, m.FileHash)
	return err
}

func (a *app) datasetVerifyCommand() *cobra.Command {
	var f promptFlags
	cmd := &cobra.Command{
		Use: "verify [PATH]", Short: "Count every prompt again", Args: cobra.MaximumNArgs(1),
		Long: `Counts every prompt of a source, or of a file that build made, with the tokenizer, and fails
when one does not have its length, when the file is not the one that was built, or when it was
built for another tokenizer. Without --prompts all prompts of a built file are counted.`,
		Example: `  mifbench dataset verify --tokenizer /models/r1 prompts-512.jsonl
  mifbench dataset verify --scenario sharegpt-512`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.datasetVerify(cmd.Context(), cmd, args, &f) },
	}
	f.bind(cmd)
	return cmd
}

func (a *app) datasetVerify(ctx context.Context, cmd *cobra.Command, args []string, f *promptFlags) error {
	o, err := a.resolve(f, cmd, args)
	if err != nil {
		return err
	}
	r, err := dataset.Verify(ctx, o)
	if r.Checked == 0 && err != nil {
		return err
	}
	return errors.Join(a.printPrompts(r, f.json), err)
}
