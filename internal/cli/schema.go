package cli

import (
	"github.com/spf13/cobra"

	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/resource/kinds"
)

func (a *app) schemaCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "Print the language as data, for editors",
		Long: `Prints every block, attribute, label and function with types, defaults, allowed values and
descriptions, from the tables that read the configuration. The format is JSON and carries
its version.`,
		Example: "  mifbench schema --json > mifbench.schema.json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return a.printJSON(config.Schema(kinds.All()))
		},
	}
	cmd.Flags().Bool("json", true, "print as JSON, the only format")
	return cmd
}
