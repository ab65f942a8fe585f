package bench

import (
	"context"
	"time"
)

// Phase is what a run is doing.
type Phase string

// The phases that progress reports.
const (
	PhaseRunning Phase = "running"
	PhaseDone    Phase = "done"
)

// Event is a run's progress.
type Event struct {
	Phase   Phase
	Elapsed time.Duration
	// Sent, InFlight, Done (ok) and Failed count requests; Tokens token events.
	Sent, InFlight, Done, Failed, Tokens int64
	// TokensPerSecond is of the time since the event before.
	TokensPerSecond float64
}

const reportEvery = 250 * time.Millisecond

// report calls progress until ctx ends.
func (r *runner) report(ctx context.Context) {
	t := time.NewTicker(reportEvery)
	defer t.Stop()
	var before Event
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			e := r.event(PhaseRunning)
			if d := e.Elapsed - before.Elapsed; d > 0 {
				e.TokensPerSecond = float64(e.Tokens-before.Tokens) / d.Seconds()
			}
			r.emit(e)
			before = e
		}
	}
}

func (r *runner) event(p Phase) Event {
	return Event{
		Phase: p, Elapsed: time.Duration(r.clock.Now()), Sent: r.sent.Load(), InFlight: r.inFlight.Load(),
		Done: r.done.Load(), Failed: r.failed.Load(), Tokens: r.doer.Tokens(),
	}
}

func (r *runner) emit(e Event) {
	if r.progress != nil {
		r.progress(e)
	}
}
