package cli

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/zclconf/go-cty/cty"

	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/config/diagnostic"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
)

func (a *app) evalCommand() *cobra.Command {
	var vars []config.VarArg
	cmd := &cobra.Command{
		Use:   "eval EXPRESSION",
		Short: "Print the value of an expression",
		Long: `Evaluates an expression where the configuration's root module would, with its variables,
locals and blocks, and prints the value as JSON. What only apply will tell is said to be
unknown; sensitive values are masked.`,
		Example: `  mifbench eval 'range(8000, 8008)'
  mifbench eval heimdall.heimdall.pool
  mifbench eval '[for s in values(local.runs) : s.rate]'`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			cfg, err := a.load(vars, nil)
			if err != nil {
				return err
			}
			v, diags := config.Eval(cfg, args[0])
			if err := a.diagnose(cfg, diags); err != nil {
				return err
			}
			return a.printValue(v)
		},
	}
	variableFlags(cmd.Flags(), &vars)
	return cmd
}

func (a *app) printValue(v cty.Value) error {
	switch {
	case diagnostic.IsSensitive(v):
		_, err := fmt.Fprintln(a.env.Stdout, plan.Hidden)
		return err
	case !v.IsWhollyKnown():
		_, err := fmt.Fprintln(a.env.Stdout, "(known after apply)")
		return err
	}
	x, err := resource.JSON(v)
	if err != nil {
		return fmt.Errorf("the value cannot be shown: %w", err)
	}
	return a.printJSON(x)
}
