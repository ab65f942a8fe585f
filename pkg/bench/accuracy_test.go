package bench_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/mifbench/mifbench/pkg/bench"
	"github.com/mifbench/mifbench/pkg/bench/arrival"
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
// 0.5 %, the median gap is right within 1 %, and no request is unaccounted for.
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
	recs, out := runRecorded(t, bench.Scenario{
		Name: "accuracy", Client: client.Options{BaseURLs: []string{url}, Timeouts: client.DefaultTimeouts()},
		Params: client.Params{Model: "simulated", IgnoreEOS: true}, Source: text(20), OutputTokens: tokens,
		MaxConcurrency: 10 * streams, Arrival: arrival.Spec{Rate: rate, Requests: n, Rescale: true, Seed: 1},
	})
	var sent, gaps []int64
	seen := map[int64]bool{}
	for _, r := range recs {
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
	t.Logf("offered %.2f/s of %.2f (%+.3f %%), median gap %v, send lag %+v, verdict %+v", offered, rate, 100*(offered/rate-1), median, out.Proof.SendLag, out.Proof.Judge(bench.DefaultBounds()))
	if math.Abs(offered/rate-1) > 0.005+0.02/float64(seconds) && !heavy() || math.Abs(offered/rate-1) > 0.005 && heavy() {
		t.Errorf("offered %.2f/s, requested %.2f/s", offered, rate)
	}
	if math.Abs(float64(median)/float64(itl)-1) > 0.01 {
		t.Errorf("median gap %v, want %v within 1 %%", median, itl)
	}
}

// runRecorded runs a scenario with its records in a file and reads them back.
func runRecorded(t *testing.T, s bench.Scenario) ([]record.Record, bench.Outcome) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "records")
	w, err := record.Create(path, record.Header{Scenario: s.Name}, record.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := bench.Run(t.Context(), s, w, nil)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	var recs []record.Record
	for r, err := range record.All(path) {
		if err != nil {
			t.Fatal(err)
		}
		recs = append(recs, r.Clone())
	}
	return recs, out
}
