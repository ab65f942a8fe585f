package bench_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/mifbench/mifbench/pkg/bench"
	"github.com/mifbench/mifbench/pkg/bench/benchtest"
	"github.com/mifbench/mifbench/pkg/bench/client"
	"github.com/mifbench/mifbench/pkg/bench/dataset"
)

// TestNoDueRequestWaitsForItsPrompt sends at the rates of the published benchmark while
// prompts are still cut from a ShareGPT file, as happens when a set is too large to be held:
// cutting runs ahead of the schedule and stays there. By environment:
//
//	MIFBENCH_SHAREGPT   the file: test/texts -megabytes 611 makes one of the real one's size
//	MIFBENCH_TOKENIZER  tokenizer.json
func TestNoDueRequestWaitsForItsPrompt(t *testing.T) {
	path, file := os.Getenv("MIFBENCH_SHAREGPT"), os.Getenv("MIFBENCH_TOKENIZER")
	if path == "" || file == "" {
		t.Skip("MIFBENCH_SHAREGPT or MIFBENCH_TOKENIZER is not set")
	}
	const seconds, slots = 20, 10800
	index := t.TempDir() // a client reads the file once, whatever the scenarios
	for _, c := range []struct{ tokens, rate int }{{512, 140}, {1000, 80}, {2000, 48}} {
		t.Run(fmt.Sprint(c.tokens), func(t *testing.T) {
			server := benchtest.Start(t, nil, func(benchtest.Request) []benchtest.Step { return benchtest.Stream(4, 0, 0) })
			begin := time.Now()
			prompts, err := dataset.Open(t.Context(), dataset.Options{
				Kind: "sharegpt", Path: path, Tokens: c.tokens, Prompts: 32400, TokenizerPath: file, Salt: true, CacheDir: index,
			})
			if err != nil {
				t.Fatal(err)
			}
			opened := time.Since(begin)
			var waited time.Duration
			s := scenario(server.URL, int64(seconds*c.rate), slots)
			s.Source, s.SkipProbe, s.Arrival.Process, s.Arrival.Rate = prompts, true, "poisson", float64(c.rate)
			s.Client.Timeouts.FirstByte, s.Client.Timeouts.Idle = 20*time.Second, 20*time.Second
			s.Started = func(*client.Clock) { waited = time.Since(begin) - opened }
			k := &keep{}
			out, err := bench.Run(t.Context(), s, k, nil)
			if err != nil {
				t.Fatal(err)
			}
			ramp := slots * time.Second / time.Duration(c.rate)
			t.Logf("the file is read after %.1f s, the first %d prompts %.1f s later; %d requests at %d/s waited %s in all for their prompts; the ramp is %.1f s, %.1f times as long as the wait for the first request",
				opened.Seconds(), 1024, waited.Seconds(), len(k.recs), c.rate, out.Proof.SourceWait, ramp.Seconds(), ramp.Seconds()/(opened+waited).Seconds())
			if out.Proof.SourceWait > out.Proof.Elapsed/1000 || opened+waited > ramp {
				t.Errorf("due requests waited %s, the first one was sent after %s", out.Proof.SourceWait, opened+waited)
			}
		})
	}
}
