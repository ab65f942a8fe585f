package cli

import (
	"fmt"
	"time"

	"github.com/mifbench/mifbench/pkg/bench"
)

// benchProgress shows a run: on a terminal one line redrawn, elsewhere a line every ten
// seconds.
type benchProgress struct {
	a     *app
	total int64
	next  time.Duration
	drawn bool
}

const progressEvery = 10 * time.Second

func (a *app) benchProgress(s bench.Scenario) *benchProgress {
	return &benchProgress{a: a, total: s.Arrival.Requests, next: progressEvery}
}

func (p *benchProgress) event(e bench.Event) {
	line := fmt.Sprintf("  %s  sent %d%s  in flight %d  done %d  failed %d  %.0f tok/s",
		e.Elapsed.Round(time.Second), e.Sent, p.of(), e.InFlight, e.Done, e.Failed, e.TokensPerSecond)
	switch {
	case p.a.env.StderrIsTTY:
		fmt.Fprintf(p.a.env.Stderr, "\r\x1b[K%s", line)
		p.drawn = true
	case e.Elapsed >= p.next || e.Phase == bench.PhaseDone:
		p.a.say("%s", line)
		p.next = e.Elapsed + progressEvery
	}
}

func (p *benchProgress) of() string {
	if p.total == 0 {
		return ""
	}
	return fmt.Sprintf("/%d", p.total)
}

func (p *benchProgress) close() {
	if p.drawn {
		p.a.say("")
	}
}
