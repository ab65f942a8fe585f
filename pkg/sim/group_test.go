package sim

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// arrivals is a receiver that notes when its tokens came.
type arrivals struct {
	from time.Time
	at   []time.Duration
}

func (a *arrivals) advance(buf []byte, _ int, _ bool) ([]byte, bool) {
	a.at = append(a.at, time.Since(a.from))
	return buf, true
}
func (a *arrivals) end() {}

// bubble runs a server's engines without sockets, in synctest's time.
func bubble(t *testing.T, change func(*Config), f func(s *Server, submit func(prompt, out int) *arrivals)) {
	synctest.Test(t, func(t *testing.T) {
		cfg := DefaultConfig()
		change(&cfg)
		s := &Server{cfg: cfg, model: cfg.engineModel(), epoch: time.Now()}
		r := newRank(s, 0)
		s.ranks = []*rank{r}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for _, g := range r.groups {
			go g.run(ctx)
		}
		from := time.Now()
		n := 0
		f(s, func(prompt, out int) *arrivals {
			a := &arrivals{from: from}
			g := r.groups[n%len(r.groups)]
			n++
			g.mu.Lock()
			g.enqueue(&seq{prompt: prompt, max: out, owner: a})
			g.mu.Unlock()
			return a
		})
		cancel()
		synctest.Wait()
	})
}

// pass lets virtual time pass and everything that is due happen.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func millis(ds ...int) []time.Duration {
	out := make([]time.Duration, len(ds))
	for i, d := range ds {
		out[i] = time.Duration(d) * time.Millisecond
	}
	return out
}

func TestLockStep(t *testing.T) {
	bubble(t, func(c *Config) { c.ITL = 10 * time.Millisecond }, func(_ *Server, submit func(int, int) *arrivals) {
		a := submit(5, 5)
		pass(15 * time.Millisecond) // in the middle of a's second step
		b := submit(5, 2)
		pass(time.Second)
		if diff := cmp.Diff(millis(10, 20, 30, 40, 50), a.at); diff != "" {
			t.Errorf("a (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(millis(30, 40), b.at); diff != "" {
			t.Errorf("b joins at the next step (-want +got):\n%s", diff)
		}
		c := submit(5, 1) // after an idle time the step begins at once
		pass(time.Second)
		if diff := cmp.Diff(millis(1025), c.at); diff != "" {
			t.Errorf("c (-want +got):\n%s", diff)
		}
	})
}

func TestSpeedup(t *testing.T) {
	bubble(t, func(c *Config) { c.ITL = 100 * time.Millisecond; c.Speedup = 20 }, func(s *Server, submit func(int, int) *arrivals) {
		a := submit(5, 3)
		pass(time.Second)
		if diff := cmp.Diff(millis(5, 10, 15), a.at); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if got := s.ranks[0].m.itl.sum; got < 0.0099 || got > 0.0101 {
			t.Errorf("the ITL histogram's sum is %v s, want two real gaps of 5 ms", got)
		}
	})
}

func TestStagger(t *testing.T) {
	bubble(t, func(c *Config) { c.ITL = 40 * time.Millisecond; c.Stagger = 4 }, func(_ *Server, submit func(int, int) *arrivals) {
		var all []*arrivals
		for range 4 {
			all = append(all, submit(1, 2))
		}
		pass(time.Second)
		for i, a := range all {
			if got := a.at[0] % (40 * time.Millisecond); got != time.Duration(i*10)*time.Millisecond || a.at[1]-a.at[0] != 40*time.Millisecond {
				t.Errorf("group %d has tokens at %v", i, a.at)
			}
		}
	})
}

func TestConstantTTFT(t *testing.T) {
	bubble(t, func(c *Config) { c.ITL = 10 * time.Millisecond }, func(s *Server, _ func(int, int) *arrivals) {
		a := &arrivals{from: time.Now()}
		g := s.ranks[0].groups[0]
		g.mu.Lock()
		g.enqueue(&seq{prompt: 5, max: 2, remote: true, ready: 200 * time.Millisecond, owner: a})
		g.mu.Unlock()
		pass(time.Second)
		if diff := cmp.Diff(millis(210, 220), a.at); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
