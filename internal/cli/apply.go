package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/mifbench/mifbench/pkg/check"
	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/state"
)

type applyFlags struct {
	stackFlags
	options     plan.Options
	autoApprove bool
	expand      bool
}

func (a *app) applyCommand() *cobra.Command {
	var f applyFlags
	cmd := &cobra.Command{
		Use:   "apply [PLANFILE]",
		Short: "Make the cluster as the configuration says, and wait until it is ready",
		Long: `Plans, asks for approval, does exactly what the plan shows and waits until every object
is really ready. With a plan file it does what that plan showed, or refuses.

Ctrl-C once finishes what is in flight and saves; twice stops now. Exit code 130 then; the
next apply goes on.`,
		Example: `  mifbench apply
  mifbench apply --auto-approve --var client_node=node-7
  mifbench apply plan.bin`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return a.applySaved(cmd.Context(), args[0], &f)
			}
			return a.applyFresh(cmd.Context(), &f)
		},
	}
	f.bind(cmd.Flags())
	planningFlags(cmd, &f.options)
	cmd.Flags().BoolVar(&f.autoApprove, "auto-approve", false, "do not ask")
	cmd.Flags().BoolVar(&f.expand, "expand", false, "show every field of the objects behind a release")
	cmd.Flags().BoolVar(&f.options.RefreshOnly, "refresh-only", false, "bring only the state up to date")
	return cmd
}

func (a *app) applyFresh(ctx context.Context, f *applyFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	s, err := a.openStack(a.soft, &f.stackFlags, f.options, check.ToApply)
	if err != nil {
		return err
	}
	return a.locked(ctx, s, "apply", f.lockTimeout, func() error {
		p, err := s.plan(a.soft, f.options, f.parallel)
		if err != nil {
			return err
		}
		if err := a.present(s, p, f); err != nil {
			return err
		}
		if !p.HasChanges() {
			return a.refresh(ctx, s, p, f)
		}
		if !f.autoApprove {
			if err := a.approve(a.soft, fmt.Sprintf("Apply these changes to %s?", s.cluster.Context)); err != nil {
				return err
			}
		}
		return a.execute(ctx, s, p, f)
	})
}

// refresh ends an apply that has nothing to do: what the plan saw is recorded all the same, an
// object that has become ready since an interrupted apply, say.
func (a *app) refresh(ctx context.Context, s *stack, p plan.Plan, f *applyFlags) error {
	out, err := deploy.Apply(ctx, deploy.Run{Plan: p, State: s.prior, Cluster: s.cluster.ID, Drivers: s.drivers, Store: s.store})
	if err != nil {
		return a.ended(p, out, err, f.json)
	}
	return a.finish(ctx, s, p, out, f)
}

// present shows the plan; with problems it ends here.
func (a *app) present(s *stack, p plan.Plan, f *applyFlags) error {
	if !f.json {
		if err := a.showPlan(s, p, false, f.expand); err != nil {
			return err
		}
	}
	if len(p.Problems) == 0 {
		return nil
	}
	if f.json {
		if err := a.planJSON(s, p); err != nil {
			return err
		}
	}
	return quiet(exitFailed)
}

func (a *app) applySaved(ctx context.Context, path string, f *applyFlags) error {
	saved, err := plan.Read(path)
	if err != nil {
		return err
	}
	vars, err := savedVars(saved.Variables)
	if err != nil {
		return err
	}
	a.chdir, f.vars, f.options = saved.ConfigDir, append(vars, f.vars...), saved.Options
	s, err := a.openStack(a.soft, &f.stackFlags, saved.Options, check.ToApply)
	if err != nil {
		return err
	}
	return a.locked(ctx, s, "apply", f.lockTimeout, func() error {
		s.prior = saved.Identify(s.prior)
		if err := saved.CheckBasis(s.basis()); err != nil {
			return err
		}
		p, err := s.plan(a.soft, saved.Options, f.parallel)
		if err != nil {
			return err
		}
		if err := saved.CheckSame(p); err != nil {
			return err
		}
		return a.execute(ctx, s, p, f)
	})
}

