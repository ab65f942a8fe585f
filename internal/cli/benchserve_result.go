package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/mifbench/mifbench/internal/runner"
	"github.com/mifbench/mifbench/pkg/bench"
	"github.com/mifbench/mifbench/pkg/bench/metrics"
	"github.com/mifbench/mifbench/pkg/bench/record"
	"github.com/mifbench/mifbench/pkg/bench/report"
)

// run sends the load, prints the block and writes the file.
func (s *serving) run(ctx context.Context) (err error) {
	folder, done, err := s.folder()
	if err != nil {
		return err
	}
	defer func() { err = done(err) }()
	name := s.flags.scenarioName()
	dir, err := folder.Begin(name, time.Now().UTC())
	if err != nil {
		return err
	}
	r, err := s.measure(ctx, dir)
	status := runner.Done
	if err != nil || r.Outcome.Interrupted {
		status = runner.Partial
	}
	if e := folder.End(name, status, "", time.Now().UTC()); e != nil || err != nil {
		return errors.Join(err, e)
	}
	if err := s.print(r); err != nil {
		return err
	}
	switch {
	case r.Outcome.Interrupted:
		s.app.say("interrupted: %d of %d requests were sent; the figures are of those", r.Outcome.Admitted, s.flags.numPrompts)
		return quiet(exitInterrupted)
	case r.Outcome.ByStatus[record.OK] == 0:
		return fmt.Errorf("no request succeeded: %s", firstFailure(r.Report))
	}
	return nil
}

// folder is a run folder below --records, or a temporary one that is gone at the end.
// done must be called with how it ended.
func (s *serving) folder() (*runner.Folder, func(error) error, error) {
	root := s.flags.records
	done := func(err error) error {
		return err
	}
	if root == "" {
		var err error
		if root, err = os.MkdirTemp("", "mifbench-bench-"); err != nil {
			return nil, nil, fmt.Errorf("a temporary directory for the records: %w", err)
		}
		done = func(err error) error { return errors.Join(err, os.RemoveAll(root)) }
	}
	now := time.Now()
	folder, err := runner.Create(root, runner.Manifest{
		ID: now.Format("20060102-150405"), Stack: "bench serve", Tool: Version, Created: now.UTC(),
		Provenance: map[string]any{"endpoint": s.base + s.flags.endpoint, "mifbench": Version, "revision": revision()},
	}, []string{s.flags.scenarioName()})
	if err != nil {
		return nil, nil, done(err)
	}
	if s.flags.records != "" {
		done = func(err error) error {
			s.app.say("Records are kept in %s; mifbench report %s shows them in any format.", folder.Path(), folder.Path())
			return err
		}
	}
	return folder, done, nil
}

// measure sends the load, with the records going to disk.
func (s *serving) measure(ctx context.Context, dir string) (result, error) {
	r := result{Name: s.flags.scenarioName(), Dir: dir, Plan: s.plan()}
	job := s.scenario()
	job.Stop = s.app.soft.Done()
	w := &recordSink{path: filepath.Join(dir, recordsName), header: record.Header{
		Scenario: r.Name, Seed: s.flags.seed, Meta: map[string]string{"tool": Version},
	}}
	job.Started = w.started
	s.announce()
	show := func(bench.Event) {}
	if !s.flags.quiet {
		progress := s.app.benchProgress(job)
		show = progress.event
		defer progress.close()
	}
	var err error
	r.Outcome, err = bench.Run(ctx, job, w, show)
	if err = errors.Join(err, w.Close(), r.save()); err != nil {
		return r, err
	}
	err = r.summarize()
	if errors.Is(err, metrics.ErrEmptyWindow) && r.Outcome.Interrupted {
		s.app.say("warning: the run ended before the window of --warmup-time and --cooldown-time began; the figures are of all of it")
		r.Plan.Options.Window, r.Plan.View = metrics.WindowSpec{}, metrics.ViewVLLM
		r.Plan.Params.Warmup, r.Plan.Params.Cooldown = 0, 0
		err = r.summarize()
	}
	if err != nil {
		if errors.Is(err, metrics.ErrEmptyWindow) {
			err = fmt.Errorf("%w: the run took %v; shorten --warmup-time and --cooldown-time", err, r.Outcome.Elapsed.Round(time.Millisecond))
		}
		return r, err
	}
	return r, nil
}

