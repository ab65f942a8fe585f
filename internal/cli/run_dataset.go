package cli

import (
	"context"
	"fmt"

	"github.com/mifbench/mifbench/pkg/bench/dataset"
	"github.com/mifbench/mifbench/pkg/config"
)

// openDataset opens a scenario's prompts.
func openDataset(_ context.Context, s config.Scenario, _ string) (dataset.Source, error) {
	d := s.Dataset
	switch d.Kind {
	case "", "text", "gutenberg":
		seed := s.Seed
		if d.Seed != nil {
			seed = *d.Seed
		}
		return dataset.NewText(dataset.TextOptions{Path: d.Path, Tokens: int(s.InputTokens), Prompts: s.Prompts, Seed: seed})
	}
	return nil, fmt.Errorf("dataset %s: type %q is not part of this version", d.Name, d.Kind)
}
