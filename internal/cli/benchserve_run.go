package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/mifbench/mifbench/pkg/bench"
	"github.com/mifbench/mifbench/pkg/bench/arrival"
	"github.com/mifbench/mifbench/pkg/bench/dataset"
	"github.com/mifbench/mifbench/pkg/bench/record"
)

// readyEvery is upstream's pause between two ready checks.
const readyEvery = 5 * time.Second

// ready sends the first prompt until it is answered or the time is up.
func (s *serving) ready(ctx context.Context) error {
	limit := seconds(s.flags.readyTimeout)
	if limit <= 0 {
		s.app.say("Skipping endpoint ready check.")
		return nil
	}
	s.app.say("Starting initial single prompt test run...")
	over := time.Now().Add(limit)
	for {
		_, failure, err := s.preliminary(ctx, "ready check", 1)
		switch {
		case err != nil:
			return err
		case failure == "":
			s.app.say("Initial test run completed.")
			return nil
		case time.Now().Add(readyEvery).After(over):
			return fmt.Errorf("initial test run failed within %v: %s", limit, failure)
		}
		if err := s.pause(); err != nil {
			return err
		}
	}
}

// warm sends the first prompt --num-warmups times under the cap.
func (s *serving) warm(ctx context.Context) error {
	n := s.flags.warmups
	if n == 0 {
		return nil
	}
	s.app.say("Warming up with %d requests...", n)
	failed, failure, err := s.preliminary(ctx, "warm-up", int64(n))
	if err != nil {
		return err
	}
	if failed > 0 {
		s.app.say("warning: %d of %d warm-up requests failed: %s", failed, n, failure)
	}
	s.app.say("Warmup run completed.")
	return nil
}

// preliminary sends the first prompt n times and forgets the answers, but for the first
// failure.
func (s *serving) preliminary(ctx context.Context, name string, n int64) (failed int, failure string, err error) {
	job := s.scenario()
	job.Name, job.Source, job.Stop = name, firstPrompt{s.source}, s.app.soft.Done()
	job.Arrival = arrival.Spec{Process: "closed", Requests: n}
	job.RequestIDPrefix = ""
	sink := sinkFunc(func(r record.Record) error {
		if r.Status != record.OK {
			failed++
			if failure == "" {
				failure = strings.TrimSuffix(fmt.Sprintf("%s: %s", r.Status, r.Error), ": ")
			}
		}
		return nil
	})
	_, err = bench.Run(ctx, job, sink, nil)
	if s.app.soft.Err() != nil {
		err = errors.Join(err, quiet(exitInterrupted))
	}
	return failed, failure, err
}

type sinkFunc func(record.Record) error

// Write implements bench.Sink.
func (f sinkFunc) Write(r record.Record) error { return f(r) }

// firstPrompt gives a source's first prompt again and again.
type firstPrompt struct{ dataset.Source }

// Prompt implements dataset.Source.
func (p firstPrompt) Prompt(ctx context.Context, _ int64) (dataset.Prompt, error) {
	return p.Source.Prompt(ctx, 0)
}

// announce says what is about to be sent, in upstream's words.
func (s *serving) announce() {
	f, say := s.flags, s.app.say
	say("Starting main benchmark run...")
	if f.rampUp != "" {
		say("Traffic ramp-up strategy: %s.", f.rampUp)
		say("Will increase RPS from %d to %d RPS over the duration of the benchmark.", f.rampStart, f.rampEnd)
	} else {
		say("Traffic request rate: %s", pythonText(f.rate))
	}
	kind := "Gamma distribution"
	if f.burstiness == 1 {
		kind = "Poisson process"
	}
	say("Burstiness factor: %s (%s)", pythonText(f.burstiness), kind)
	if f.concurrency > 0 {
		say("Maximum request concurrency: %d", f.concurrency)
	} else {
		say("Maximum request concurrency: None")
	}
}

// pythonText is str() of a float in Python.
func pythonText(x float64) string {
	switch {
	case math.IsInf(x, 1):
		return "inf"
	case x == math.Trunc(x) && math.Abs(x) < 1e16:
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
