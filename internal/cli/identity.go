package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/state"
)

// recognise makes sure that a state is of the cluster at hand.
func (s *stack) recognise(ctx context.Context, st state.State) error {
	if err := s.identify(ctx, st); err != nil {
		return err
	}
	if why := s.stranger(st); why != "" {
		return fmt.Errorf("this is not the state's cluster: %s; choose the right context, or another backend path for this cluster", why)
	}
	return nil
}

// identify reads the cluster's CA where the UID of kube-system may not be seen, or where the
// state knows nothing else.
func (s *stack) identify(ctx context.Context, st state.State) error {
	needed := s.cluster.ID.UID == "" || st.ClusterUID == "" && st.ClusterCA != ""
	if !needed || s.cluster.ID.CA != "" {
		return nil
	}
	err := s.kube.LearnCA(ctx, s.homes(st)...)
	s.cluster = s.kube.Cluster()
	return err
}

// pin reads the CA, too, for a state that is going to be written: the next user may be one who
// knows the cluster by nothing else. One who may not read it leaves it out.
func (s *stack) pin(ctx context.Context) error {
	if s.cluster.ID.CA != "" {
		return nil
	}
	err := s.kube.LearnCA(ctx, s.homes(s.prior)...)
	s.cluster = s.kube.Cluster()
	if errors.Is(err, deploy.ErrForbidden) {
		return nil
	}
	return err
}

// homes are the namespaces that the stack is at home in: its user may read there.
func (s *stack) homes(st state.State) []string {
	list := []string{s.cluster.Namespace}
	if s.cfg != nil {
		list = append(list, s.cfg.Backend.Namespace)
		for _, o := range s.cfg.Objects() {
			list = append(list, o.ID.Namespace)
		}
	}
	for _, e := range st.Entries {
		list = append(list, e.ID.Namespace)
	}
	var out []string
	for _, ns := range list {
		if ns != "" && !slices.Contains(out, ns) {
			out = append(out, ns)
		}
	}
	return out
}

// stranger says why a state cannot be taken for this cluster's; "" when it can.
func (s *stack) stranger(st state.State) string {
	here := s.cluster.ID
	same, comparable := st.Cluster().Same(here)
	switch {
	case same || !st.Cluster().Known():
		return ""
	case !comparable:
		return fmt.Sprintf("the state names its cluster by %s, which you may not read here (this one is %s): somebody who may has to apply once, and the state will know both",
			st.Cluster(), here)
	}
	why := fmt.Sprintf("the state was made on the cluster %s; context %q leads to %s at %s", st.Cluster(), s.cluster.Context, here, s.cluster.Server)
	if st.ClusterUID == "" || here.UID == "" {
		why += " (or has this cluster's CA been renewed? Then somebody who may see the namespace kube-system has to apply once)"
	}
	return why
}
