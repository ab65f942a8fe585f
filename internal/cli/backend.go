package cli

import (
	"context"
	"fmt"

	"k8s.io/client-go/kubernetes"

	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/state"
	"github.com/mifbench/mifbench/pkg/state/kubestate"
)

// remember opens the state's store for a stack that is connected to its cluster.
func (s *stack) remember(cfg *config.Config) (state.Store, error) {
	if cfg.Backend.Type != "kubernetes" {
		return state.NewLocal(cfg.Backend.Path), nil
	}
	client, err := kubernetes.NewForConfig(s.kube.Config())
	if err != nil {
		return nil, fmt.Errorf("backend \"kubernetes\": %w", err)
	}
	namespace, name := cfg.Backend.Namespace, cfg.Backend.Name
	if namespace == "" {
		namespace = s.cluster.Namespace
	}
	if name == "" {
		name = cfg.Stack
	}
	return kubestate.New(client.CoreV1().Secrets(namespace), client.CoordinationV1().Leases(namespace), namespace, name), nil
}

// stateStore opens the store for commands that need no cluster; for the backend "kubernetes"
// they need it all the same.
func (a *app) stateStore(ctx context.Context, cfg *config.Config) (state.Store, error) {
	if cfg.Backend.Type != "kubernetes" {
		return state.NewLocal(cfg.Backend.Path), nil
	}
	s := &stack{name: cfg.Stack}
	if err := s.dial(ctx, a.where(cfg)); err != nil {
		return nil, err
	}
	return s.remember(cfg)
}
