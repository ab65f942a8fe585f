package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mifbench/mifbench/internal/runner"
	"github.com/mifbench/mifbench/pkg/bench/metrics"
	"github.com/mifbench/mifbench/pkg/bench/report"
)

// reportFlags say how records are judged again and what is made of them.
type reportFlags struct {
	format, out, view string
	warmup, cooldown  time.Duration
	auto              bool
	detailed, json    bool
	// window is set when one of its flags was given.
	window bool
}

func (a *app) reportCommand() *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use:   "report RUN [SCENARIO…]",
		Short: "Make any format of a run, over any window, from its records",
		Long: `Reads a run folder's records again and judges them anew; the run is not needed again. RUN is
the folder's path, or its name below runs/.

Without a window flag each scenario keeps the window it was run with; with one, the window is
what the flags say, and what they do not say is 0.

Formats:
` + formatList(),
		Example: `  mifbench report runs/20260101-120000
  mifbench report 20260101-120000 sharegpt-512 --warmup 120s --cooldown 70s --format vllm
  mifbench report 20260101-120000 --auto --out report.html
  mifbench report 20260101-120000 --format parquet --out events.parquet`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			fs := cmd.Flags()
			f.window = fs.Changed("warmup") || fs.Changed("cooldown") || f.auto
			return a.reportRun(args[0], args[1:], &f)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&f.format, "format", "", "one of the formats above (default text, or what --out's ending says)")
	fs.StringVar(&f.out, "out", "", "file to write instead of stdout")
	fs.StringVar(&f.view, "view", "", "basis of the formats vllm, vllm-json and markdown: mifbench, vllm or moreh; the scenario's when absent")
	fs.DurationVar(&f.warmup, "warmup", 0, "left out at the start")
	fs.DurationVar(&f.cooldown, "cooldown", 0, "left out at the end")
	fs.BoolVar(&f.auto, "auto", false, "find the steady state")
	fs.BoolVar(&f.detailed, "detailed", false, "with the arrays of each request (vllm-json)")
	fs.BoolVar(&f.json, "json", false, "the same as --format json")
	return cmd
}

func formatList() string {
	var b strings.Builder
	for _, e := range report.Formats() {
		fmt.Fprintf(&b, "  %-13s %s\n", e.Name, e.Summary)
	}
	return strings.TrimRight(b.String(), "\n")
}

func (a *app) reportRun(run string, names []string, f *reportFlags) error {
	format, err := f.entry()
	if err != nil {
		return err
	}
	if err := f.check(); err != nil {
		return err
	}
	folder, err := a.openRun(run)
	if err != nil {
		return err
	}
	results, err := a.readResults(folder, names, f.spec())
	if err != nil {
		return err
	}
	data := reportData(folder.Manifest(), results)
	data.SaveDetailed = f.detailed
	if f.view != "" || f.window { // a window of one's own is not for the whole run's view
		data.View = metrics.View(f.view)
	}
	return a.writeOut(f.out, func(w io.Writer) error { return format.Write(w, data) })
}

// entry is the format: the one named, else what the file's ending says, else text.
func (f *reportFlags) entry() (report.Entry, error) {
	name := f.format
	switch {
	case f.json && name != "" && name != "json":
		return report.Entry{}, fmt.Errorf("--json and --format %s contradict each other", name)
	case f.json:
		name = "json"
	}
	ext := filepath.Ext(f.out)
	for _, e := range report.Formats() {
		if name == "" && e.Extension == ext && ext != ".txt" {
			return e, nil
		}
	}
	if name == "" {
		name = "text"
	}
	return report.ByName(name)
}

func (f *reportFlags) check() error {
	if f.auto && (f.warmup > 0 || f.cooldown > 0) {
		return errors.New("--auto finds the window itself: leave --warmup and --cooldown out")
	}
	if f.warmup < 0 || f.cooldown < 0 {
		return errors.New("--warmup and --cooldown must not be negative")
	}
	return checkView(f.view)
}

