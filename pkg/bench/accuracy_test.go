package bench_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/mifbench/mifbench/pkg/bench"
	"github.com/mifbench/mifbench/pkg/bench/arrival"
	"github.com/mifbench/mifbench/pkg/bench/calibrate"
	"github.com/mifbench/mifbench/pkg/bench/client"
	"github.com/mifbench/mifbench/pkg/bench/dataset"
	"github.com/mifbench/mifbench/pkg/bench/record"
)

// heavy asks for the full loads: they need a quiet machine of two cores or more.
func heavy() bool { return os.Getenv("MIFBENCH_HEAVY") != "" }

// text is a source of different prompts of about n tokens.
type text int

func (n text) Prompt(_ context.Context, i int64) (dataset.Prompt, error) {
	b := fmt.Appendf(nil, "prompt %d", i)
	for range int(n) - 2 {
		b = append(b, " word"...)
	}
	return dataset.Prompt{Text: string(b), Tokens: int(n), OffsetNS: -1}, nil
}

func (n text) Info() dataset.Info { return dataset.Info{Kind: "test"} }

// Against a simulator in a separate process: the offered load is the requested one within
// 1 %, the median gap is right within 1 %, and no request is unaccounted for.
func TestAccuracyAgainstASeparateProcess(t *testing.T) {
	streams, seconds := 100, 3
	if heavy() {
		streams, seconds = 1000, 6
	} else if testing.Short() {
		streams, seconds = 40, 1
	}
	const itl, tokens = 20 * time.Millisecond, 50
	url := startSim(t, 50*time.Millisecond, itl)
	rate := float64(streams) / (0.05 + (tokens-1)*itl.Seconds())
	n := int64(rate * float64(seconds))
	path := filepath.Join(t.TempDir(), "records")
	w, err := record.Create(path, record.Header{Scenario: "accuracy"}, record.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := bench.Run(t.Context(), bench.Scenario{
		Name: "accuracy", Client: client.Options{BaseURLs: []string{url}, Timeouts: client.DefaultTimeouts()},
		Params: client.Params{Model: "simulated", IgnoreEOS: true}, Source: text(20), OutputTokens: tokens,
		MaxConcurrency: 10 * streams, Arrival: arrival.Spec{Rate: rate, Requests: n, Rescale: true, Seed: 1},
	}, w, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var sent, gaps []int64
	seen := map[int64]bool{}
	for r, err := range record.All(path) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != record.OK || len(r.Events) != tokens || r.UsageCompletion != tokens {
			t.Errorf("request %d: %s %s, %d events of %d", r.Index, r.Status, r.Error, len(r.Events), tokens)
		}
		seen[r.Index] = true
		sent = append(sent, r.Sent)
		for i := 1; i < len(r.Events); i++ {
			gaps = append(gaps, r.Events[i].At-r.Events[i-1].At)
		}
	}
	slices.Sort(sent)
	slices.Sort(gaps)
	if len(seen) != int(n) || out.Records != n || out.Admitted != n || out.Dropped != 0 {
		t.Errorf("%d requests recorded of %d, outcome %+v", len(seen), n, out)
	}
	offered := float64(n) / (float64(sent[n-1]) / 1e9)
	median := time.Duration(gaps[len(gaps)/2])
	t.Logf("offered %.2f/s of %.2f, median gap %v, send lag %+v, verdict %+v", offered, rate, median, out.Proof.SendLag, out.Proof.Judge(bench.DefaultBounds()))
	if math.Abs(offered/rate-1) > 0.01 {
		t.Errorf("offered %.2f/s, requested %.2f/s", offered, rate)
	}
	if math.Abs(float64(median)/float64(itl)-1) > 0.01 {
		t.Errorf("median gap %v, want %v within 1 %%", median, itl)
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
	for _, stop := range []time.Duration{0, 100 * time.Millisecond, 400 * time.Millisecond} {
		p := start(t, "calibrate", url, fmt.Sprint(streams), gap.String())
		var halted atomic.Int64
		if stop > 0 {
			go haltFiveTimes(p, stop, &halted)
		}
		l := level(t, p)
		t.Logf("stopped 5 × %v (%d done): gap error p50 %v p99 %v p99.9 %v, all p99.9 %v, coalesced %.3f %%", stop, halted.Load(), l.ITLError.P50, l.ITLError.P99, l.ITLError.P999, l.ITLErrorAll.P999, 100*l.Coalesced)
		if l.ITLError.N == 0 || l.ITLError.P99 > 500*time.Microsecond {
			t.Errorf("stop %v: error of clean gaps p99 %v over %d", stop, l.ITLError.P99, l.ITLError.N)
		}
		if stop > 2*gap && l.Coalesced == 0 {
			t.Errorf("stop %v: no event is marked as coalesced", stop)
		}
	}
}

func haltFiveTimes(p *process, d time.Duration, done *atomic.Int64) {
	time.Sleep(3 * time.Second) // past the settling time
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
