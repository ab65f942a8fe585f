package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/mifbench/mifbench/pkg/bench/calibrate"
	"github.com/mifbench/mifbench/pkg/bench/client"
	"github.com/mifbench/mifbench/pkg/config"
)

type calibrateFlags struct {
	limit, gap time.Duration
	streams    []int
	scenario   string
	vars       []config.VarArg
	json       bool
}

func (a *app) calibrateCommand() *cobra.Command {
	var f calibrateFlags
	cmd := &cobra.Command{
		Use:   "calibrate",
		Short: "Measure what this machine's client can time correctly",
		Long: `Starts mifbench simulate --stamp as a process of its own and runs loads against it whose every
token carries the server's send time, then compares with the client's stamps. The largest load
whose inter-token times are right is the limit. Client and server share the machine, so it is
a lower bound.

With --scenario that scenario's streams are tried at its token rate: its reference's tokens/s,
or what --itl makes of its max_concurrency. The last line says whether both fit; exit code 3
when they do not.`,
		Example: `  mifbench calibrate
  mifbench calibrate --time 60s --itl 20ms --streams 200,500,1000
  mifbench calibrate --scenario sharegpt-512`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.calibrate(cmd.Context(), &f) },
	}
	fs := cmd.Flags()
	fs.DurationVar(&f.limit, "time", 20*time.Second, "about how long to measure in all")
	fs.DurationVar(&f.gap, "itl", 164*time.Millisecond, "time between two tokens of a stream; the default is the published stack's")
	fs.IntSliceVar(&f.streams, "streams", calibrate.DefaultStreams(), "loads that may be tried, in streams")
	fs.StringVar(&f.scenario, "scenario", "", "scenario of the configuration that must fit")
	variableFlags(fs, &f.vars)
	fs.BoolVar(&f.json, "json", false, "print for machines")
	return cmd
}

// calibrated is what --json prints.
type calibrated struct {
	calibrate.Limit
	Scenario string           `json:"scenario,omitempty"`
	Need     *calibrationNeed `json:"need,omitempty"`
	Fits     *bool            `json:"fits,omitempty"`
	Why      string           `json:"why,omitempty"`
}

// calibrationNeed is the load that must be timed correctly.
type calibrationNeed struct {
	Streams         int     `json:"streams"`
	TokensPerSecond float64 `json:"tokensPerSecond"`
}

func (a *app) calibrate(ctx context.Context, f *calibrateFlags) error {
	if f.limit <= 0 || f.gap < time.Millisecond || len(f.streams) == 0 || slices.Min(f.streams) < 1 {
		return errors.New("--time must be above 0, --itl at least 1ms, and --streams a list of numbers above 0")
	}
	need, err := a.need(f)
	if err != nil {
		return err
	}
	base, stop, err := a.startStamping(a.soft, f.gap)
	if err != nil {
		return err
	}
	defer stop()
	plan := calibrate.Plan{
		Client: client.Options{BaseURLs: []string{base}, API: client.Completions, Timeouts: client.DefaultTimeouts()},
		Params: client.Params{Model: stampModel}, Hold: time.Second, Bounds: calibrate.DefaultBounds(),
	}
	out := calibrated{Scenario: f.scenario, Need: need}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(a.soft, cancel)()
	out.Limit, err = a.bisect(ctx, plan, f)
	if a.soft.Err() != nil {
		return quiet(exitInterrupted)
	}
	if err != nil {
		return err
	}
	if need != nil {
		// A level counts when the server sent 98 % of what it was asked for.
		ok, why := out.Limit.Fits(need.Streams, 0.98*need.TokensPerSecond)
		out.Fits, out.Why = &ok, why
	}
	return a.printCalibration(out, f.json)
}

