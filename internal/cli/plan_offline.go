package cli

import (
	"fmt"

	"github.com/mifbench/mifbench/internal/cli/view"
	"github.com/mifbench/mifbench/pkg/check"
	"github.com/mifbench/mifbench/pkg/plan"
)

// offlinePlan shows what the configuration stands for, asking neither cluster nor state.
func (a *app) offlinePlan(f *planFlags) error {
	switch o := f.options; {
	case o.Destroy || o.RefreshOnly || len(o.Replace) > 0:
		return fmt.Errorf("--offline shows the configuration as in an empty cluster: there is nothing to destroy, refresh or replace; leave out --destroy, --refresh-only and --replace, or --offline")
	case f.out != "":
		return fmt.Errorf("--offline makes no plan that could be applied, since no cluster was asked: leave out --out or --offline")
	}
	cfg, err := a.load(f.vars, nil)
	if err == nil {
		err = a.diagnose(cfg, check.Run(cfg))
	}
	if err != nil {
		return err
	}
	p := plan.Build(plan.Unseen(cfg.Stack, cfg.Objects(), f.options))
	if f.json {
		found, err := a.diagnosed()
		if err != nil {
			return err
		}
		return a.outStyle().PlanJSON(p, view.PlanAbout{Diagnostics: found})
	}
	header := []string{"Cluster: not asked (--offline): every object is shown as in an empty cluster", "Stack:   " + cfg.Stack}
	if err := a.outStyle().Plan(p, view.PlanOptions{Header: header}); err != nil {
		return err
	}
	if f.detailedExit && p.HasChanges() {
		return quiet(exitPending)
	}
	return nil
}
