// Package calibrate finds what this machine's client can time correctly. It runs loads
// of growing size against a server whose token texts are its send times (decimal
// nanoseconds of CLOCK_REALTIME, as `mifbench simulate --stamp` writes them), from a
// separate process on the same machine, and compares them with the client's stamps.
//
// It measures the client and the server together: the server needs its own cores, so a
// limit found on a small machine is a lower bound. Errors are those of bench.Run, and a
// server whose texts are not stamps.
package calibrate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mifbench/mifbench/pkg/bench"
	"github.com/mifbench/mifbench/pkg/bench/arrival"
	"github.com/mifbench/mifbench/pkg/bench/client"
	"github.com/mifbench/mifbench/pkg/bench/client/lag"
)

// Plan says what to try.
type Plan struct {
	// Client and Params name the stamping server; the model must be what it serves.
	Client client.Options
	Params client.Params
	// Streams are the loads, ascending; nil means DefaultStreams.
	Streams []int
	// Hold is how long each load is measured once all its streams run; 0 means 5 s.
	Hold time.Duration
	// Bounds are what a load must keep to count as timed correctly.
	Bounds Bounds
	// Progress, when set, is told of each level when it is done.
	Progress func(Level)
}

// Bounds are what a load must keep.
type Bounds struct {
	// ITLErrorP99 and ITLErrorP999 are of gaps between token events that shared no read.
	ITLErrorP99, ITLErrorP999 time.Duration
	// Coalesced is the largest share of events that shared a read.
	Coalesced float64
	// Proof are the client's own bounds.
	Proof bench.Bounds
}

// DefaultBounds are loose enough for a shared machine: 1 ms at p99, 5 ms at p99.9,
// 0.1 % coalesced.
func DefaultBounds() Bounds {
	return Bounds{ITLErrorP99: time.Millisecond, ITLErrorP999: 5 * time.Millisecond, Coalesced: 0.001, Proof: bench.DefaultBounds()}
}

// DefaultStreams are the loads that are tried unless the plan names others.
func DefaultStreams() []int { return []int{50, 200, 500, 1000, 2000, 4000, 7000, 10800} }

// Level is one load and how well it was timed.
type Level struct {
	Streams int `json:"streams"`
	// TokensPerSecond arrived in the time of measuring.
	TokensPerSecond float64 `json:"tokensPerSecond"`
	// StampError is |our stamp - the server's| of each token event, the server's write
	// and the network's way included.
	StampError lag.Summary `json:"stampError"`
	// ITLError is |our gap - the server's gap| where neither event is coalesced, and
	// ITLErrorAll everywhere.
	ITLError    lag.Summary   `json:"itlError"`
	ITLErrorAll lag.Summary   `json:"itlErrorAll"`
	Coalesced   float64       `json:"coalesced"`
	Outcome     bench.Outcome `json:"outcome"`
	// OK tells that all bounds were kept; Reasons why not.
	OK      bool     `json:"ok"`
	Reasons []string `json:"reasons,omitempty"`
}

// Limit is what a calibration found.
type Limit struct {
	// Levels are all that were tried, in order.
	Levels []Level `json:"levels"`
	// Streams and TokensPerSecond are of the largest level that was timed correctly;
	// 0 when none was.
	Streams         int     `json:"streams"`
	TokensPerSecond float64 `json:"tokensPerSecond"`
	// Reached tells that a level failed, so that this is the limit and not the plan's end.
	Reached bool `json:"reached"`
}

// Run tries the plan's loads until one is not timed correctly. What was measured is
// returned with an error as well.
func Run(ctx context.Context, p Plan) (Limit, error) {
	if len(p.Streams) == 0 {
		p.Streams = DefaultStreams()
	}
	if p.Hold <= 0 {
		p.Hold = 5 * time.Second
	}
	var out Limit
	gap, err := serverGap(ctx, p)
	if err != nil {
		return out, err
	}
	for _, n := range p.Streams {
		l, err := Measure(ctx, p, n, gap)
		if err != nil {
			return out, fmt.Errorf("%d streams: %w", n, err)
		}
		out.Levels = append(out.Levels, l)
		if p.Progress != nil {
			p.Progress(l)
		}
		if !l.OK {
			out.Reached = true
			break
		}
		out.Streams, out.TokensPerSecond = n, max(out.TokensPerSecond, l.TokensPerSecond)
	}
	return out, nil
}

