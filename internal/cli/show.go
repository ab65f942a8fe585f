package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mifbench/mifbench/internal/cli/view"
	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/state"
)

func (a *app) showCommand() *cobra.Command {
	var vars []config.VarArg
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "show [PLANFILE]",
		Short:   "Show a saved plan, or the state",
		Example: "  mifbench show\n  mifbench show plan.bin --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return a.showSaved(args[0], asJSON)
			}
			return a.withState(cmd.Context(), vars, func(_ state.Store, st state.State) error {
				if asJSON {
					return a.printJSON(st)
				}
				return a.showState(st)
			})
		},
	}
	variableFlags(cmd.Flags(), &vars)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

func (a *app) showSaved(path string, asJSON bool) error {
	saved, err := plan.Read(path)
	if err != nil {
		return err
	}
	if asJSON {
		return a.outStyle().PlanJSON(saved.Plan, view.PlanAbout{Tool: saved.Tool, Created: saved.Created, StateSerial: saved.Basis.Serial})
	}
	return a.outStyle().Plan(saved.Plan, view.PlanOptions{Header: []string{
		fmt.Sprintf("Plan of %s, made by mifbench %s on state serial %d", saved.Created, saved.Tool, saved.Basis.Serial),
		"Stack:   " + saved.Plan.Stack,
	}})
}

// showState lists the objects with what is known of them, then the outputs.
func (a *app) showState(st state.State) error {
	if st.Lineage == "" {
		_, err := fmt.Fprintln(a.env.Stdout, "The state is empty: nothing was applied yet.")
		return err
	}
	if _, err := fmt.Fprintf(a.env.Stdout, "stack %s, serial %d, lineage %s, cluster %s\n", st.Stack, st.Serial, st.Lineage, st.Cluster()); err != nil {
		return err
	}
	for _, e := range st.Entries {
		if _, err := fmt.Fprintf(a.env.Stdout, "\n# %s\n%s: %s, %s\n", e.Address, e.ID, e.Status, e.Updated.Format("2006-01-02 15:04:05 MST")); err != nil {
			return err
		}
		for _, k := range sortedKeys(e.Facts) {
			if _, err := fmt.Fprintf(a.env.Stdout, "  %s = %s\n", k, jsonText(e.Facts[k])); err != nil {
				return err
			}
		}
	}
	if len(st.Outputs) == 0 {
		return nil
	}
	fmt.Fprintln(a.env.Stdout)
	return a.printStored(st.Outputs, nil, false, false)
}
