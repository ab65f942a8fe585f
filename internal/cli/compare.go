package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mifbench/mifbench/pkg/bench/metrics"
	"github.com/mifbench/mifbench/pkg/bench/report"
)

type compareFlags struct {
	tolerance, view string
	json            bool
}

func (a *app) compareCommand() *cobra.Command {
	var f compareFlags
	cmd := &cobra.Command{
		Use:   "compare A B",
		Short: "Hold run B against run A, with a tolerance and an exit code",
		Long: `Compares B with A, scenario by scenario: two runs with several scenarios are paired by name, a
single scenario on each side is a pair whatever its name. Each side is one of

  a run folder, by path or by its name below runs/
  one scenario of it: RUN/SCENARIO
  a file made by mifbench report --json
  published:ROW  a row of the published benchmark; published: alone is the whole table

Rows with * decide: output tokens/s, goodput, mean TTFT, mean ITL, failed requests.

Exit code 3 when B is worse than A by more than the tolerance.`,
		Example: `  mifbench compare 20260101-120000 20260102-120000
  mifbench compare published:sharegpt-512 runs/20260101-120000/sharegpt-512 --tolerance 5%
  mifbench compare published: 20260101-120000 --json`,
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error { return a.compare(args[0], args[1], &f) },
	}
	fs := cmd.Flags()
	fs.StringVar(&f.tolerance, "tolerance", "3%", "how much worse is still as good, as a percentage or a share")
	fs.StringVar(&f.view, "view", "", "basis of the figures: mifbench, vllm or moreh (default the first that both have)")
	fs.BoolVar(&f.json, "json", false, "print for machines; the format is versioned")
	return cmd
}

// comparison is one pair, as --json prints it.
type comparison struct {
	A string `json:"a"`
	B string `json:"b"`
	metrics.Comparison
	Missed bool `json:"missed"`
}

// compared is what --json prints.
type compared struct {
	Version     int          `json:"version"`
	Comparisons []comparison `json:"comparisons"`
	Missed      bool         `json:"missed"`
}

func (a *app) compare(left, right string, f *compareFlags) error {
	tolerance, err := share(f.tolerance)
	if err == nil {
		err = checkView(f.view)
	}
	if err != nil {
		return err
	}
	x, errX := a.side(left)
	y, errY := a.side(right)
	if err := errors.Join(errX, errY); err != nil {
		return err
	}
	pairs, err := a.paired(x, y)
	if err != nil {
		return err
	}
	out := compared{Version: 1}
	for _, p := range pairs {
		c, err := p.compare(metrics.View(f.view), tolerance)
		if err != nil {
			return err
		}
		out.Comparisons = append(out.Comparisons, c)
		out.Missed = out.Missed || c.Missed
	}
	if err := a.printComparison(out, f.json); err != nil {
		return err
	}
	if out.Missed {
		return quiet(exitMissed)
	}
	return nil
}

func (a *app) printComparison(c compared, asJSON bool) error {
	if asJSON {
		return a.printJSON(c)
	}
	for i, p := range c.Comparisons {
		if i > 0 {
			fmt.Fprintln(a.env.Stdout)
		}
		if err := report.Comparison(a.env.Stdout, p.A, p.B, p.Comparison); err != nil {
			return err
		}
	}
	return nil
}

// share reads "3%" or "0.03".
func share(s string) (float64, error) {
	text, percent := strings.CutSuffix(strings.TrimSpace(s), "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if percent {
		x /= 100
	}
	if err != nil || !(x >= 0 && x < 1) {
		return 0, fmt.Errorf("--tolerance %q is not a percentage such as 3%% or a share such as 0.03", s)
	}
	return x, nil
}

// pair is two results to compare.
type pair struct{ a, b labelled }

// labelled is a result with how to name it.
type labelled struct {
	label string
	report.Result
}

// paired matches the two sides.
func (a *app) paired(x, y []labelled) ([]pair, error) {
	if len(x) == 1 && len(y) == 1 {
		return []pair{{x[0], y[0]}}, nil
	}
	var out []pair
	for _, l := range x {
		i := slices.IndexFunc(y, func(r labelled) bool { return r.Name == l.Name })
		if i < 0 {
			a.say("left out: %s has no counterpart", l.label)
			continue
		}
		out = append(out, pair{l, y[i]})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no scenario has the same name on both sides (%s; %s): name one scenario of each, as RUN/SCENARIO", labels(x), labels(y))
	}
	return out, nil
}

func labels(list []labelled) string {
	var names []string
	for _, l := range list {
		names = append(names, l.label)
	}
	return strings.Join(names, ", ")
}

// compare judges one pair in the view asked for, or the first that both have.
func (p pair) compare(view metrics.View, tolerance float64) (comparison, error) {
	views := metrics.Views()
	if view != "" {
		views = []metrics.View{view}
	}
	for _, v := range views {
		x, okX := p.a.Views[v]
		y, okY := p.b.Views[v]
		if !okX || !okY {
			continue
		}
		if x.SLO == nil || y.SLO == nil {
			x.SLO, y.SLO = nil, nil // goodput is of limits that only one side has
		}
		c := metrics.Compare(x, y, tolerance)
		return comparison{A: p.a.named(), B: p.b.named(), Comparison: c, Missed: c.Missed()}, nil
	}
	return comparison{}, fmt.Errorf("%s and %s share no view%s: leave --view out", p.a.label, p.b.label, strings.TrimRight(" "+string(view), " "))
}

// named adds the marks that must stand beside every figure.
func (l labelled) named() string {
	if flags := l.Flags(); len(flags) > 0 {
		return l.label + " [" + strings.Join(flags, ", ") + "]"
	}
	return l.label
}
