package bench_test

import (
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/mifbench/mifbench/pkg/bench"
	"github.com/mifbench/mifbench/pkg/bench/calibrate"
	"github.com/mifbench/mifbench/pkg/bench/client"
)

// Gaps between token events are right to tens of microseconds, on one core of the client,
// whether the streams' tokens come evenly or all at once, as those of a real engine's rank
// do. The full loads need a quiet machine of two cores; the small one holds on any.
func TestGapErrors(t *testing.T) {
	if !client.KernelStamps() {
		t.Skip("no kernel stamps here")
	}
	if testing.Short() && !heavy() {
		t.Skip("takes 10 s")
	}
	type shape struct {
		streams   int
		gap       time.Duration
		groups    int // 1: lock-step
		p99, p999 time.Duration
		coalesced float64
	}
	const us = time.Microsecond
	shapes := []shape{{100, 50 * time.Millisecond, 16, 1000 * us, 0, 1}}
	if heavy() {
		shapes = []shape{
			{1000, 20 * time.Millisecond, 200, 50 * us, 300 * us, 0.001},
			{1000, 20 * time.Millisecond, 1, 50 * us, 300 * us, 0.001},
			{10800, 164 * time.Millisecond, 1000, 50 * us, 300 * us, 0.001},
			{10800, 164 * time.Millisecond, 24, 50 * us, 300 * us, 0.001}, // as the published ranks
			{10800, 164 * time.Millisecond, 1, 50 * us, 300 * us, 0.001},
		}
	}
	for _, s := range shapes {
		t.Run(fmt.Sprintf("%dx%v/groups=%d", s.streams, s.gap, s.groups), func(t *testing.T) {
			url := startSim(t, 50*time.Millisecond, s.gap, "--stagger", fmt.Sprint(s.groups))
			l := level(t, start(t, "calibrate", url, fmt.Sprint(s.streams), s.gap.String()))
			v := l.Outcome.Proof.Judge(bench.DefaultBounds())
			t.Logf("%.0f tokens/s, gap error p50 %v p99 %v p99.9 %v over %d, stamp error p50 %v p99 %v, coalesced %.4f %%, receive lag p99 %v, send lag p99 %v, CPU %.2f, %s %v",
				l.TokensPerSecond, l.ITLError.P50, l.ITLError.P99, l.ITLError.P999, l.ITLError.N, l.StampError.P50, l.StampError.P99, 100*l.Coalesced,
				l.Outcome.Proof.ReceiveLag.P99, l.Outcome.Proof.SendLag.P99, l.Outcome.Proof.CPUShare, v.Class, v.Reasons)
			if want := 0.98 * float64(s.streams) / s.gap.Seconds(); heavy() && l.TokensPerSecond < want {
				t.Skipf("the server's core is full: it sent %.0f tokens/s of %.0f", l.TokensPerSecond, want)
			}
			if l.ITLError.N == 0 || l.ITLError.P99 > s.p99 || s.p999 > 0 && l.ITLError.P999 > s.p999 {
				t.Errorf("gap error p99 %v p99.9 %v over %d, want %v and %v", l.ITLError.P99, l.ITLError.P999, l.ITLError.N, s.p99, s.p999)
			}
			if l.Coalesced > s.coalesced {
				t.Errorf("%.3f %% of the events shared a read", 100*l.Coalesced)
			}
		})
	}
}

// Gaps between token events of their own read are right to tens of microseconds, also
// when this process is stopped for 100 ms or 400 ms meanwhile: what a stop merges is
// marked, and the rest is the kernel's time.
func TestStampsSurviveAStoppedClient(t *testing.T) {
	if !client.KernelStamps() {
		t.Skip("no kernel stamps here")
	}
	if testing.Short() && !heavy() {
		t.Skip("takes 15 s")
	}
	streams := 200
	if heavy() {
		streams = 5000
	}
	const gap = 164 * time.Millisecond
	url := startSim(t, 50*time.Millisecond, gap)
	var undisturbed time.Duration
	for _, stop := range []time.Duration{0, 100 * time.Millisecond, 400 * time.Millisecond} {
		p := start(t, "calibrate", url, fmt.Sprint(streams), gap.String())
		var halted atomic.Int64
		if stop > 0 {
			settled := calibrate.Ramp(streams) + calibrate.Settle
			go haltFiveTimes(p, settled+500*time.Millisecond, stop, &halted)
		}
		l := level(t, p)
		t.Logf("stopped 5 × %v (%d done): gap error p50 %v p99 %v p99.9 %v, all p99.9 %v, coalesced %.3f %%", stop, halted.Load(), l.ITLError.P50, l.ITLError.P99, l.ITLError.P999, l.ITLErrorAll.P999, 100*l.Coalesced)
		if l.ITLError.N == 0 || l.ITLError.P99 > 500*time.Microsecond {
			t.Errorf("stop %v: error of clean gaps p99 %v over %d", stop, l.ITLError.P99, l.ITLError.N)
		}
		switch {
		case stop == 0:
			undisturbed = l.ITLError.P999
		case heavy() && l.ITLError.P999 > undisturbed+500*time.Microsecond:
			t.Errorf("stop %v: error of clean gaps p99.9 %v, undisturbed %v", stop, l.ITLError.P999, undisturbed)
		}
		if stop > 2*gap && l.Coalesced == 0 {
			t.Errorf("stop %v: no event is marked as coalesced", stop)
		}
	}
}

func haltFiveTimes(p *process, after, d time.Duration, done *atomic.Int64) {
	time.Sleep(after)
	for range 5 {
		time.Sleep(300 * time.Millisecond)
		_ = p.cmd.Process.Signal(syscall.SIGSTOP)
		time.Sleep(d)
		_ = p.cmd.Process.Signal(syscall.SIGCONT)
		done.Add(1)
	}
}

// calibratePlan is the plan of the calibrate role.
func calibratePlan(url string) calibrate.Plan {
	return calibrate.Plan{
		Client: client.Options{BaseURLs: []string{url}, Timeouts: client.DefaultTimeouts()},
		Params: client.Params{Model: "simulated"}, Hold: 5 * time.Second, Bounds: calibrate.DefaultBounds(),
	}
}
