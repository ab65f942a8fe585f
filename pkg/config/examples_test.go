package config_test

import (
	"strings"
	"testing"

	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/resource/kinds"
)

// exampleVars are values for the required variables of the examples.
func exampleVars() []config.VarArg {
	return []config.VarArg{
		{Assignment: "model_path=/models/DeepSeek-R1"}, {Assignment: "client_node=worker-0"}, {Assignment: "dataset_root=/data"},
	}
}

func TestExamplesLoad(t *testing.T) {
	for dir, vars := range map[string][]config.VarArg{
		"deepseek-r1-mi300x": exampleVars(),
		"rehearsal":          append(exampleVars(), config.VarArg{Assignment: "chart_repository=http://127.0.0.1:1"}),
		"endpoint":           {{Assignment: "text=/data/x.txt"}},
	} {
		t.Run(dir, func(t *testing.T) {
			c, diags := config.Load("../../examples/"+dir, config.Options{Kinds: kinds.All(), Vars: vars})
			for _, d := range diags {
				t.Errorf("%s: %s", d.Error(), d.Detail)
			}
			t.Logf("%s: %d resources, %d objects, %d scenarios", c.Stack, len(c.Resources), len(c.Objects()), len(c.Scenarios))
			for _, o := range c.Objects() {
				var deps []string
				for _, d := range o.DependsOn {
					deps = append(deps, d.String())
				}
				t.Logf("  %s = %s after [%s]", o.Address, o.ID, strings.Join(deps, ", "))
			}
		})
	}
}