// locked runs do under the state's lock.
func (a *app) locked(ctx context.Context, s *stack, operation string, timeout time.Duration, do func() error) (err error) {
	unlock, err := s.lock(ctx, operation, timeout)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	return do()
}

// execute applies the plan and says what became of it.
func (a *app) execute(ctx context.Context, s *stack, p plan.Plan, f *applyFlags) error {
	run, done := a.engine(s, p, f.stackFlags)
	out, err := deploy.Apply(ctx, run)
	if e := done(); e != nil {
		err = errors.Join(err, e)
	}
	if err != nil {
		return a.ended(p, out, err, f.json)
	}
	return a.finish(ctx, s, p, out, f)
}

// engine prepares a run; done ends the display.
func (a *app) engine(s *stack, p plan.Plan, f stackFlags) (run deploy.Run, done func() error) {
	run = deploy.Run{
		Plan: p, State: s.prior, Cluster: s.cluster.ID, Drivers: s.drivers, Store: s.store,
		Parallel: f.parallel, Stop: a.soft.Done(), Kept: s.kept(),
	}
	if f.json {
		run.Emit, done = a.outStyle().JSONEvents()
		return run, done
	}
	if a.env.StderrIsTTY {
		run.Heartbeat = time.Second
	}
	progress := a.style().NewProgress()
	run.Emit = progress.Event
	return run, progress.Close
}

// ended reports an apply or destroy that did not get to its end. The outcome lists each
// failure; what else went wrong (state not saved) is the error's to say.
func (a *app) ended(p plan.Plan, out deploy.Outcome, err error, asJSON bool) error {
	if !errors.Is(err, deploy.ErrUntouched) {
		err = errors.Join(err, a.outcome(p, out, asJSON))
	}
	switch {
	case errors.Is(err, deploy.ErrUntouched):
		return err
	case errors.Is(err, deploy.ErrUnsaved):
		return errors.Join(err, a.rescue(out.State))
	case out.Interrupted:
		return quiet(exitInterrupted)
	case len(out.Failed) > 0 || errors.Is(err, deploy.ErrRemains):
		return quiet(exitFailed)
	}
	return err
}

// rescue writes a state that the store did not take to a file beside the configuration, or
// where that fails, too, to the conversation: the last resort against objects that nobody remembers.
func (a *app) rescue(st state.State) error {
	text, err := state.Encode(st)
	if err != nil {
		return err
	}
	path := filepath.Join(a.chdir, "errored.state.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		a.say("The state, which no file took (%v); it holds no secrets:\n%s", err, text)
		return fmt.Errorf("the state could not be written to %s either (%w) and is printed above; make room and apply again, or run mifbench state recover", path, err)
	}
	return fmt.Errorf("the state was written to %s instead; make the state's place writable and apply again: it finds its objects by their owner annotations", path)
}

func (a *app) outcome(p plan.Plan, out deploy.Outcome, asJSON bool) error {
	if asJSON {
		return a.outStyle().OutcomeJSON(p, out)
	}
	return a.style().Outcome(p, out)
}

// finish records and prints the outputs after a complete apply.
func (a *app) finish(ctx context.Context, s *stack, p plan.Plan, out deploy.Outcome, f *applyFlags) error {
	if p.HasChanges() || f.json {
		if err := a.outcome(p, out, f.json); err != nil {
			return err
		}
	}
	outputs, err := a.refreshOutputs(ctx, s, out.State, f)
	if err != nil {
		return fmt.Errorf("everything is applied, but the outputs are not known: %w", err)
	}
	if f.json || len(outputs) == 0 {
		return nil
	}
	a.say("")
	return a.printOutputs(outputs)
}
