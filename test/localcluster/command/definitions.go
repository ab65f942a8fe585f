package command

import (
	"context"

	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/mifbench/mifbench/test/localcluster/crds"
)

// definitions is the outcome of reading them.
type definitions struct {
	list []*apiext.CustomResourceDefinition
	err  error
}

// loadDefinitions reads definitions while the API server is still starting.
func loadDefinitions(ctx context.Context, which string) <-chan definitions {
	out := make(chan definitions, 1)
	if which == "none" {
		out <- definitions{}
		return out
	}
	go func() {
		list, err := crds.Load(ctx)
		out <- definitions{list, err}
	}()
	return out
}
