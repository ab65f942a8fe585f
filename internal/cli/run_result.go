package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/mifbench/mifbench/internal/runner"
	"github.com/mifbench/mifbench/pkg/bench"
	"github.com/mifbench/mifbench/pkg/bench/dataset"
	"github.com/mifbench/mifbench/pkg/bench/metrics"
	"github.com/mifbench/mifbench/pkg/bench/record"
	"github.com/mifbench/mifbench/pkg/bench/report"
	"github.com/mifbench/mifbench/pkg/config"
)

const measuredName = "measured.json"

// result is one scenario of a run: what was asked for, what the client did, and, made anew
// from the records each time, what it means.
type result struct {
	Name    string        `json:"name"`
	Plan    measuring     `json:"plan"`
	Outcome bench.Outcome `json:"outcome"`
	Notes   []string      `json:"notes,omitempty"`

	Dir    string        `json:"-"`
	Report report.Result `json:"-"`
}

// measuring is how the records are to be judged.
type measuring struct {
	Params  report.Params   `json:"params"`
	Options metrics.Options `json:"options"`
	View    metrics.View    `json:"view"`
	Dataset dataset.Info    `json:"dataset"`
}

func planOf(s config.Scenario, t *site, source dataset.Source, view string) measuring {
	info := source.Info()
	m := measuring{View: metrics.ViewMifbench, Dataset: info, Params: report.Params{
		ISL: int(s.InputTokens), OSL: int(s.OutputTokens), Dataset: s.Dataset.Name, ApproximateLengths: !info.Exact,
		MaxConcurrency: int(s.Load.MaxConcurrency), RequestRate: s.Load.RequestRate, Burstiness: report.Shape(s.Load.Burstiness),
		NumPrompts: int(s.Load.Requests), Workers: 1, EndpointType: s.API, Backend: "mifbench", Label: s.Name,
		Model: s.Model, Tokenizer: s.Tokenizer, Seed: s.Seed, Date: time.Now(),
	}}
	m.Options = metrics.Options{RequestRate: s.Load.RequestRate, MaxConcurrency: int(s.Load.MaxConcurrency), Scale: t.scale()}
	if w := s.Window; w != nil {
		m.Options.Window = metrics.WindowSpec{Warmup: w.Warmup, Cooldown: w.Cooldown, Auto: w.Auto}
		m.Params.Warmup, m.Params.Cooldown = w.Warmup, w.Cooldown
	}
	if s.Prompts > 0 && s.Prompts < s.Load.Requests { // a fixed set is sent again and again on purpose
		m.Options.ExpectedCacheHit = 1 - float64(s.Prompts)/float64(s.Load.Requests)
	}
	if s.Metrics != nil {
		m.Options.Percentiles, m.Params.MetricPercentiles = s.Metrics.Percentiles, s.Metrics.Percentiles
		m.View = metrics.View(s.Metrics.View)
	}
	if view != "" {
		m.View = metrics.View(view)
	}
	m.judge(s)
	return m
}

// judge adds the limits, the price and the reference.
func (m *measuring) judge(s config.Scenario) {
	if o := s.SLO; o != nil {
		m.Options.SLO = &metrics.SLO{TTFT: o.TTFT, ITL: o.ITL, TPOT: o.TPOT, E2EL: o.E2EL, Percentile: float64(o.Share) * 100}
		m.Params.Goodput = true
	}
	if s.Cost != nil {
		m.Options.GPUHour, m.Options.Scale.GPUs = s.Cost.GPUHour, int(s.Cost.GPUs)
	}
	r := s.Reference
	if r == nil {
		return
	}
	m.Options.Reference = &metrics.Reference{
		OutputTokensPerSecond: orZero(r.OutputTokensPerSecond), MeanTTFT: orZero(r.TTFTMillis), MeanITL: orZero(r.ITLMillis),
		Tolerance: float64(r.Tolerance), Source: r.Source,
	}
}

func orZero(f *float64) float64 {
	if f == nil {
		return 0
	}
	return *f
}

func (r *result) save() error { return runner.WriteJSON(filepath.Join(r.Dir, measuredName), r) }

// readResult reads what save wrote and summarizes the records.
func readResult(dir string, window *metrics.WindowSpec) (result, error) {
	path := filepath.Join(dir, measuredName)
	text, err := os.ReadFile(path)
	if err != nil {
		return result{}, fmt.Errorf("nothing was measured in %s: %w", dir, err)
	}
	r := result{Dir: dir}
	if err := json.Unmarshal(text, &r); err != nil {
		return result{}, fmt.Errorf("%s is damaged: %w", path, err)
	}
	if window != nil {
		r.Plan.Options.Window = *window
		r.Plan.Params.Warmup, r.Plan.Params.Cooldown = window.Warmup, window.Cooldown
	}
	return r, r.summarize()
}

// summarize makes every view from the records, and holds the client's proof against what
// they say.
func (r *result) summarize() error {
	src := record.All(filepath.Join(r.Dir, recordsName))
	views, err := metrics.SummarizeViews(src, r.Plan.Options, metrics.Views()...)
	if err != nil {
		return err
	}
	main := views[metrics.ViewMifbench]
	proof := r.Outcome.Proof
	if n := r.Plan.Params.NumPrompts; n > 0 && r.Plan.Dataset.Distinct > 0 && int64(n) > r.Plan.Dataset.Distinct && r.Plan.Options.ExpectedCacheHit == 0 {
		repeats := 1 - float64(r.Plan.Dataset.Distinct)/float64(n)
		proof.RepeatShare = &repeats
	}
	proof.TokenMismatch, proof.LittleError = figure(main.Usage.OutputMismatch), magnitude(main.Load.Little.Error)
	params := r.Plan.Params
	if whole := views[metrics.ViewVLLM].Window; r.Plan.Options.Window.Auto { // what was found stands where the flags' would
		params.Warmup, params.Cooldown = time.Duration(main.Window.From-whole.From), time.Duration(whole.To-main.Window.To)
	}
	r.Report = report.Result{
		Name: r.Name, Params: params, Views: views, Proof: proofReport(proof), Partial: r.Outcome.Interrupted,
		Notes: r.Notes, Records: src, Provenance: r.provenance(),
	}
	if survey, err := metrics.NewSurvey(src); err == nil {
		if line, err := survey.Timeline(src, timelineBins(r.Outcome.Elapsed)); err == nil {
			r.Report.Timeline = &line
		}
	}
	return nil
}

// timelineBins is how many points the curves have: 400, fewer in short runs, since bins about
// as long as the time between two tokens would draw a comb.
func timelineBins(elapsed time.Duration) int {
	const most, least, shortest = 400, 20, 200 * time.Millisecond
	return min(most, max(least, int(elapsed/shortest)))
}

func (r *result) provenance() map[string]string {
	p := map[string]string{
		"dataset": r.Plan.Dataset.Kind + " " + r.Plan.Dataset.Path, "prompt lengths": r.Plan.Dataset.LengthRule,
		"clock": string(r.Outcome.Proof.ClockSource), "seed": fmt.Sprint(r.Plan.Params.Seed),
	}
	if r.Plan.Dataset.Hash != "" {
		p["dataset sha256"] = r.Plan.Dataset.Hash
	}
	return p
}

func figure(v metrics.Value) *float64 {
	if !v.Known() {
		return nil
	}
	f := float64(v)
	return &f
}

func magnitude(v metrics.Value) *float64 {
	f := figure(v)
	if f != nil && *f < 0 {
		*f = -*f
	}
	return f
}
