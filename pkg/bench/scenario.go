package bench

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/mifbench/mifbench/pkg/bench/arrival"
	"github.com/mifbench/mifbench/pkg/bench/client"
	"github.com/mifbench/mifbench/pkg/bench/dataset"
	"github.com/mifbench/mifbench/pkg/bench/record"
)

// Scenario is everything that a run needs.
type Scenario struct {
	Name string
	// Client says where requests go: base URLs, API, key, headers, TLS, timeouts. Its
	// clock and its number of connections are set by Run.
	Client client.Options
	// Params is what the bodies have in common: model, ignore_eos, sampling, extra body.
	Params client.Params
	Source dataset.Source
	// Arrival says when requests are due and how many there are or for how long.
	Arrival arrival.Spec
	// MaxConcurrency caps the requests in flight; 0 means no cap.
	MaxConcurrency int
	// Overflow says what becomes of a request that is due while the cap is reached.
	Overflow Overflow
	// OutputTokens is the output length of prompts that do not bring their own.
	OutputTokens int
	// RequestIDPrefix, when not empty, makes X-Request-Id = prefix + index.
	RequestIDPrefix string
	// Drain says what happens to requests in flight when admission ends by time or Stop.
	Drain Drain
	// Shard makes this run one of several with one schedule.
	Shard Shard
	// StartAt is the instant of offset 0, for runs that start together; zero: when ready.
	StartAt time.Time
	// Stop, when closed, ends admission; Drain says what then happens to those in flight.
	// Cancelling Run's context cancels them at once.
	Stop <-chan struct{}
	// Started, when not nil, is told the run's clock just before the first request is due,
	// so that others can put what they observe on the same time axis.
	Started func(*client.Clock)
	// Prefetch is how many requests are rendered ahead of their time; 0 means 1024.
	Prefetch int
	// SkipProbe leaves out the short request to each target before the start.
	SkipProbe bool
	// Insist is how long the probe is repeated while all that is wrong may pass right after a start-up: a
	// refused connection, or status 500, 502, 503 or 504. 0 means that the first answer counts.
	Insist time.Duration
	// Insisting is told, in a line for people, what the probe is repeated for; nil for nobody.
	Insisting func(line string)
	// SkipPreflight leaves out the checks of this machine.
	SkipPreflight bool
}

// Overflow is what becomes of a request that is due while the cap is reached.
type Overflow string

// The policies. Queue is vLLM's: it waits for a slot, first come first served, and keeps
// its intended time. Drop keeps the rate strict: it is recorded as dropped.
const (
	Queue Overflow = "queue"
	Drop  Overflow = "drop"
)

// Drain ends a run whose admission is over while requests are in flight.
type Drain struct {
	// Cancel ends them at once; otherwise they finish.
	Cancel bool
	// Timeout cancels those that have not finished by then; 0 waits without limit.
	Timeout time.Duration
}

// Shard is one of Count runs that share a schedule: it sends the requests whose index
// is Index modulo Count. The cap is this shard's own. The zero value sends all.
type Shard struct{ Index, Count int }

// has tells whether request i belongs to the shard.
func (s Shard) has(i int64) bool { return s.Count <= 1 || i%int64(s.Count) == int64(s.Index) }

// Sink takes records, one call at a time. It must not keep rec.Events after it returns.
// When it is slow, finished requests wait for it and hold their slots: the wait is
// measured and reported. An error ends the run.
type Sink interface {
	Write(rec record.Record) error
}

func (s Scenario) withDefaults() Scenario {
	if s.Prefetch <= 0 {
		s.Prefetch = 1024
	}
	if s.Overflow == "" {
		s.Overflow = Queue
	}
	if s.Client.API == "" {
		s.Client.API = client.Completions
	}
	if s.MaxConcurrency > 0 {
		s.Client.MaxConns = s.MaxConcurrency
	} else if s.Client.MaxConns == 0 {
		s.Client.MaxConns = 1 << 16
	}
	return s
}

// validate returns all that is wrong with the scenario itself.
func (s Scenario) validate() error {
	var errs []error
	bad := func(is bool, format string, a ...any) {
		if is {
			errs = append(errs, fmt.Errorf(format, a...))
		}
	}
	bad(s.Source == nil, "no prompt source")
	bad(s.MaxConcurrency < 0, "max concurrency %d: want 0 (no cap) or more", s.MaxConcurrency)
	bad(s.OutputTokens < 0, "output tokens %d: want 0 (the server's default) or more", s.OutputTokens)
	bad(s.Overflow != Queue && s.Overflow != Drop, "overflow %q is not one of %q, %q", s.Overflow, Queue, Drop)
	bad(s.Overflow == Drop && s.MaxConcurrency == 0, "overflow %q needs a max concurrency", Drop)
	bad(s.Shard.Count < 0 || s.Shard.Index < 0 || s.Shard.Index >= max(1, s.Shard.Count), "shard %d of %d", s.Shard.Index, s.Shard.Count)
	bad(s.MaxConcurrency == 0 && s.Arrival.Closed() && s.Arrival.Requests == 0, "nothing paces the requests: give a rate, a number of requests or a max concurrency")
	if _, err := arrival.Schedule(s.Arrival); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// workers is how many goroutines render requests.
func workers() int { return max(1, min(4, runtime.GOMAXPROCS(0))) }
