package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/state"
)

func (a *app) stateCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "state", Example: "  mifbench state list", Short: "Look at and mend the state", RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(a.stateListCommand(), a.stateShowCommand(), a.statePullCommand(), a.stateRemoveCommand(), a.stateRecoverCommand())
	return cmd
}

// withState gives a command the store and the state; no cluster is needed.
func (a *app) withState(ctx context.Context, vars []config.VarArg, do func(state.Store, state.State) error) error {
	cfg, err := a.load(vars, nil)
	if err != nil {
		return err
	}
	store, err := a.stateStore(ctx, cfg)
	if err != nil {
		return err
	}
	st, err := store.Load(ctx)
	if err != nil {
		return err
	}
	return do(store, st)
}

func (a *app) stateListCommand() *cobra.Command {
	var vars []config.VarArg
	cmd := &cobra.Command{
		Use: "list [ADDRESS]", Example: "  mifbench state list\n  mifbench state list gateway.mif", Short: "List the objects that the stack owns", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withState(cmd.Context(), vars, func(_ state.Store, st state.State) error {
				entries := st.Entries
				if len(args) == 1 {
					addr, err := resource.ParseAddress(args[0])
					if err != nil {
						return err
					}
					entries = st.At(addr)
				}
				for _, e := range entries {
					if _, err := fmt.Fprintf(a.env.Stdout, "%s  %s  %s\n", e.Address, e.ID, e.Status); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	variableFlags(cmd.Flags(), &vars)
	return cmd
}

func (a *app) stateShowCommand() *cobra.Command {
	var vars []config.VarArg
	cmd := &cobra.Command{
		Use: "show ADDRESS", Example: "  mifbench state show 'inference_service.decode'", Short: "Show what is recorded of a block's objects", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			addr, err := resource.ParseAddress(args[0])
			if err != nil {
				return err
			}
			return a.withState(cmd.Context(), vars, func(_ state.Store, st state.State) error {
				entries := st.At(addr)
				if len(entries) == 0 {
					return fmt.Errorf("the state knows nothing of %s; mifbench state list shows what it knows", addr)
				}
				return a.printJSON(entries)
			})
		},
	}
	variableFlags(cmd.Flags(), &vars)
	return cmd
}

func (a *app) statePullCommand() *cobra.Command {
	var vars []config.VarArg
	cmd := &cobra.Command{
		Use: "pull", Example: "  mifbench state pull > state.json", Short: "Print the whole state; it holds no secrets", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withState(cmd.Context(), vars, func(_ state.Store, st state.State) error {
				text, err := state.Encode(st)
				if err != nil {
					return err
				}
				_, err = a.env.Stdout.Write(text)
				return err
			})
		},
	}
	variableFlags(cmd.Flags(), &vars)
	return cmd
}

func (a *app) stateRemoveCommand() *cobra.Command {
	var vars []config.VarArg
	cmd := &cobra.Command{
		Use: "rm ADDRESS…", Example: "  mifbench state rm manifest.client", Short: "Forget a block's objects; they stay in the cluster", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withState(cmd.Context(), vars, func(store state.Store, _ state.State) error {
				return a.forget(cmd.Context(), store, args)
			})
		},
	}
	variableFlags(cmd.Flags(), &vars)
	return cmd
}

func (a *app) forget(ctx context.Context, store state.Store, args []string) (err error) {
	lock, err := state.Acquire(ctx, store, state.NewLockInfo("state rm", time.Now()), 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock(context.WithoutCancel(ctx))) }()
	st, err := store.Load(ctx)
	if err != nil {
		return err
	}
	st = st.Clone()
	for _, arg := range args {
		addr, err := resource.ParseAddress(arg)
		if err != nil {
			return err
		}
		entries := st.At(addr)
		if len(entries) == 0 {
			return fmt.Errorf("the state knows nothing of %s; nothing was changed", addr)
		}
		for _, e := range entries {
			st.Drop(e.ID)
			a.say("forgot %s (%s); it stays in the cluster", addr, e.ID)
		}
	}
	st.Serial++
	return store.Save(ctx, st)
}

func (a *app) forceUnlockCommand() *cobra.Command {
	var vars []config.VarArg
	cmd := &cobra.Command{
		Use: "force-unlock ID", Example: "  mifbench force-unlock 5c3f2a9e", Short: "Break a lock whose holder is gone", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withState(cmd.Context(), vars, func(store state.Store, _ state.State) error {
				if err := store.ForceUnlock(cmd.Context(), args[0]); err != nil {
					return err
				}
				a.say("the lock %s is broken", args[0])
				return nil
			})
		},
	}
	variableFlags(cmd.Flags(), &vars)
	return cmd
}
