package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/mifbench/mifbench/internal/runner"
	"github.com/mifbench/mifbench/pkg/config"
)

type runFlags struct {
	stackFlags
	endpoints  []string
	out        string
	resume     string
	dryRun     bool
	local      bool
	allowDrift bool
	skipProbe  bool
	salt       bool
	view       string
}

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [SCENARIO…]",
		Short: "Run the scenarios against the stack and print the table",
		Long: `Refuses a drifted stack, probes every rank of every instance, then runs the scenarios one
after the other and prints their results. Everything is kept in a run folder: records,
summaries, provenance. Ctrl-C once ends the load and keeps what was measured, marked
partial; --resume goes on at the next unfinished scenario.

Exit code 3 when a reference or an SLO was missed.`,
		Example: `  mifbench run
  mifbench run sharegpt-512 gutenberg-512
  mifbench run --endpoint http://127.0.0.1:8000
  mifbench run --resume runs/20260101-120000`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.run(cmd.Context(), args, &f) },
	}
	f.bind(cmd.Flags())
	fs := cmd.Flags()
	fs.StringArrayVar(&f.endpoints, "endpoint", nil, "base URL to use instead of every scenario's target; no cluster is needed. Repeat it for equal servers, used in turn")
	fs.StringVar(&f.out, "out", "runs", "directory of run folders")
	fs.StringVar(&f.resume, "resume", "", "run folder to go on with")
	fs.BoolVar(&f.dryRun, "dry-run", false, "say what would be run, and how long it takes at least")
	fs.BoolVar(&f.local, "local", false, "send the load from this machine whatever the scenarios say")
	fs.BoolVar(&f.allowDrift, "allow-drift", false, "run although the stack is not as the configuration says")
	fs.BoolVar(&f.skipProbe, "skip-probe", false, "do not probe the ranks before the run")
	fs.BoolVar(&f.salt, "salt", false, "begin every prompt with a text of this run's own, so that no cache of an earlier run answers")
	fs.StringVar(&f.view, "view", "", "basis of the printed numbers: mifbench, vllm or moreh; the scenario's when absent")
	return cmd
}

// run is the whole job. Its steps each say what they do before they do it.
func (a *app) run(ctx context.Context, names []string, f *runFlags) error {
	cfg, err := a.load(f.vars, nil)
	if err != nil {
		return err
	}
	chosen, err := a.chooseScenarios(cfg, names, f)
	if err != nil {
		return err
	}
	if f.dryRun {
		return a.printSchedule(chosen)
	}
	site := &site{endpoints: f.endpoints}
	if len(f.endpoints) == 0 && needCluster(chosen) {
		if site, cfg, err = a.openSite(ctx, cfg, f); err != nil {
			return err
		}
		defer site.close()
		if chosen, err = pick(cfg, namesOf(chosen)); err != nil {
			return err
		}
	}
	folder, chosen, err := a.openFolder(cfg, chosen, site, f)
	if err != nil {
		return err
	}
	a.sayShared(chosen, f.salt)
	results, err := a.runAll(ctx, folder, chosen, site, f)
	if e := a.report(folder, results); e != nil {
		err = errors.Join(err, e)
	}
	return err
}

// chooseScenarios picks by name and refuses at once what this version cannot run.
func (a *app) chooseScenarios(cfg *config.Config, names []string, f *runFlags) ([]config.Scenario, error) {
	chosen, err := pick(cfg, names)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, s := range chosen {
		if err := runnable(s, f.local || len(f.endpoints) > 0); err != nil {
			errs = append(errs, fmt.Errorf("scenario %s: %w", s.Name, err))
		}
	}
	return chosen, errors.Join(errs...)
}

// openFolder makes a run folder, or opens the one to go on with and keeps what is unfinished.
func (a *app) openFolder(cfg *config.Config, chosen []config.Scenario, site *site, f *runFlags) (*runner.Folder, []config.Scenario, error) {
	if f.resume != "" {
		folder, err := runner.Open(f.resume)
		if err != nil {
			return nil, nil, err
		}
		rest, err := pick(cfg, folder.Unfinished())
		if err == nil && len(rest) == 0 {
			err = fmt.Errorf("run %s is complete: mifbench report %s shows it", f.resume, f.resume)
		}
		return folder, rest, err
	}
	now := time.Now()
	root := f.out
	if !filepath.IsAbs(root) {
		root = filepath.Join(a.chdir, root)
	}
	folder, err := runner.Create(root, runner.Manifest{
		ID: now.Format("20060102-150405"), Stack: cfg.Stack, Tool: Version, Created: now.UTC(), Provenance: provenance(cfg, site),
	}, namesOf(chosen))
	return folder, chosen, err
}

// runAll runs scenario after scenario. A scenario that cannot be run does not keep the others
// from running; an interrupt does.
func (a *app) runAll(ctx context.Context, folder *runner.Folder, chosen []config.Scenario, site *site, f *runFlags) ([]result, error) {
	var results []result
	failed := 0
	for i, s := range chosen {
		if a.soft.Err() != nil {
			break
		}
		a.say("[%d/%d] %s", i+1, len(chosen), describe(s))
		r, err := a.runScenario(ctx, folder, s, site, f)
		if err != nil {
			a.say("error: scenario %s: %v", s.Name, err)
			failed++
			continue
		}
		results = append(results, r)
		if err := a.printResult(r); err != nil {
			return results, err
		}
	}
	switch {
	case a.soft.Err() != nil:
		a.say("\nInterrupted; what was measured is kept. Go on with: mifbench run --resume %s", folder.Path())
		return results, &exitError{code: exitInterrupted}
	case failed > 0:
		a.say("\n%d of %d scenarios failed; go on with: mifbench run --resume %s", failed, len(chosen), folder.Path())
		return results, quiet(exitFailed)
	}
	return results, verdict(results)
}