func (f *reportFlags) spec() *metrics.WindowSpec {
	if !f.window {
		return nil
	}
	return &metrics.WindowSpec{Warmup: f.warmup, Cooldown: f.cooldown, Auto: f.auto}
}

func checkView(v string) error {
	if v == "" || slices.Contains(metrics.Views(), metrics.View(v)) {
		return nil
	}
	return fmt.Errorf("--view %q is not one of %s, %s, %s", v, metrics.ViewMifbench, metrics.ViewVLLM, metrics.ViewMoreh)
}

// openRun opens a run by path or by its name below runs/.
func (a *app) openRun(run string) (*runner.Folder, error) {
	tried := []string{a.path(run), a.path(filepath.Join("runs", run))}
	for _, path := range tried {
		folder, err := runner.Open(path)
		if !errors.Is(err, fs.ErrNotExist) {
			return folder, err
		}
	}
	return nil, fmt.Errorf("there is no run %s: neither %s nor %s is a run folder; %s", run, tried[0], tried[1], a.runsThere())
}

// path is relative to the configuration's directory.
func (a *app) path(p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(a.chdir, p)
}

// runsThere lists the newest runs, for those who mistyped one.
func (a *app) runsThere() string {
	root := a.path("runs")
	entries, err := os.ReadDir(root)
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	if err != nil || len(names) == 0 {
		return root + " holds no run"
	}
	slices.Reverse(names)
	return root + " holds " + strings.Join(names[:min(len(names), 5)], ", ")
}

// readResults judges the newest attempt of each scenario. One that has nothing to judge is
// named and left out, unless it was asked for or nothing remains.
func (a *app) readResults(folder *runner.Folder, names []string, window *metrics.WindowSpec) ([]result, error) {
	var out []result
	var left []error
	used := map[string]bool{}
	for _, s := range folder.Manifest().Scenarios {
		label, _, _ := strings.Cut(s.Name, "[")
		i := slices.IndexFunc(names, func(n string) bool { return n == s.Name || n == label })
		if len(names) > 0 && i < 0 {
			continue
		}
		if i >= 0 {
			used[names[i]] = true
		}
		r, err := readAttempt(folder, s, window)
		if err != nil {
			left = append(left, fmt.Errorf("scenario %s: %w", s.Name, err))
			continue
		}
		out = append(out, r)
	}
	for _, n := range names {
		if !used[n] {
			left = append(left, fmt.Errorf("run %s has no scenario %q, only %s", folder.Manifest().ID, n, scenarioNames(folder)))
		}
	}
	if len(out) == 0 || len(names) > 0 && len(left) > 0 {
		return nil, errors.Join(left...)
	}
	for _, err := range left {
		a.say("left out: %v", err)
	}
	return out, nil
}

func readAttempt(folder *runner.Folder, s runner.Scenario, window *metrics.WindowSpec) (result, error) {
	dir := folder.Dir(s.Name)
	if dir == "" {
		return result{}, fmt.Errorf("it was never begun; mifbench run --resume %s goes on with it", folder.Path())
	}
	r, err := readResult(dir, window)
	if errors.Is(err, metrics.ErrEmptyWindow) {
		err = fmt.Errorf("%w: the run took %v; give a shorter --warmup and --cooldown", err, r.Outcome.Elapsed.Round(time.Second))
	}
	return r, err
}

func scenarioNames(folder *runner.Folder) string {
	var names []string
	for _, s := range folder.Manifest().Scenarios {
		names = append(names, s.Name)
	}
	return strings.Join(names, ", ")
}

// writeOut writes to a file, or to stdout without one. A file is replaced when it is
// complete.
func (a *app) writeOut(path string, write func(io.Writer) error) error {
	if path == "" || path == "-" {
		return write(a.env.Stdout)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".mifbench-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	err = errors.Join(write(f), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, errors.Join(err, os.Remove(f.Name())))
	}
	a.say("Written: %s", path)
	return nil
}
