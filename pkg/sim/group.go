package sim

import (
	"context"
	"sync"
	"time"
)

// receiver gets the tokens of one sequence.
type receiver interface {
	// advance is called when token number n (from 1) is there; buf is scratch
	// space to return, grown. False: nobody wants more.
	advance(buf []byte, n int, stamp bool) ([]byte, bool)
	// end is called when no more will come.
	end()
}

// group steps one engine in real time: one timer per step, then one write per
// running stream. A rank has one group, or Stagger of them.
type group struct {
	srv   *Server
	rank  *rank
	phase float64 // share of a step by which this group is shifted

	mu      sync.Mutex
	e       *engine
	wake    chan struct{}
	buf     []byte
	cursor  time.Duration // virtual end of the latest step
	stepped time.Duration // virtual start of the step under way
	slips   uint64        // steps that began later than they should have
}

// submit hands a stream's sequence to the engine, unless the client is gone.
func (g *group) submit(st *stream) {
	g.mu.Lock()
	if st.over {
		g.mu.Unlock()
		return
	}
	g.enqueue(st.s)
	g.mu.Unlock()
}

// enqueue hands a sequence to the engine and wakes it. g.mu is held.
func (g *group) enqueue(s *seq) {
	now := g.srv.virtual()
	s.ready += now
	g.e.submit(now, s)
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

// cancel takes a sequence out, if it is still there, and ends its stream.
func (g *group) cancel(st *stream) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !st.over {
		g.e.cancel(st.s)
		st.end()
	}
}

// run steps the engine until ctx is done.
func (g *group) run(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	idle := true
	for {
		end, wait, ok := g.plan(idle)
		idle = !ok
		timer.Reset(wait)
		if ok {
			select {
			case <-timer.C:
				g.step(end)
			case <-ctx.Done():
				return
			}
			continue
		}
		select {
		case <-timer.C:
		case <-g.wake:
		case <-ctx.Done():
			return
		}
	}
}

// plan begins a step and returns its virtual end and the real time until then,
// or how long to wait for work.
func (g *group) plan(idle bool) (end, wait time.Duration, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.srv.virtual()
	dur, wake, ok := g.e.plan(now)
	if !ok {
		if wake == 0 {
			return 0, time.Hour, false
		}
		return 0, g.srv.real(wake), false
	}
	start := g.cursor
	if idle {
		start = now
	} else if now-start > dur { // the machine does not keep up: time is lost, not made up for
		start = now
		g.slips++
	}
	end = start + dur
	if idle && g.srv.cfg.Stagger > 1 {
		offset := time.Duration(g.phase * float64(dur))
		end += dur - 1 - (end-offset+dur-1)%dur
	}
	g.stepped, g.cursor = start, end
	return end, max(0, g.srv.real(end-now)), true
}

// step ends the step: every running stream gets its token.
func (g *group) step(end time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	e := g.e
	e.commit(end)
	g.rank.m.step(e, end-g.stepped, g.srv.cfg.Speedup)
	for i := 0; i < len(e.running); i++ {
		s := e.running[i]
		st := s.owner.(receiver)
		var ok bool
		if g.buf, ok = st.advance(g.buf, e.producedBy(s), g.srv.cfg.Stamp); !ok {
			e.cancel(s) // swaps another one into place i
			st.end()
			i--
		}
	}
	for _, s := range e.done {
		g.rank.m.finished(s, end, g.srv.cfg.Speedup)
	}
	e.reap()
}
