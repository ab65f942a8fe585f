package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/state"
)

func (a *app) importCommand() *cobra.Command {
	var f stackFlags
	cmd := &cobra.Command{
		Use:   "import ADDRESS [ID]",
		Short: "Take an existing object into the state; nothing is changed in the cluster",
		Long: `The block must be in the configuration. ID picks one of its objects, as KIND/NAME or
KIND/NAMESPACE/NAME; it may be left out when the block has one. The next plan shows what
apply would change.`,
		Example: "  mifbench import namespace.bench\n  mifbench import gateway.mif Gateway/deepseek-r1-benchmark/mif",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.mend(cmd.Context(), &f, "import", func(s *stack) (state.State, error) {
				want, err := chooseObject(s, args)
				if err != nil {
					return s.prior, err
				}
				st, err := deploy.Import(a.soft, s.drivers, want, s.prior)
				if err == nil {
					a.say("imported %s (%s); mifbench plan shows what apply would change", want.Address, want.ID)
				}
				return st, err
			})
		},
	}
	f.bind(cmd.Flags())
	return cmd
}

// chooseObject finds the object of a block that an ID means.
func chooseObject(s *stack, args []string) (resource.Object, error) {
	addr, err := resource.ParseAddress(args[0])
	if err != nil {
		return resource.Object{}, err
	}
	r, ok := s.cfg.Resource(addr)
	if !ok {
		return resource.Object{}, fmt.Errorf("the configuration has no block %s; write it first, then import", addr)
	}
	var names []string
	for _, o := range r.Objects {
		name := strings.ReplaceAll(o.ID.String(), " ", "/")
		if len(args) == 1 && len(r.Objects) == 1 || len(args) == 2 && name == args[1] {
			return o, nil
		}
		names = append(names, name)
	}
	return resource.Object{}, fmt.Errorf("%s has these objects, say which: %s", addr, strings.Join(names, ", "))
}

// makeRoom puts a state that cannot be read out of the way of a recovered one; it says where it is now.
func (a *app) makeRoom(ctx context.Context, f *stackFlags) (err error) {
	cfg, err := a.load(f.vars, nil)
	if err != nil {
		return err
	}
	s, err := a.connect(a.soft, cfg)
	if !errors.Is(err, state.ErrDamaged) {
		return err
	}
	aside, ok := s.store.(state.Aside)
	if !ok {
		return err
	}
	l, err := state.Acquire(ctx, s.store, state.NewLockInfo("state recover", time.Now()), f.lockTimeout)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Unlock(context.WithoutCancel(ctx))) }()
	where, err := aside.SetAside(ctx)
	if err != nil {
		return err
	}
	a.say("the damaged state is in %s now", where)
	return nil
}

// mend changes the state under its lock and saves it.
func (a *app) mend(ctx context.Context, f *stackFlags, operation string, change func(*stack) (state.State, error)) error {
	cfg, err := a.load(f.vars, nil)
	if err != nil {
		return err
	}
	s, err := a.connect(a.soft, cfg)
	if err != nil {
		return err
	}
	return a.locked(ctx, s, operation, f.lockTimeout, func() error {
		st, err := change(s)
		if err != nil {
			return err
		}
		st.SetCluster(s.cluster.ID)
		st.Serial++
		return s.store.Save(ctx, st)
	})
}

func (a *app) stateRecoverCommand() *cobra.Command {
	var f stackFlags
	cmd := &cobra.Command{
		Use:     "recover",
		Short:   "Rebuild a lost or damaged state from the owner annotations in the cluster",
		Example: "  mifbench state recover",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.makeRoom(cmd.Context(), &f); err != nil {
				return err
			}
			return a.mend(cmd.Context(), &f, "state recover", func(s *stack) (state.State, error) {
				st, warnings, err := deploy.Recover(a.soft, s.drivers, s.prior)
				for _, w := range warnings {
					a.say("warning: %s", w)
				}
				if err == nil {
					a.say("the state now knows %d objects of stack %s; mifbench plan compares them", len(st.Entries), s.name)
				}
				return st, err
			})
		},
	}
	f.bind(cmd.Flags())
	return cmd
}
