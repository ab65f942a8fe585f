package cli

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"

	"github.com/mifbench/mifbench/pkg/check"
	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/config/diagnostic"
)

func (a *app) validateCommand() *cobra.Command {
	var vars []config.VarArg
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "validate",
		Short: "Check the configuration without a cluster",
		Long: `Reads the configuration and reports every mistake that can be seen without a cluster: of
the language, of the blocks, and of the domain (docs/checks.md lists the domain checks and
how to switch one off).

Exit code 0 when there are no errors; warnings do not count.`,
		Example: `  mifbench validate
  mifbench validate --chdir examples/deepseek-r1-mi300x --var-file site.mifvars
  mifbench validate --json`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			cfg, diags := a.examine(vars)
			if asJSON {
				return a.validateJSON(cfg, diags)
			}
			if err := a.diagnose(cfg, diags); err != nil {
				return err
			}
			_, err := fmt.Fprintln(a.env.Stdout, success(cfg, diags))
			return err
		},
	}
	variableFlags(cmd.Flags(), &vars)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print for machines, in the form of terraform validate -json")
	return cmd
}

// examine reads the configuration and, when it loads, runs the domain checks.
func (a *app) examine(vars []config.VarArg) (*config.Config, hcl.Diagnostics) {
	cfg, diags := a.read(vars, nil)
	if !diags.HasErrors() {
		diags = append(diags, check.Run(cfg)...)
	}
	return cfg, diags
}

func (a *app) validateJSON(cfg *config.Config, diags hcl.Diagnostics) error {
	out, err := diagnostic.JSON(cfg.Files, diags)
	if err != nil {
		return err
	}
	if _, err := a.env.Stdout.Write(out); err != nil {
		return err
	}
	if diags.HasErrors() {
		return quiet(exitFailed)
	}
	return nil
}

// success is the last line for a configuration without errors.
func success(cfg *config.Config, diags hcl.Diagnostics) string {
	text := "Success! The configuration is valid"
	if n := len(diags); n > 0 {
		text += ", with " + counted(n, "warning")
	}
	return fmt.Sprintf("%s: %s.", text, strings.Join([]string{
		counted(len(cfg.Resources), "resource"), counted(len(cfg.Objects()), "object"), counted(len(cfg.Scenarios), "scenario"),
	}, ", "))
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
