package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/deploy/ecr"
	"github.com/mifbench/mifbench/pkg/deploy/helm"
	"github.com/mifbench/mifbench/pkg/deploy/kube"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/state"
)

// stack is a configuration (or only its state) together with its cluster.
type stack struct {
	name    string
	cfg     *config.Config // nil when destroy works from state alone
	cluster kube.Cluster
	kube    *kube.Driver
	helm    *helm.Driver
	drivers map[string]deploy.Driver
	store   state.Store
	prior   state.State
}

// connect opens the cluster and the state of a configuration, and refuses a state that
// belongs to another stack or another cluster.
func (a *app) connect(ctx context.Context, cfg *config.Config) (*stack, error) {
	s := &stack{name: cfg.Stack, cfg: cfg}
	if err := s.dial(ctx, a.where(cfg)); err != nil {
		return nil, err
	}
	var err error
	if s.store, err = s.remember(cfg); err != nil {
		return nil, err
	}
	return s, s.reload(ctx)
}

func (s *stack) dial(ctx context.Context, o kube.Options) error {
	driver, err := kube.Connect(ctx, o)
	if err != nil {
		return err
	}
	releases, err := helm.New(driver.Config(), driver, helm.Options{})
	if err != nil {
		return err
	}
	s.kube, s.helm, s.cluster = driver, releases, driver.Cluster()
	s.drivers = map[string]deploy.Driver{
		resource.DriverKube: driver,
		resource.DriverHelm: releases,
		resource.DriverECR:  ecr.New(driver, ecr.Options{}),
	}
	return nil
}

// where is the cluster that a configuration names.
func (a *app) where(cfg *config.Config) kube.Options {
	return kube.Options{Kubeconfig: a.kubeconfig(cfg.Cluster.Kubeconfig), Context: cfg.Cluster.Context, Namespace: cfg.Cluster.Namespace}
}

// kubeconfig: a path in the file is relative to the file; otherwise KUBECONFIG decides.
func (a *app) kubeconfig(fromFile string) string {
	if fromFile == "" {
		return a.env.lookup("KUBECONFIG")
	}
	if !filepath.IsAbs(fromFile) {
		return filepath.Join(a.chdir, fromFile)
	}
	return fromFile
}

// reload reads the state and guards against a mix-up.
func (s *stack) reload(ctx context.Context) error {
	st, err := s.store.Load(ctx)
	if err != nil {
		return err
	}
	switch {
	case st.Lineage == "":
		st = state.New(s.name)
	case st.Stack != s.name:
		return fmt.Errorf("the state belongs to stack %q, the configuration to %q: use another backend path, or destroy the former stack first", st.Stack, s.name)
	}
	s.prior = st
	return s.recognise(ctx, st)
}

// lock takes the state's lock and reads the state again under it.
func (s *stack) lock(ctx context.Context, operation string, timeout time.Duration) (unlock func() error, err error) {
	l, err := state.Acquire(ctx, s.store, state.NewLockInfo(operation, time.Now()), timeout)
	if err != nil {
		return nil, err
	}
	unlock = func() error { return l.Unlock(context.WithoutCancel(ctx)) }
	if err = s.reload(ctx); err == nil {
		err = s.pin(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, unlock())
	}
	return unlock, nil
}

// plan looks at the cluster and plans.
func (s *stack) plan(ctx context.Context, o plan.Options, parallel int) (plan.Plan, error) {
	look := deploy.Look{Drivers: s.drivers, Stack: s.name, Prior: s.prior, Parallel: parallel}
	moved := map[resource.Address]resource.Address{}
	var desired []resource.Object
	if s.cfg != nil {
		desired = s.cfg.Objects()
		for _, m := range s.cfg.Moved {
			moved[m.From] = m.To
		}
	}
	if !o.Destroy {
		look.Desired = desired // a destroy must not fail for a chart that cannot be had any more
	}
	seen, failed := deploy.Observe(ctx, look)
	if !o.Destroy {
		desired = seen.Desired
	}
	p := plan.Build(plan.Input{
		Stack: s.name, Desired: desired, Prior: s.prior, Observations: seen.Seen, Moved: moved, Options: o,
	})
	if err := deploy.Concerning(failed, p); err != nil {
		return plan.Plan{}, err
	}
	return p, s.warnOfForeign(ctx, p)
}

// kept are the objects that the configuration leaves in the cluster.
func (s *stack) kept() []resource.ID {
	if s.cfg == nil {
		return nil
	}
	var out []resource.ID
	for _, o := range s.cfg.Objects() {
		if o.Options.KeepOnDestroy {
			out = append(out, o.ID)
		}
	}
	return out
}

// warnOfForeign notes what else a namespace holds that the plan deletes: it goes with it.
func (s *stack) warnOfForeign(ctx context.Context, p plan.Plan) error {
	for i, c := range p.Changes {
		if c.ID.Kind != "Namespace" || c.Action != plan.Delete {
			continue
		}
		var releases []string
		for _, e := range s.prior.Entries {
			if e.ID.Driver == resource.DriverHelm && e.ID.Namespace == c.ID.Name {
				releases = append(releases, e.ID.Name)
			}
		}
		foreign, gaps, err := s.kube.ForeignObjects(ctx, c.ID.Name, s.name, releases...)
		if err != nil {
			return err
		}
		for _, id := range foreign {
			p.Changes[i].Warnings = append(p.Changes[i].Warnings, fmt.Sprintf("%s is not of this stack and goes with the namespace", id))
		}
		p.Changes[i].Notes = append(p.Changes[i].Notes, gaps...)
	}
	return nil
}

// header is what a plan says of where it is about to work.
func (s *stack) header() []string {
	where := fmt.Sprintf("Cluster: context %q, %s (Kubernetes %s)", s.cluster.Context, s.cluster.Server, s.cluster.Version)
	if s.cluster.Assumed {
		where += ", the current context of " + s.cluster.Kubeconfig + ", since the configuration names none"
	}
	lines := []string{where, fmt.Sprintf("Stack:   %s", s.name)}
	if s.cluster.ID.UID == "" && s.cluster.ID.CA != "" {
		lines = append(lines, "Known by its CA (ConfigMap kube-root-ca.crt), since you may not see the namespace kube-system.")
	}
	return lines
}

// known asks the cluster for the attributes that only it can give, of the objects that exist
// by the state's word.
func (s *stack) known(ctx context.Context, st state.State) (known, error) {
	k := known{}
	for _, r := range s.cfg.Resources {
		for _, o := range r.Objects {
			if o.ID.Driver != resource.DriverKube || o.ID.Kind != "Gateway" && o.ID.Kind != "Service" {
				continue
			}
			if _, exists := st.Find(o.ID); !exists {
				continue
			}
			live, err := s.kube.LiveAttrs(ctx, o.ID)
			if err != nil {
				return nil, err
			}
			for name, v := range live {
				if k[r.Address] == nil {
					k[r.Address] = map[string]cty.Value{}
				}
				k[r.Address][name] = cty.StringVal(v)
			}
		}
	}
	return k, nil
}
