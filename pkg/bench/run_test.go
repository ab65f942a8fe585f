package bench

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mifbench/mifbench/pkg/bench/arrival"
	"github.com/mifbench/mifbench/pkg/bench/client"
	"github.com/mifbench/mifbench/pkg/bench/client/lag"
	"github.com/mifbench/mifbench/pkg/bench/dataset"
	"github.com/mifbench/mifbench/pkg/bench/record"
)

// prompts is a source of numbered prompts.
type prompts struct{ fail int64 }

func (p prompts) Prompt(_ context.Context, i int64) (dataset.Prompt, error) {
	if p.fail > 0 && i == p.fail {
		return dataset.Prompt{}, errors.New("row is damaged")
	}
	return dataset.Prompt{Text: fmt.Sprintf("prompt %d", i), Tokens: 2, OffsetNS: -1}, nil
}

func (p prompts) Info() dataset.Info { return dataset.Info{Kind: "test"} }

// script is a doer whose requests take a fixed time and one token.
type script struct {
	clock *client.Clock
	takes time.Duration
	now   atomic.Int64
	most  atomic.Int64
	n     atomic.Int64
}

func (d *script) Do(ctx context.Context, r *client.Request, res *client.Result) {
	res.Reset(r.MaxTokens)
	res.Rec.Index, res.Rec.Sent = r.Index, d.clock.Now()
	if n := d.now.Add(1); n > d.most.Load() {
		d.most.Store(n)
	}
	defer d.now.Add(-1)
	t := time.NewTimer(d.takes)
	defer t.Stop()
	select {
	case <-t.C:
		d.n.Add(1)
		res.Add(d.clock.Now(), 1, false)
		res.Rec.Status, res.Rec.KernelClock = record.OK, true
	case <-ctx.Done():
		res.Rec.Status = record.Cancelled
	}
	res.Rec.Done = d.clock.Now()
}

func (d *script) Tokens() int64           { return d.n.Load() }
func (d *script) ReceiveLag() lag.Summary { return lag.Summary{} }

// memory is a sink that keeps records, and may be slow or fail.
type memory struct {
	mu    sync.Mutex
	recs  []record.Record
	delay time.Duration
	fail  int
}

func (m *memory) Write(r record.Record) error {
	time.Sleep(m.delay)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.recs = append(m.recs, r.Clone())
	if m.fail > 0 && len(m.recs) == m.fail {
		return errors.New("disk full")
	}
	return nil
}

func (m *memory) byStatus() map[record.Status]int {
	out := map[record.Status]int{}
	for _, r := range m.recs {
		out[r.Status]++
	}
	return out
}

// play runs a scenario against a script; call it in a synctest bubble.
func play(ctx context.Context, t *testing.T, s Scenario, takes time.Duration, sink Sink) (Outcome, *script, error) {
	t.Helper()
	s = s.withDefaults()
	if s.Source == nil {
		s.Source = prompts{}
	}
	if err := s.validate(); err != nil {
		t.Fatal(err)
	}
	tpl, err := client.NewTemplate(client.Completions, client.Params{Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	seq, err := arrival.Schedule(s.Arrival)
	if err != nil {
		t.Fatal(err)
	}
	p := prepare(ctx, s, tpl, dues(seq, s.Shard))
	defer p.wg.Wait()
	defer cancel(nil)
	if err := p.filled(ctx, s.Stop); err != nil {
		t.Fatal(err)
	}
	clock := client.NewClock(time.Now())
	d := &script{clock: clock, takes: takes}
	var out Outcome
	err = newRunner(s, d, clock, sink, nil).run(ctx, cancel, p, &out)
	return out, d, err
}

func TestOpenLoopKeepsItsSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		out, _, err := play(t.Context(), t, Scenario{Arrival: arrival.Spec{Rate: 100, Requests: 5000, Seed: 1, Rescale: true}}, 3*time.Second, m)
		if err != nil || len(m.recs) != 5000 || out.ByStatus[record.OK] != 5000 || out.Late != 0 || out.Proof.SendLag.Max != 0 {
			t.Fatalf("%d records, %+v, %v", len(m.recs), out, err)
		}
		for _, r := range m.recs {
			if r.Sent != r.Intended {
				t.Fatalf("request %d sent at %d, due at %d", r.Index, r.Sent, r.Intended)
			}
		}
		if got := out.LastSent; (got - 50*time.Second).Abs() > time.Microsecond {
			t.Errorf("last send at %v, want 50 s", got)
		}
	})
}