// plan is how the records are judged.
func (s *serving) plan() measuring {
	f := s.flags
	info := s.source.Info()
	levels, _ := f.levels()
	slo, _ := f.limits()
	metadata, _ := pairs("metadata", "=", f.metadata)
	m := measuring{View: metrics.ViewVLLM, Dataset: info, Params: report.Params{
		OSL: s.osl, Dataset: f.dataset, ApproximateLengths: !info.Exact, MaxConcurrency: f.concurrency,
		RequestRate: f.finite(), Burstiness: report.Shape(f.burstiness), NumPrompts: int(f.numPrompts), Workers: 1,
		Warmup: seconds(f.warmupTime), Cooldown: seconds(f.cooldownTime), EndpointType: f.backend, Backend: f.backend,
		Label: f.label, Model: f.model, Tokenizer: f.tokenizer, Seed: f.seed, Date: time.Now(),
		MetricPercentiles: levels, PercentileMetrics: listed(f.percentileMetrics), Goodput: slo != nil,
	}}
	if m.Params.Tokenizer == "" {
		m.Params.Tokenizer = f.model
	}
	m.Params.ISL = s.isl
	if f.rampUp != "" {
		m.Params.RampUp = &report.RampUp{Strategy: f.rampUp, StartRPS: f.rampStart, EndRPS: f.rampEnd}
	}
	for _, kv := range metadata {
		m.Params.Metadata = append(m.Params.Metadata, report.Pair{Key: kv[0], Value: kv[1]})
	}
	m.Options = metrics.Options{
		Window:      metrics.WindowSpec{Warmup: m.Params.Warmup, Cooldown: m.Params.Cooldown},
		Percentiles: levels, RequestRate: f.finite(), MaxConcurrency: f.concurrency, SLO: slo,
	}
	if m.Params.Warmup > 0 || m.Params.Cooldown > 0 {
		m.View = metrics.ViewMoreh
	}
	return m
}

// print shows failures and the client's verdict on stderr and the block on stdout, and
// writes the result file.
func (s *serving) print(r result) error {
	for _, f := range r.Report.Views[metrics.ViewVLLM].Failures {
		s.app.say("  %d × %s: %s", f.Count, f.Status, f.Example)
	}
	if p := r.Report.Proof; p != nil && p.Verdict != report.ProofOK {
		s.app.say("%s: the figures may be the client's, not the server's:", p.Verdict)
		for _, why := range p.Reasons {
			s.app.say("  %s", why)
		}
	}
	data := report.Data{Results: []report.Result{r.Report}, SaveDetailed: s.flags.detailed, View: r.Plan.View}
	if err := report.VLLM(s.app.env.Stdout, data); err != nil {
		return err
	}
	if !s.flags.save && !s.flags.appendTo {
		return nil
	}
	return s.file(data)
}

// firstFailure is why requests failed; one that was never sent says least.
func firstFailure(r report.Result) string {
	text := "none was sent"
	for _, f := range r.Views[metrics.ViewVLLM].Failures {
		text = fmt.Sprintf("%s: %s", f.Status, f.Example)
		if f.Status != string(record.Dropped) {
			break
		}
	}
	return text
}

// file writes the result file under upstream's name, or appends to it.
func (s *serving) file(data report.Data) error {
	var text bytes.Buffer
	if err := report.VLLMJSON(&text, data); err != nil {
		return err
	}
	path := s.flags.fileName(data.Results[0].Params.Date)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // as any directory of results
		return fmt.Errorf("result file: %w", err)
	}
	mode := os.O_CREATE | os.O_WRONLY | os.O_TRUNC
	if s.flags.appendTo {
		mode = os.O_CREATE | os.O_WRONLY | os.O_APPEND
	}
	f, err := os.OpenFile(path, mode, 0o600)
	if err != nil {
		return fmt.Errorf("result file: %w", err)
	}
	_, err = f.Write(text.Bytes())
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("result file: %w", err)
	}
	s.app.say("Result written to %s", path)
	return nil
}

// fileName is upstream's rule for the result file's name.
func (f *serveFlags) fileName(date time.Time) string {
	if f.resultFile != "" {
		return filepath.Join(f.resultDir, f.resultFile)
	}
	first := f.label
	if first == "" {
		first = f.backend
	}
	load := pythonText(f.rate) + "qps"
	if f.rampUp != "" {
		load = fmt.Sprintf("ramp-up-%s-%dqps-%dqps", f.rampUp, f.rampStart, f.rampEnd)
	}
	if f.concurrency > 0 {
		load += fmt.Sprintf("-concurrency%d", f.concurrency)
	}
	name := fmt.Sprintf("%s-%s-%s-%s.json", first, load, filepath.Base(f.model), date.Format("20060102-150405"))
	return filepath.Join(f.resultDir, name)
}
