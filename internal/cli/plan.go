package cli

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mifbench/mifbench/internal/cli/view"
	"github.com/mifbench/mifbench/pkg/check"
	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
)

type planFlags struct {
	stackFlags
	options      plan.Options
	out          string
	detailedExit bool
	expand       bool
	offline      bool
}

func (a *app) planCommand() *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Show what apply would change, object by object",
		Long: `Reads the configuration, looks at the cluster with server-side dry-runs and shows what
apply would change. It changes nothing.

Exit code 0; with --detailed-exitcode 2 when there are changes.`,
		Example: `  mifbench plan --var-file site.mifvars
  mifbench plan --out plan.bin && mifbench apply plan.bin
  mifbench plan --offline
  mifbench plan --destroy`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.runPlan(cmd, &f) },
	}
	f.bind(cmd.Flags())
	planningFlags(cmd, &f.options)
	fs := cmd.Flags()
	fs.StringVar(&f.out, "out", "", "write the plan to this file, for apply")
	fs.BoolVar(&f.detailedExit, "detailed-exitcode", false, "exit 2 when there are changes")
	fs.BoolVar(&f.expand, "expand", false, "show every field of the objects behind a release")
	fs.BoolVar(&f.options.Destroy, "destroy", false, "plan the removal of the stack")
	fs.BoolVar(&f.offline, "offline", false, "ask neither cluster nor state: show every object as in an empty cluster")
	fs.BoolVar(&f.options.RefreshOnly, "refresh-only", false, "show only what changed outside of mifbench")
	return cmd
}

// planningFlags are the flags that plan, apply and destroy share.
func planningFlags(cmd *cobra.Command, o *plan.Options) {
	fs := cmd.Flags()
	fs.Var(addressFlag{&o.Targets}, "target", "only this block and what it needs; repeatable")
	fs.Var(addressFlag{&o.Exclude}, "exclude", "everything but this block; repeatable")
	fs.Var(addressFlag{&o.Replace}, "replace", "delete and create this block's objects; repeatable")
}

func (a *app) runPlan(cmd *cobra.Command, f *planFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	if f.offline {
		return a.offlinePlan(f)
	}
	ctx := a.soft
	s, err := a.openStack(ctx, &f.stackFlags, f.options, check.ToPlan)
	if err != nil {
		return err
	}
	p, err := s.plan(ctx, f.options, f.parallel)
	if err != nil {
		return err
	}
	if err := a.showPlan(s, p, f.json, f.expand); err != nil {
		return err
	}
	if len(p.Problems) > 0 {
		return quiet(exitFailed)
	}
	if f.out != "" {
		if err := a.savePlan(s, p, f.out, f.options); err != nil {
			return err
		}
	}
	if f.detailedExit && p.HasChanges() {
		return quiet(exitPending)
	}
	return nil
}

func (a *app) showPlan(s *stack, p plan.Plan, asJSON, expand bool) error {
	if asJSON {
		return a.planJSON(s, p)
	}
	return a.outStyle().Plan(p, view.PlanOptions{Expand: expand, Header: s.header()})
}

// planJSON prints the plan with what the text says around it.
func (a *app) planJSON(s *stack, p plan.Plan) error {
	found, err := a.diagnosed()
	if err != nil {
		return err
	}
	c := &view.PlanCluster{Context: s.cluster.Context, Server: s.cluster.Server, Version: s.cluster.Version, UID: s.cluster.ID.UID, CA: s.cluster.ID.CA}
	if s.cluster.Assumed {
		c.Kubeconfig = s.cluster.Kubeconfig
	}
	return a.outStyle().PlanJSON(p, view.PlanAbout{Cluster: c, Diagnostics: found})
}

func (a *app) savePlan(s *stack, p plan.Plan, path string, o plan.Options) error {
	dir, err := filepath.Abs(a.chdir)
	if err != nil {
		return err
	}
	given, sensitive, err := givenVariables(s.cfg)
	if err != nil {
		return err
	}
	err = plan.Write(path, plan.Saved{
		Tool: Version, Created: time.Now().UTC().Format(time.RFC3339), ConfigDir: dir,
		Variables: given, Sensitive: sensitive, Basis: s.basis(), Options: o, Plan: p,
	})
	if err != nil {
		return err
	}
	a.say("\nSaved the plan to %s. To do exactly this: mifbench apply %s", path, path)
	return nil
}

func (s *stack) basis() plan.Basis {
	b := plan.Basis{Lineage: s.prior.Lineage, Serial: s.prior.Serial, Salt: s.prior.Salt, ClusterUID: s.cluster.ID.UID, ClusterCA: s.cluster.ID.CA}
	if s.cfg != nil {
		b.ConfigHash = s.cfg.Hash
	}
	return b
}

// givenVariables are the values that did not come from defaults, as JSON values, without the
// sensitive ones: of those the plan file keeps the name only.
func givenVariables(cfg *config.Config) (given map[string]any, sensitive []string, err error) {
	if cfg == nil {
		return nil, nil, nil
	}
	given = map[string]any{}
	for _, v := range cfg.Variables {
		switch {
		case v.Source == "default":
		case v.Sensitive:
			sensitive = append(sensitive, v.Name)
		default:
			if given[v.Name], err = resource.JSON(v.Value); err != nil {
				return nil, nil, fmt.Errorf("variable %s: %w", v.Name, err)
			}
		}
	}
	return given, sensitive, nil
}

// savedVars turns a plan file's variables back into -var assignments.
func savedVars(given map[string]any) ([]config.VarArg, error) {
	names := make([]string, 0, len(given))
	for name := range given {
		names = append(names, name)
	}
	sort.Strings(names)
	var out []config.VarArg
	for _, name := range names {
		if text, ok := given[name].(string); ok {
			out = append(out, config.VarArg{Assignment: name + "=" + text})
			continue
		}
		text, err := json.Marshal(given[name])
		if err != nil {
			return nil, err
		}
		escaped := strings.NewReplacer("${", "$${", "%{", "%%{").Replace(string(text))
		out = append(out, config.VarArg{Assignment: name + "=" + escaped})
	}
	return out, nil
}
