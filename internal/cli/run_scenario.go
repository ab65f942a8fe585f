package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mifbench/mifbench/internal/runner"
	"github.com/mifbench/mifbench/pkg/bench"
	"github.com/mifbench/mifbench/pkg/bench/arrival"
	"github.com/mifbench/mifbench/pkg/bench/client"
	"github.com/mifbench/mifbench/pkg/bench/dataset"
	"github.com/mifbench/mifbench/pkg/bench/record"
	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/resource"
)

const recordsName = "records.mifr"

// runScenario runs one scenario, keeps its records and returns its result. What was measured
// is kept also when it ends early.
func (a *app) runScenario(ctx context.Context, folder *runner.Folder, s config.Scenario, t *site, f *runFlags) (result, error) {
	base, err := a.url(ctx, t, s)
	if err != nil {
		return result{}, err
	}
	if f.salt && s.Dataset != nil {
		d := *s.Dataset
		d.Salt, s.Dataset = true, &d
	}
	source, err := a.source(ctx, s, base, folder.NextAttempt(s.Name))
	if err != nil {
		return result{}, err
	}
	dir, err := folder.Begin(s.Name, time.Now().UTC())
	if err != nil {
		return result{}, err
	}
	r, err := a.measure(ctx, dir, s, t, base, source, f)
	if err == nil {
		err = a.watch(ctx, t, &r)
	}
	if err == nil && !r.Outcome.Interrupted && r.Outcome.ByStatus[record.OK] == 0 {
		err = fmt.Errorf("no request succeeded: %s", firstFailure(r.Report))
	}
	status, message := runner.Done, ""
	switch {
	case err != nil && r.Outcome.ByStatus[record.OK] == 0:
		status, message = runner.Failed, err.Error()
	case err != nil || r.Outcome.Interrupted:
		status, message = runner.Partial, "ended early"
		if err != nil {
			message = err.Error()
		}
	}
	return r, errors.Join(err, folder.End(s.Name, status, message, time.Now().UTC()))
}

// source opens the scenario's prompts and says how exact their lengths are.
func (a *app) source(ctx context.Context, s config.Scenario, base, runID string) (dataset.Source, error) {
	source, err := a.openDataset(ctx, s, base, runID)
	if err != nil {
		return nil, err
	}
	info := source.Info()
	if !info.Exact {
		a.say("  prompt lengths are %s", info.LengthRule)
	}
	for _, w := range info.Warnings {
		a.say("  warning: %s", w)
	}
	return source, nil
}

// startUp is how long a gateway may answer for a scheduler that is not there yet: the picker calls itself
// SERVING a moment before it listens.
const startUp = 30 * time.Second

// measure sends the load, with the records going to disk.
func (a *app) measure(ctx context.Context, dir string, s config.Scenario, t *site, base string, source dataset.Source, f *runFlags) (result, error) {
	r := result{Name: s.Name, Dir: dir, Plan: planOf(s, t, source, f.view)}
	job, err := benchScenario(s, base, source)
	if err != nil {
		return r, err
	}
	if all := t.given(s); len(all) > 1 {
		job.Client.BaseURLs = all
	}
	job.Stop = a.soft.Done()
	job.Insist, job.Insisting = startUp, func(line string) { a.say("  %s", line) }
	w := &recordSink{path: filepath.Join(dir, recordsName), header: record.Header{
		Scenario: s.Name, Seed: s.Seed, Meta: map[string]string{"tool": Version},
	}}
	job.Started = w.started
	progress := a.benchProgress(job)
	r.Outcome, err = bench.Run(ctx, job, w, progress.event)
	progress.close()
	err = errors.Join(err, w.Close(), r.save())
	if err != nil {
		return r, err
	}
	return r, r.summarize()
}

// watch notes engine pods that did not last through the run.
func (a *app) watch(ctx context.Context, t *site, r *result) error {
	notes, err := t.restarted(ctx)
	if err != nil {
		return err
	}
	r.Notes = append(r.Notes, notes...)
	for _, n := range notes {
		a.say("  warning: %s", n)
	}
	return r.save()
}

// benchScenario translates a scenario block.
func benchScenario(s config.Scenario, base string, source dataset.Source) (bench.Scenario, error) {
	extra, err := objectJSON(s.ExtraBody)
	if err != nil {
		return bench.Scenario{}, fmt.Errorf("extra_body: %w", err)
	}
	params := client.Params{Model: s.Model, IgnoreEOS: s.IgnoreEOS, NoStream: !s.Stream, ExtraBody: extra}
	if s.Temperature != nil {
		params.Sampling = map[string]any{"temperature": *s.Temperature}
	}
	return bench.Scenario{
		Name:           s.Name,
		Client:         clientOptions(s, base),
		Params:         params,
		Source:         source,
		Arrival:        arrivalSpec(s),
		MaxConcurrency: int(s.Load.MaxConcurrency),
		Overflow:       bench.Overflow(s.Load.Overflow),
		OutputTokens:   int(s.OutputTokens),
	}, nil
}

// arrivalSpec follows vllm bench serve, so that the published commands mean the same here.
func arrivalSpec(s config.Scenario) arrival.Spec {
	l := s.Load
	spec := arrival.Spec{
		Rate: l.RequestRate, Burstiness: l.Burstiness, Requests: l.Requests, Duration: l.Duration,
		Rescale: l.Requests > 0, Seed: uint64(s.Seed), //nolint:gosec // any bits will do
	}
	if l.RampUp != "" {
		spec.Process, spec.From, spec.To = "ramp-"+l.RampUp, l.RampUpStart, l.RequestRate
	}
	return spec
}

func objectJSON(v cty.Value) (map[string]any, error) {
	if v == cty.NilVal || v.IsNull() {
		return nil, nil
	}
	x, err := resource.JSON(v)
	if err != nil {
		return nil, err
	}
	m, ok := x.(map[string]any)
	if !ok {
		return nil, errors.New("an object is needed")
	}
	return m, nil
}
