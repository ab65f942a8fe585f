package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mifbench/mifbench/pkg/check"
	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/plan"
)

func (a *app) destroyCommand() *cobra.Command {
	var f applyFlags
	f.options.Destroy = true
	cmd := &cobra.Command{
		Use:   "destroy",
		Short: "Remove the stack and prove that nothing of it remains",
		Long: `Deletes in reverse order, waits for each object to be gone and then looks at the cluster:
what it prints at the end is what the cluster says, not what was assumed. It works from the
state alone when the configuration is gone.`,
		Example: "  mifbench destroy\n  mifbench destroy --exclude namespace.bench",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.destroy(cmd.Context(), &f) },
	}
	f.bind(cmd.Flags())
	planningFlags(cmd, &f.options)
	cmd.Flags().BoolVar(&f.autoApprove, "auto-approve", false, "do not ask")
	return cmd
}

func (a *app) destroy(ctx context.Context, f *applyFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	s, err := a.openStack(a.soft, &f.stackFlags, f.options, check.ToApply)
	if err != nil {
		return err
	}
	return a.locked(ctx, s, "destroy", f.lockTimeout, func() error {
		p, err := s.plan(a.soft, f.options, f.parallel)
		if err != nil {
			return err
		}
		if err := a.present(s, p, f); err != nil {
			return err
		}
		if p.HasChanges() && !f.autoApprove {
			if err := a.approve(a.soft, fmt.Sprintf("Really destroy stack %s on %s? There is no undo.", s.name, s.cluster.Context)); err != nil {
				return err
			}
		}
		return a.tearDown(ctx, s, p, f)
	})
}

func (a *app) tearDown(ctx context.Context, s *stack, p plan.Plan, f *applyFlags) error {
	run, done := a.engine(s, p, f.stackFlags)
	out, err := deploy.Destroy(ctx, run)
	if e := done(); e != nil {
		err = errors.Join(err, e)
	}
	if err != nil {
		return a.ended(p, out, err, f.json)
	}
	return a.outcome(p, out, f.json)
}