// need is the scenario's load, nil without one; it is tried first.
func (a *app) need(f *calibrateFlags) (*calibrationNeed, error) {
	if f.scenario == "" {
		return nil, nil
	}
	cfg, err := a.load(f.vars, nil)
	if err != nil {
		return nil, err
	}
	chosen, err := pick(cfg, []string{f.scenario})
	if err != nil {
		return nil, err
	}
	s := chosen[0]
	n := int(s.Load.MaxConcurrency)
	if n == 0 {
		return nil, fmt.Errorf("scenario %s has no max_concurrency, so the number of its streams is not known; give --streams N instead", s.Name)
	}
	if r := s.Reference; r != nil && r.OutputTokensPerSecond != nil && *r.OutputTokensPerSecond > 0 {
		f.gap = time.Duration(float64(n) / *r.OutputTokensPerSecond * float64(time.Second))
	}
	if f.gap < time.Millisecond {
		return nil, fmt.Errorf("scenario %s: its reference is %.0f tokens/s with %d streams, a token each %v; the stamping server sends one a millisecond at most", s.Name, *s.Reference.OutputTokensPerSecond, n, f.gap)
	}
	f.streams = append(slices.DeleteFunc(f.streams, func(k int) bool { return k >= n }), n)
	return &calibrationNeed{Streams: n, TokensPerSecond: float64(n) / f.gap.Seconds()}, nil
}

// bisect finds the largest load that is timed correctly within the time given: the largest
// first when a scenario asks for it, else the middle of what is left.
func (a *app) bisect(ctx context.Context, p calibrate.Plan, f *calibrateFlags) (calibrate.Limit, error) {
	var out calibrate.Limit
	loads := slices.Compact(slices.Sorted(slices.Values(f.streams)))
	over := time.Now().Add(f.limit)
	lo, hi := 0, len(loads)
	for first := true; lo < hi; first = false {
		i := (lo + hi) / 2
		if first && f.scenario != "" {
			i = hi - 1
		}
		ramp := time.Duration(loads[i]) * time.Second / 2000
		if !first && time.Now().Add(ramp+2*time.Second+p.Hold).After(over) {
			break
		}
		l, err := calibrate.Measure(ctx, p, loads[i], f.gap)
		if err != nil {
			return out, fmt.Errorf("%d streams: %w", loads[i], err)
		}
		a.say("%d streams: %s", l.Streams, map[bool]string{true: "timed correctly", false: "not"}[l.OK])
		out.Levels = append(out.Levels, l)
		if l.OK {
			lo, out.Streams, out.TokensPerSecond = i+1, l.Streams, l.TokensPerSecond
		} else {
			hi, out.Reached = i, true
		}
	}
	slices.SortFunc(out.Levels, func(x, y calibrate.Level) int { return cmp.Compare(x.Streams, y.Streams) })
	return out, nil
}

func (a *app) printCalibration(c calibrated, asJSON bool) error {
	var err error
	if asJSON {
		err = a.printJSON(c)
	} else {
		err = a.calibrationTable(c)
	}
	if err == nil && c.Fits != nil && !*c.Fits {
		return quiet(exitMissed)
	}
	return err
}

func (a *app) calibrationTable(c calibrated) error {
	text := fmt.Sprintf("%8s %10s %12s %12s %12s %10s  %s\n", "streams", "tokens/s", "ITL err p50", "p99", "p99.9", "coalesced", "timed correctly")
	for _, l := range c.Levels {
		ok := "yes"
		if !l.OK {
			ok = "no: " + l.Reasons[0]
		}
		text += fmt.Sprintf("%8d %10.0f %12v %12v %12v %9.3f%%  %s\n", l.Streams, l.TokensPerSecond,
			l.ITLError.P50, l.ITLError.P99, l.ITLError.P999, 100*l.Coalesced, ok)
	}
	text += fmt.Sprintf("This machine times %d streams at %.0f tokens/s correctly, with the server beside it.\n", c.Streams, c.TokensPerSecond)
	if c.Fits != nil {
		verdict := map[bool]string{true: "fits", false: "does not fit"}[*c.Fits]
		text += fmt.Sprintf("Scenario %s, %d streams at %.0f tokens/s, %s: %s.\n", c.Scenario, c.Need.Streams, c.Need.TokensPerSecond, verdict, c.Why)
	}
	_, err := fmt.Fprint(a.env.Stdout, text)
	return err
}