// serverGap is the server's time between tokens, from one short stream.
func serverGap(ctx context.Context, p Plan) (time.Duration, error) {
	l, err := run(ctx, p, load{streams: 1, tokens: 32, until: time.Hour})
	if err != nil {
		return 0, err
	}
	if l.gaps.N == 0 {
		return 0, errors.New("the server's token texts are not send times: start it as `mifbench simulate --stamp`")
	}
	return max(l.gaps.P50, 100*time.Microsecond), nil
}

// Ramp is how long n streams take to start, a thousand a second: new connections must not
// be what the machine is busy with.
func Ramp(n int) time.Duration { return time.Duration(n) * time.Second / 1000 }

// Settle is how long the server's queue of steps may take after the ramp.
const Settle = 2 * time.Second

// Measure runs one load of n streams against a server whose tokens are gap apart.
func Measure(ctx context.Context, p Plan, n int, gap time.Duration) (Level, error) {
	ramp := Ramp(n)
	settled := ramp + Settle
	until := settled + p.Hold
	r, err := run(ctx, p, load{
		streams: n, tokens: int((until+time.Second)/gap) + 1, rate: float64(n) / max(ramp, 100*time.Millisecond).Seconds(),
		from: settled, until: until,
	})
	if err != nil {
		return Level{}, err
	}
	l := Level{
		Streams: n, TokensPerSecond: float64(r.events) / p.Hold.Seconds(), StampError: r.stamp.Summary(),
		ITLError: r.clean.Summary(), ITLErrorAll: r.all.Summary(), Outcome: r.outcome,
	}
	if r.events > 0 {
		l.Coalesced = float64(r.coalesced) / float64(r.events)
	}
	l.judge(p.Bounds, gap)
	if r.dropped > 0 {
		l.OK, l.Reasons = false, append(l.Reasons, fmt.Sprintf("%d of %d streams were not started in time", r.dropped, n))
	}
	return l, nil
}

// judge fills in OK and Reasons.
func (l *Level) judge(b Bounds, gap time.Duration) {
	bad := func(is bool, format string, a ...any) {
		if is {
			l.Reasons = append(l.Reasons, fmt.Sprintf(format, a...))
		}
	}
	bad(l.ITLError.N == 0, "no gap between tokens was measured")
	bad(l.ITLError.P99 > b.ITLErrorP99, "itl error p99 is %v, bound %v", l.ITLError.P99, b.ITLErrorP99)
	bad(l.ITLError.P999 > b.ITLErrorP999, "itl error p99.9 is %v, bound %v", l.ITLError.P999, b.ITLErrorP999)
	bad(l.Coalesced > b.Coalesced, "%.2f %% of token events shared a read, bound %.2f %%", 100*l.Coalesced, 100*b.Coalesced)
	want := float64(l.Streams) / gap.Seconds()
	bad(l.TokensPerSecond < 0.98*want, "the server sent %.0f tokens/s of the %.0f asked for: it is at its own limit", l.TokensPerSecond, want)
	if v := l.Outcome.Proof.Judge(b.Proof); v.Class == bench.ClientLimited {
		l.Reasons = append(l.Reasons, v.Reasons...)
	}
	l.OK = len(l.Reasons) == 0
}

// Fits tells whether a load of that many streams and tokens a second is within what was
// found, and why not.
func (l Limit) Fits(streams int, tokensPerSecond float64) (bool, string) {
	for _, v := range l.Levels {
		if v.OK && v.Streams >= streams && v.TokensPerSecond >= tokensPerSecond {
			return true, fmt.Sprintf("%d streams at %.0f tokens/s were timed within %v (p99)", v.Streams, v.TokensPerSecond, v.ITLError.P99)
		}
	}
	if l.Reached {
		return false, fmt.Sprintf("this machine was found to time %d streams at %.0f tokens/s", l.Streams, l.TokensPerSecond)
	}
	return false, fmt.Sprintf("only loads up to %d streams at %.0f tokens/s were tried; calibrate with a larger plan", l.Streams, l.TokensPerSecond)
}

// scenario is the load as a scenario; all streams run at once, one request each.
func (ld load) scenario(p Plan) bench.Scenario {
	s := bench.Scenario{
		Name: fmt.Sprintf("calibrate %d", ld.streams), Client: p.Client, Params: p.Params, Source: words{},
		OutputTokens: ld.tokens, MaxConcurrency: ld.streams, SkipProbe: true,
		Arrival: arrival.Spec{Process: "closed", Requests: int64(ld.streams)},
		Drain:   bench.Drain{Cancel: true},
	}
	s.Params.IgnoreEOS = true
	if ld.rate > 0 {
		s.Arrival.Process, s.Arrival.Rate = "constant", ld.rate
	}
	return s
}
