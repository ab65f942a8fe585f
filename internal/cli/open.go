package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/mifbench/mifbench/pkg/check"
	"github.com/mifbench/mifbench/pkg/deploy/kube"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/state"
)

// openStack loads the configuration, connects and runs the domain checks for a purpose. For a
// destroy a configuration that is gone or broken is no obstacle: the state knows what to remove.
func (a *app) openStack(ctx context.Context, f *stackFlags, o plan.Options, purpose check.Purpose) (*stack, error) {
	if !o.Destroy {
		cfg, err := a.load(f.vars, nil)
		if err == nil {
			err = a.diagnose(cfg, check.Run(cfg))
		}
		if err != nil {
			return nil, err
		}
		s, err := a.connect(ctx, cfg)
		if err == nil {
			err = a.clusterChecks(ctx, s, o, purpose)
		}
		return s, err
	}
	cfg, diags := a.read(f.vars, nil)
	if !diags.HasErrors() {
		if err := a.diagnose(cfg, diags); err != nil {
			return nil, err
		}
		return a.connect(ctx, cfg)
	}
	s, err := a.openState(ctx)
	if errors.Is(err, os.ErrNotExist) {
		return nil, a.diagnose(cfg, diags)
	}
	if err != nil {
		return nil, errors.Join(err, a.diagnose(cfg, diags))
	}
	a.say("The configuration cannot be used (mifbench validate says why); working from the state %s alone.", filepath.Join(a.chdir, defaultState))
	return s, nil
}

const defaultState = "mifbench.state.json"

// openState connects by what the state remembers of its cluster.
func (a *app) openState(ctx context.Context) (*stack, error) {
	path := filepath.Join(a.chdir, defaultState)
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	store := state.NewLocal(path)
	st, err := store.Load(ctx)
	if err != nil {
		return nil, err
	}
	s := &stack{name: st.Stack, store: store, prior: st}
	if err := s.dial(ctx, kube.Options{Kubeconfig: a.env.lookup("KUBECONFIG")}); err != nil {
		return nil, err
	}
	return s, s.recognise(ctx, st)
}
