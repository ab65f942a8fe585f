package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// benchCommand groups what is named as in vllm.
func (a *app) benchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Benchmark a running server with the command line of vllm bench",
		Long: `Needs no configuration and no cluster: one server's address and the flags of vllm bench serve.
For runs that are kept, repeated and compared, write a scenario and use mifbench run.`,
		Example: `  mifbench bench serve --port 8000 --dataset-name sharegpt --dataset-path ShareGPT.json --sharegpt-input-len 512 --sharegpt-output-len 512`,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.benchServeCommand())
	return cmd
}

func (a *app) benchServeCommand() *cobra.Command {
	f := newServeFlags()
	cmd := &cobra.Command{
		Use:   "serve [flags of vllm bench serve]",
		Short: "Drop-in for vllm bench serve: same flags, same block, same result file",
		Long: `Takes the command line of vllm bench serve, the published benchmark's own flags included
(--warmup-time, --cooldown-time, --max-connections-per-worker, --sharegpt-input-len,
--gutenberg-input-len …), and means the same by it. The block goes to stdout, the
conversation to stderr, --save-result writes the same file. A flag that this version cannot
obey is refused with the reason; one that has nothing to act on is named. OPENAI_API_KEY is
sent as a bearer token when it is set.

With --warmup-time or --cooldown-time the block is the published benchmark's and its figures
are of that window; without, it is upstream's, of the whole run. A client that could not keep
up says so in the block, in the file and on stderr.

With --records DIR everything is kept in a run folder there, so that mifbench report can make
any other format or window of it; without, records are deleted at the end.`,
		Example: `  mifbench bench serve --backend vllm --host 127.0.0.1 --port 8000 --dataset-name sharegpt \
    --dataset-path ShareGPT_V3_unfiltered_cleaned_split.json --sharegpt-input-len 512 \
    --sharegpt-output-len 512 --ignore-eos --num-prompts 1000 --max-concurrency 100
  mifbench bench serve --base-url https://models.example --backend openai-chat \
    --endpoint /v1/chat/completions --dataset-name gutenberg --dataset-path gutenberg \
    --gutenberg-input-len 1000 --gutenberg-output-len 200 --header x-team=perf x-run=7 --save-result`,
		// Python's command lines hold several values after one flag; they are rewritten first.
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if help, err := parsePython(cmd, f, args); help || err != nil {
				return errors.Join(err, helpIf(cmd, help))
			}
			return a.benchServe(cmd.Context(), f)
		},
	}
	f.bind(cmd.Flags())
	return cmd
}

func helpIf(cmd *cobra.Command, wanted bool) error {
	if !wanted {
		return nil
	}
	return cmd.Help()
}

// benchServe is the whole job, in upstream's order: model, prompts, ready check, warm-up
// requests, the run, the block, the file.
func (a *app) benchServe(ctx context.Context, f *serveFlags) (err error) {
	for _, note := range append(f.notes(), f.proxyNotes(a.env)...) {
		a.say("note: %s", note)
	}
	s := &serving{app: a, flags: f}
	for _, step := range []func(context.Context) error{s.target, s.prompts, s.ready, s.warm, s.run} {
		if err := step(ctx); err != nil {
			return a.interruptedOr(err)
		}
	}
	return nil
}

// interruptedOr is the error unless the user ended the work, which then is the reason.
func (a *app) interruptedOr(err error) error {
	var told *exitError
	if a.soft.Err() == nil || errors.As(err, &told) {
		return err
	}
	return &exitError{code: exitInterrupted, cause: errors.New("interrupted; nothing was measured")}
}

// proxyNotes name a proxy that upstream would obey.
func (f *serveFlags) proxyNotes(env Env) []string {
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"} {
		if env.lookup(name) != "" && !f.proxy {
			return []string{name + " is set and ignored: a detour would be measured with the server; --proxy-from-env obeys it"}
		}
	}
	return nil
}

// flagError puts the way out beside a mistake on the command line.
func flagError(err error) error {
	return fmt.Errorf("%w\nmifbench bench serve --help lists the flags", err)
}