func TestCapIsHardAndWaitingKeepsIntendedTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		out, d, err := play(t.Context(), t, Scenario{MaxConcurrency: 10, Arrival: arrival.Spec{Process: "constant", Rate: 100, Requests: 1000}}, time.Second, m)
		if err != nil || d.most.Load() != 10 || out.Proof.MaxInFlight != 10 || len(m.recs) != 1000 {
			t.Fatalf("most in flight %d, %d records, %v", d.most.Load(), len(m.recs), err)
		}
		if out.Elapsed != 100*time.Second+90*time.Millisecond || out.Proof.SendLag.Max != 0 || out.Proof.Waited != 990 {
			t.Errorf("elapsed %v, own lag %v, %d waited", out.Elapsed, out.Proof.SendLag.Max, out.Proof.Waited)
		}
		seen := map[int64]bool{}
		for _, r := range m.recs {
			seen[r.Index] = true
			if want := r.Index * 10e6; r.Intended != want {
				t.Fatalf("request %d was due at %d, want %d", r.Index, r.Intended, want)
			}
		}
		if len(seen) != 1000 {
			t.Errorf("%d distinct requests", len(seen))
		}
	})
}

func TestOverflowDropKeepsTheRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		out, _, err := play(t.Context(), t, Scenario{MaxConcurrency: 10, Overflow: Drop, Arrival: arrival.Spec{Process: "constant", Rate: 100, Requests: 1000}}, time.Second+time.Millisecond, m)
		if err != nil || len(m.recs) != 1000 || out.Dropped+out.Admitted != 1000 || out.Admitted != 100 {
			t.Fatalf("%d records, %d sent, %d dropped, %v", len(m.recs), out.Admitted, out.Dropped, err)
		}
	})
}

func TestRunByTime(t *testing.T) {
	cases := []struct {
		name    string
		drain   Drain
		elapsed time.Duration
		want    map[record.Status]int
	}{
		{"those in flight finish", Drain{}, 11300 * time.Millisecond, map[record.Status]int{record.OK: 9, record.Dropped: 91}},
		{"those in flight are cancelled", Drain{Cancel: true}, 10 * time.Second, map[record.Status]int{record.OK: 6, record.Cancelled: 3, record.Dropped: 91}},
		{"the drain has a limit", Drain{Timeout: time.Second}, 11 * time.Second, map[record.Status]int{record.OK: 6, record.Cancelled: 3, record.Dropped: 91}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &memory{}
				s := Scenario{MaxConcurrency: 3, Drain: c.drain, Arrival: arrival.Spec{Process: "constant", Rate: 10, Duration: 10 * time.Second}}
				out, _, err := play(t.Context(), t, s, 3700*time.Millisecond, m)
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(c.want, m.byStatus()); d != "" || out.Elapsed != c.elapsed {
					t.Errorf("elapsed %v, want %v; records (-want +got):\n%s", out.Elapsed, c.elapsed, d)
				}
			})
		})
	}
}

func TestClosedLoopByTimeEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		out, d, err := play(t.Context(), t, Scenario{MaxConcurrency: 2, Arrival: arrival.Spec{Process: "closed", Duration: time.Second}}, 10*time.Millisecond, m)
		if err != nil || d.most.Load() != 2 || len(m.recs) != 200 || out.Dropped != 0 || out.Elapsed > 1010*time.Millisecond {
			t.Errorf("%d records, %d dropped, elapsed %v, %v", len(m.recs), out.Dropped, out.Elapsed, err)
		}
	})
}

func TestStopDrainsAndCancelEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop := make(chan struct{})
		time.AfterFunc(5*time.Second, func() { close(stop) })
		m := &memory{}
		out, _, err := play(t.Context(), t, Scenario{Stop: stop, Arrival: arrival.Spec{Process: "constant", Rate: 10, Requests: 1000}}, 2*time.Second, m)
		if err != nil || !out.Interrupted || out.ByStatus[record.OK] != out.Admitted || out.Admitted > 52 || out.Elapsed > 7*time.Second {
			t.Errorf("after Stop: %+v, %v", out, err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(5*time.Second, cancel)
		m := &memory{}
		out, _, err := play(ctx, t, Scenario{Arrival: arrival.Spec{Process: "constant", Rate: 10, Requests: 1000}}, 2*time.Second, m)
		if !errors.Is(err, context.Canceled) || out.Elapsed != 5*time.Second || out.ByStatus[record.Cancelled] == 0 || int64(len(m.recs)) != out.Records {
			t.Errorf("after cancel: %+v, %v", out, err)
		}
	})
}

func TestSinkFailureEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{fail: 20}
		out, _, err := play(t.Context(), t, Scenario{Arrival: arrival.Spec{Process: "constant", Rate: 10, Requests: 1000}}, time.Second, m)
		if !errors.Is(err, errSink) || out.Elapsed > 5*time.Second {
			t.Errorf("elapsed %v, error %v", out.Elapsed, err)
		}
	})
}

func TestSlowSinkIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{delay: 20 * time.Millisecond}
		out, _, err := play(t.Context(), t, Scenario{MaxConcurrency: 100, Arrival: arrival.Spec{Requests: 2000}}, 100*time.Millisecond, m)
		if err != nil || len(m.recs) != 2000 || out.Proof.SinkWait == 0 || out.Proof.Judge(DefaultBounds()).Class != ClientLimited {
			t.Errorf("%d records, sink wait %v, %+v, %v", len(m.recs), out.Proof.SinkWait, out.Proof.Judge(DefaultBounds()), err)
		}
	})
}

func TestBadPromptEndsTheRunAndKeepsRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		_, _, err := play(t.Context(), t, Scenario{Source: prompts{fail: 30}, Arrival: arrival.Spec{Process: "constant", Rate: 10, Requests: 1000}}, time.Second, m)
		if err == nil || len(m.recs) != 30 {
			t.Errorf("%d records, %v", len(m.recs), err)
		}
	})
}

func TestShardsMakeOneSchedule(t *testing.T) {
	whole, parts := map[int64]int64{}, map[int64]int64{}
	gather := func(s Scenario, into map[int64]int64) {
		synctest.Test(t, func(t *testing.T) {
			m := &memory{}
			out, _, err := play(t.Context(), t, s, time.Second, m)
			if err != nil || out.Planned != int64(len(m.recs)) {
				t.Fatalf("planned %d, %d records, %v", out.Planned, len(m.recs), err)
			}
			for _, r := range m.recs {
				into[r.Index] = r.Intended
			}
		})
	}
	spec := arrival.Spec{Rate: 50, Requests: 500, Seed: 9}
	gather(Scenario{Arrival: spec}, whole)
	for i := range 3 {
		gather(Scenario{Arrival: spec, Shard: Shard{i, 3}}, parts)
	}
	if len(parts) != 500 || fmt.Sprint(whole) != fmt.Sprint(parts) {
		t.Errorf("the shards' %d requests are not the whole's %d", len(parts), len(whole))
	}
}

func TestBadScenariosNameAllProblems(t *testing.T) {
	_, err := Run(t.Context(), Scenario{MaxConcurrency: -1, Overflow: "maybe"}, &memory{}, nil)
	for _, want := range []string{"no prompt source", "max concurrency -1", `overflow "maybe"`, "has no end"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v lacks %q", err, want)
		}
	}
}
