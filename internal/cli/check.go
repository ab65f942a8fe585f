package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"

	"github.com/mifbench/mifbench/pkg/check"
	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/state"
)

func (a *app) checkCommand() *cobra.Command {
	var vars []config.VarArg
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check [DIR]",
		Short: "Check the configuration and whether the cluster is fit for it",
		Long: `Runs the offline checks of validate and those that need the cluster: kinds, GatewayClass,
presets, room for every pod, nodes, pull secrets, namespaces, releases, rights, controllers,
and who else is at work there. It only reads, and says of each check what it saw. A check
that may not read what it needs is listed as skipped, with the reason. docs/checks.md
explains each code; disabled_checks switches one off.

What apply would change, and whether the API server accepts it (a server-side dry-run of
every object), is for plan to say; plan and apply run these checks, too.

Exit code 0 when nothing is wrong (warnings and skipped checks do not count), 1 when there
is an error or the cluster does not answer.`,
		Example: `  mifbench check
  mifbench check examples/deepseek-r1-mi300x --var-file site.mifvars
  mifbench check --json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				a.chdir = filepath.Join(a.chdir, args[0])
				if filepath.IsAbs(args[0]) {
					a.chdir = args[0]
				}
			}
			return a.runCheck(a.soft, vars, asJSON)
		},
	}
	variableFlags(cmd.Flags(), &vars)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print for machines; the format is versioned")
	return cmd
}

// examination is what the command check found out.
type examination struct {
	stack   *stack // nil when the cluster was not reached
	results []check.Result
	diags   hcl.Diagnostics
	// failures of the world; with any of them the verdict cannot be good.
	failures []string
}

func (a *app) runCheck(ctx context.Context, vars []config.VarArg, asJSON bool) error {
	cfg, diags := a.read(vars, nil)
	x := examination{diags: diags}
	if !diags.HasErrors() {
		a.inspect(ctx, cfg, &x)
	}
	if err := ctx.Err(); err != nil {
		return quiet(exitInterrupted)
	}
	if asJSON {
		return a.checkJSON(cfg, x)
	}
	failed := a.diagnose(cfg, x.diags)
	for _, f := range x.failures {
		a.say("error: %s", f)
	}
	if len(x.results) > 0 {
		header := []string{"Cluster: not reached"}
		if x.stack != nil {
			header = x.stack.header()
		}
		if err := a.outStyle().Checks(x.results, header); err != nil {
			return err
		}
	}
	if failed == nil && len(x.failures) > 0 {
		failed = quiet(exitFailed)
	}
	return failed
}

// inspect runs all checks. What hinders one part does not keep the others from running.
func (a *app) inspect(ctx context.Context, cfg *config.Config, x *examination) {
	m := check.New(cfg)
	x.results = check.Offline(m)
	s := &stack{name: cfg.Stack, cfg: cfg}
	if err := s.dial(ctx, a.where(cfg)); err != nil {
		x.failures = append(x.failures, err.Error())
		x.results = append(x.results, check.Unreached(m, "it was not reached")...)
	} else {
		x.stack = s
		id, err := s.identity(ctx)
		if err != nil {
			x.failures = append(x.failures, "the state: "+err.Error())
		}
		w := check.Read(ctx, s.view(), m, id, time.Now())
		x.failures = append(x.failures, w.Broken()...)
		x.results = append(x.results, check.Judge(m, w, check.ToCheck)...)
	}
	x.diags = append(append(x.diags, check.Diagnostics(x.results)...), check.UnknownCodes(cfg)...)
}

func (s *stack) view() clusterView { return clusterView{objects: s.kube, releases: s.helm} }

// identity is the cluster's, and what the state remembers of it.
func (s *stack) identity(ctx context.Context) (check.Identity, error) {
	id := check.Identity{Context: s.cluster.Context, Server: s.cluster.Server, Namespace: s.cluster.Namespace}
	if s.store != nil {
		return s.compared(id, s.prior), nil
	}
	store, err := s.remember(s.cfg)
	if err != nil {
		return id, err
	}
	st, err := store.Load(ctx)
	switch {
	case errors.Is(refused(err), check.ErrForbidden):
		id.StateGap = "no right to read the state"
		return id, nil
	case err != nil:
		id.StateGap = "the state could not be read"
		return id, err
	}
	// A missing right to read the identity skips one check, not all.
	if err := s.identify(ctx, st); err != nil && !errors.Is(err, deploy.ErrForbidden) {
		return id, err
	}
	return s.compared(id, st), nil
}

// compared adds what the cluster and the state say of who they are.
func (s *stack) compared(id check.Identity, st state.State) check.Identity {
	if s.cluster.ID.Known() {
		id.Cluster, id.Stranger = s.cluster.ID.String(), s.stranger(st)
	}
	if st.Cluster().Known() {
		id.State = st.Cluster().String()
	}
	return id
}

// clusterChecks runs the cluster's checks for a plan, an apply or a run, prints what they found and
// what they could not look at, and fails on an error among them. Where only a part of the stack,
// or only its state, is worked on, they warn: the error may be of another part.
func (a *app) clusterChecks(ctx context.Context, s *stack, o plan.Options, p check.Purpose) error {
	m := check.New(s.cfg)
	id, err := s.identity(ctx)
	if err != nil {
		return err
	}
	w := check.Read(ctx, s.view(), m, id, time.Now())
	if ctx.Err() != nil {
		return quiet(exitInterrupted)
	}
	results := check.Judge(m, w, p)
	diags := check.Diagnostics(results)
	if len(o.Targets)+len(o.Exclude) > 0 || o.RefreshOnly {
		for _, d := range diags {
			d.Severity = hcl.DiagWarning
		}
	}
	err = a.diagnose(s.cfg, diags)
	a.sayGaps(results)
	if list := w.Broken(); err == nil && len(list) > 0 {
		return errors.New("the cluster's state could not be read: " + strings.Join(list, "; "))
	}
	return err
}

// sayGaps tells in short which checks could not look.
func (a *app) sayGaps(results []check.Result) {
	var gaps []string
	for _, r := range results {
		if len(r.Skipped) > 0 {
			gaps = append(gaps, fmt.Sprintf("%s (%s)", r.Code, r.About))
		}
	}
	if len(gaps) > 0 {
		a.say("Not checked, or only in part: %s; mifbench check says why.", strings.Join(gaps, ", "))
	}
}
