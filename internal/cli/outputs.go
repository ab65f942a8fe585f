package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/spf13/cobra"

	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/state"
)

// refreshOutputs evaluates the outputs with what only the cluster knows and keeps those that
// are not sensitive in the state.
func (a *app) refreshOutputs(ctx context.Context, s *stack, st state.State, f *applyFlags) ([]config.Output, error) {
	if s.cfg == nil || len(s.cfg.Outputs) == 0 {
		return nil, nil
	}
	k, err := s.known(ctx, st)
	if err != nil {
		return nil, err
	}
	cfg, err := a.load(f.vars, k)
	if err != nil {
		return nil, err
	}
	values := map[string]any{}
	for _, o := range cfg.Outputs {
		if v, ok := outputValue(o); ok && !o.Sensitive {
			values[o.Name] = v
		}
	}
	if reflect.DeepEqual(values, st.Outputs) || st.Serial == 0 {
		return cfg.Outputs, nil
	}
	st = st.Clone()
	st.Outputs = values
	st.Serial++
	return cfg.Outputs, s.store.Save(ctx, st)
}

func (a *app) printOutputs(outputs []config.Output) error {
	if _, err := fmt.Fprintln(a.env.Stdout, "Outputs:"); err != nil {
		return err
	}
	for _, o := range outputs {
		if _, err := fmt.Fprintf(a.env.Stdout, "  %s = %s\n", o.Name, outputText(o)); err != nil {
			return err
		}
	}
	return nil
}

// outputValue is an output's JSON value; ok is false while apply has not told it.
func outputValue(o config.Output) (v any, ok bool) {
	if !o.Value.IsWhollyKnown() {
		return nil, false
	}
	v, err := resource.JSON(o.Value)
	return v, err == nil
}

func outputText(o config.Output) string {
	v, ok := outputValue(o)
	switch {
	case o.Sensitive:
		return plan.Hidden
	case !ok:
		return "(not known yet)"
	}
	return jsonText(v)
}

func jsonText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("an output does not marshal: %v", err))
	}
	return string(text)
}

func (a *app) outputCommand() *cobra.Command {
	var f struct {
		stackFlags
		raw bool
	}
	cmd := &cobra.Command{
		Use:     "output [NAME]",
		Short:   "Print the outputs of the last apply",
		Example: "  mifbench output --raw endpoint",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := a.load(f.vars, nil)
			if err != nil {
				return err
			}
			store, err := a.stateStore(cmd.Context(), cfg)
			if err != nil {
				return err
			}
			st, err := store.Load(cmd.Context())
			if err != nil {
				return err
			}
			return a.printStored(st.Outputs, args, f.raw, f.json)
		},
	}
	variableFlags(cmd.Flags(), &f.vars)
	cmd.Flags().BoolVar(&f.raw, "raw", false, "print a string without quotes")
	cmd.Flags().BoolVar(&f.json, "json", false, "print as JSON")
	return cmd
}

func (a *app) printStored(outputs map[string]any, args []string, raw, asJSON bool) error {
	if len(args) == 0 {
		if asJSON {
			_, err := fmt.Fprintln(a.env.Stdout, jsonText(outputs))
			return err
		}
		for _, name := range sortedKeys(outputs) {
			if _, err := fmt.Fprintf(a.env.Stdout, "%s = %s\n", name, jsonText(outputs[name])); err != nil {
				return err
			}
		}
		return nil
	}
	v, ok := outputs[args[0]]
	if !ok {
		return fmt.Errorf("the state holds no output %q; outputs are recorded by apply, sensitive ones never", args[0])
	}
	text := jsonText(v)
	if s, isString := v.(string); isString && raw {
		text = s
	}
	_, err := fmt.Fprintln(a.env.Stdout, text)
	return err
}
