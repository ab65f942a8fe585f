package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mifbench/mifbench/pkg/check"
	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/deploy/kube"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
)

// site is where the load goes: a stack on a cluster, or just a URL.
type site struct {
	endpoints []string // from --endpoint
	stack     *stack
	forwards  []func()
	pods      []kube.Pod // the engines at the start, for the comparison afterwards
}

func (t *site) close() {
	for _, stop := range t.forwards {
		stop()
	}
}

// openSite connects, refuses a drifted stack, probes the ranks and reads the configuration
// again with the addresses that the cluster gave.
func (a *app) openSite(ctx context.Context, cfg *config.Config, f *runFlags) (*site, *config.Config, error) {
	s, err := a.connect(a.soft, cfg)
	if err != nil {
		return nil, nil, err
	}
	t := &site{stack: s}
	for _, line := range s.header() {
		a.say("%s", line)
	}
	if err := a.driftGate(s, f); err != nil {
		return nil, nil, err
	}
	if err := a.clusterChecks(a.soft, s, plan.Options{}, check.ToRun); err != nil {
		return nil, nil, err
	}
	k, err := s.known(a.soft, s.prior)
	if err != nil {
		return nil, nil, err
	}
	fresh, err := a.load(f.vars, k)
	if err != nil {
		return nil, nil, err
	}
	s.cfg = fresh
	if !f.skipProbe {
		if err := a.probe(ctx, t); err != nil {
			return nil, nil, err
		}
	}
	return t, fresh, nil
}

// driftGate: a benchmark of a stack that is not as the file says cannot be repeated.
func (a *app) driftGate(s *stack, f *runFlags) error {
	p, err := s.plan(a.soft, plan.Options{}, f.parallel)
	if err != nil {
		return err
	}
	if !p.HasChanges() && len(p.Problems) == 0 {
		a.say("The stack is as the configuration says (%d objects).", len(p.Changes))
		return nil
	}
	for _, c := range p.Changes {
		if c.Pending() {
			a.say("  %s: %s would be: %s", c.Address, c.ID, c.Action)
		}
	}
	if f.allowDrift {
		a.say("The stack is not as the configuration says; going on, since --allow-drift was given. The result says so.")
		return nil
	}
	return errors.New("the stack is not as the configuration says; run mifbench apply first, or give --allow-drift")
}

// given are the base URLs that need no cluster: those of --endpoint, or the scenario's own.
func (t *site) given(s config.Scenario) []string {
	switch {
	case len(t.endpoints) > 0:
		return t.endpoints
	case s.Endpoint != "":
		return []string{s.Endpoint}
	}
	return s.Endpoints
}

// url is the base URL of a scenario's target as this machine can reach it; of equal servers
// the first.
func (a *app) url(ctx context.Context, t *site, s config.Scenario) (string, error) {
	if s.Target == nil || len(t.endpoints) > 0 {
		all := t.given(s)
		if len(all) == 0 {
			return "", errors.New("its endpoint is not known")
		}
		return all[0], nil
	}
	given, ok := s.TargetAttrs["url"]
	if !ok || !given.IsKnown() || given.IsNull() || given.Type() != cty.String {
		return "", fmt.Errorf("%s has no address yet; its controller has not given one (mifbench plan shows its state)", s.Target)
	}
	base := given.AsString()
	if reachable(ctx, base) {
		return base, nil
	}
	return a.forward(ctx, t, *s.Target, base)
}

// reachable tries to connect, briefly: an in-cluster name or address is not for this machine.
func reachable(ctx context.Context, base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443"}[u.Scheme]
	}
	if port == "" {
		port = "80"
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return false
	}
	return c.Close() == nil
}

// forward opens a port-forward to a pod of the target.
func (a *app) forward(ctx context.Context, t *site, target resource.Address, base string) (string, error) {
	r, ok := t.stack.cfg.Resource(target)
	if !ok {
		return "", fmt.Errorf("%s is not in the configuration", target)
	}
	u, err := url.Parse(base)
	if err != nil {
		return "", fmt.Errorf("%s: address %q: %w", target, base, err)
	}
	port := 80
	if p, err := strconv.Atoi(u.Port()); err == nil {
		port = p
	}
	for _, o := range r.Objects {
		pods, err := t.stack.kube.PodsOf(ctx, o.ID)
		if err != nil {
			return "", err
		}
		for _, p := range pods {
			if !p.Ready {
				continue
			}
			addr, stop, err := t.stack.kube.PortForward(ctx, p.Namespace, p.Name, port)
			if err != nil {
				return "", err
			}
			t.forwards = append(t.forwards, stop)
			a.say("%s is not reachable from here; going through a port-forward to pod %s. Its delay is in every number.", base, p.Name)
			return "http://" + addr, nil
		}
	}
	return "", fmt.Errorf("%s (%s) is not reachable from here and has no ready pod to forward to", target, base)
}
