package metrics

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/mifbench/mifbench/pkg/bench/record"
)

// Each test is named after the report by a user of another tool that it answers.

func warned(s Summary, code string) bool {
	for _, w := range s.Warnings {
		if w.Code == code {
			return true
		}
	}
	return false
}

// vllm-project/vllm#27485: a chunk of several tokens is not one token.
func TestRow27485MultiTokenChunks(t *testing.T) {
	a, b := stream(0, 100, 200), stream(0, 100, 140)
	b.Events[1].Tokens = 4 // four tokens in 40 ms
	s := mustSummarize(t, []record.Record{a, b}, ViewMifbench, Options{})
	itl, per := stat(t, s, ITL), stat(t, s, TokenLatency)
	near(t, "chunk gap", itl.Mean, 70, 1e-9)
	near(t, "per-token latency", per.Mean, (100+4*10)/5.0, 1e-9)
	if itl.Count != 2 || per.Count != 5 || !warned(s, WarnMultiToken) || s.OutputTokens != 7 || s.OutputChunks != 4 {
		t.Errorf("chunks %d tokens %d, gaps %d per token %d", s.OutputChunks, s.OutputTokens, itl.Count, per.Count)
	}
	s = mustSummarize(t, []record.Record{a}, ViewMifbench, Options{})
	if stat(t, s, ITL).Mean != stat(t, s, TokenLatency).Mean || warned(s, WarnMultiToken) {
		t.Error("with one token a chunk the two metrics are one")
	}
}

// vllm-project/vllm#35471: the peak counts tokens; usage is spread over the chunks.
func TestRow35471PeakCountsTokens(t *testing.T) {
	r := stream(0, 100, 200, 300, 400)
	r.UsageCompletion = 16
	s := mustSummarize(t, []record.Record{r}, ViewMifbench, Options{})
	if s.PeakOutput != 16 || s.OutputTokens != 16 {
		t.Errorf("peak %v tokens %d, want 16", s.PeakOutput, s.OutputTokens)
	}
	near(t, "per-token latency", stat(t, s, TokenLatency).Mean, 25, 1e-9)
	if v := mustSummarize(t, []record.Record{r}, ViewVLLM, Options{}); v.PeakOutput != 4 || v.OutputTokens != 16 {
		t.Errorf("the vllm view counts chunks for the peak (%v) and usage for the total (%d)", v.PeakOutput, v.OutputTokens)
	}
}

// vllm-project/vllm#6531, #7242: every metric says what it means and what others call it.
func TestRow6531EveryMetricIsDefined(t *testing.T) {
	s := mustSummarize(t, []record.Record{stream(0, 1, 2)}, ViewMifbench, Options{})
	defined := map[MetricName]bool{}
	for _, d := range Definitions() {
		defined[d.Name] = d.Meaning != "" && d.Elsewhere != ""
	}
	for _, m := range s.Metrics {
		if !defined[m.Name] || m.Basis == "" {
			t.Errorf("metric %s has no definition or basis", m.Name)
		}
	}
}

// vllm-project/vllm#54101: waiting for a slot is part of what a user feels.
func TestRow54101QueueIsReported(t *testing.T) {
	r := stream(5000, 5100, 5200)
	r.Intended = 1000 * milli
	s := mustSummarize(t, []record.Record{r}, ViewMifbench, Options{})
	near(t, "queue", stat(t, s, QueueTime).Mean, 4000, 1e-9)
	near(t, "service", stat(t, s, E2EL).Mean, 200, 1e-9)
	near(t, "from intended send", stat(t, s, E2ELWithQueue).Mean, 4200, 1e-9)
	if !warned(s, WarnClientQueue) {
		t.Error("no warning")
	}
}

// vllm-project/vllm PR #45502: achieved against requested rate.
func TestRow45502AchievedRate(t *testing.T) {
	l := load{n: 400, cap: 20, rate: 100, ttft: 100 * milli, itl: 10 * milli, isl: 8, osl: 50, seed: 1}
	s := mustSummarize(t, l.run(), ViewMifbench, Options{RequestRate: 100, MaxConcurrency: 20})
	near(t, "intended", s.Load.IntendedRate, 100, 1e-6)
	if s.Load.SendRate > 40 || !warned(s, WarnRate) || s.Load.Binds != LimitConcurrency {
		t.Errorf("sent at %v, binds %s", s.Load.SendRate, s.Load.Binds)
	}
}

// sgl-project/sglang#23949, vllm-project/guidellm#737, ai-dynamo/aiperf#391: reasoning counts, and
// the first answer token is a metric of its own.
func TestRow23949ReasoningTokens(t *testing.T) {
	r := stream(0, 100, 200, 300, 900)
	r.ReasoningEvents = 3
	s := mustSummarize(t, []record.Record{r}, ViewMifbench, Options{})
	near(t, "TTFT", stat(t, s, TTFT).Mean, 100, 1e-9)
	near(t, "first answer token", stat(t, s, TTFAT).Mean, 900, 1e-9)
	if s.OutputTokens != 4 {
		t.Errorf("%d tokens", s.OutputTokens)
	}
	if _, ok := mustSummarize(t, []record.Record{stream(0, 1)}, ViewMifbench, Options{}).Metric(TTFAT); ok {
		t.Error("a run without reasoning has a first answer token")
	}
}

// sgl-project/sglang#10746: an early stop is not counted as the length asked for.
func TestRow10746EarlyStop(t *testing.T) {
	r := stream(0, 100, 200, 300)
	r.MaxTokens, r.UsageCompletion = 100, 3
	s := mustSummarize(t, []record.Record{r}, ViewMifbench, Options{})
	if s.OutputTokens != 3 || s.Usage.ShortOutputs != 1 || !warned(s, WarnShortOutputs) {
		t.Errorf("%d tokens, %d short", s.OutputTokens, s.Usage.ShortOutputs)
	}
	near(t, "TPOT", stat(t, s, TPOT).Mean, 100, 1e-9)
}

// sgl-project/sglang#12389: no samples is n/a, not 0.
func TestRow12389NoSamplesIsNA(t *testing.T) {
	r := stream(0)
	r.Status, r.HTTPStatus, r.Done = record.HTTP, 500, sec
	for _, v := range Views() {
		s := mustSummarize(t, []record.Record{r}, v, Options{})
		for _, m := range s.Metrics {
			if m.Name != QueueTime && m.Mean.Known() {
				t.Errorf("view %s: mean %s of no samples is %v", v, m.Name, m.Mean)
			}
		}
		if s.Load.Little.Implied.Known() || s.Requests.Failed != 1 || !warned(s, WarnNoTokens) {
			t.Errorf("view %s: %+v", v, s.Load.Little)
		}
	}
}

// vllm-project/guidellm#1078: trimming is on token events, so a request across the edge counts
// with the part that is inside.
func TestRow1078TrimOnTokens(t *testing.T) {
	l := load{n: 60, cap: 4, rate: 1000, ttft: 10 * milli, itl: 10 * milli, isl: 8, osl: 500, seed: 1}
	for _, w := range []time.Duration{7 * time.Second, 7500 * time.Millisecond, 8333 * time.Millisecond} {
		s := mustSummarize(t, l.run(), ViewMifbench, Options{Window: WindowSpec{Warmup: w, Cooldown: 6 * time.Second}})
		near(t, fmt.Sprintf("rate with warm-up %v", w), s.OutputThroughput, 400, 0.005)
	}
}

// kubernetes-sigs/inference-perf#319: more in flight than the cap is a fault that shows.
func TestRow319OverTheCap(t *testing.T) {
	rs := []record.Record{stream(0, 100, 500), stream(0, 100, 500), stream(0, 100, 500)}
	if s := mustSummarize(t, rs, ViewMifbench, Options{MaxConcurrency: 2}); !warned(s, WarnOverCap) || s.PeakInFlight != 3 {
		t.Errorf("peak %v", s.PeakInFlight)
	}
}

// sgl-project/sglang PR #30918: the steady state is found from the concurrency curve.
func TestRow30918AutomaticWindow(t *testing.T) {
	l := load{n: 3000, cap: 100, rate: 20, ttft: 100 * milli, itl: 20 * milli, noise: 5 * milli, isl: 8, osl: 300, seed: 2}
	s := mustSummarize(t, l.run(), ViewMifbench, Options{Window: WindowSpec{Auto: true}})
	// the cap fills in 5 s; the last request is sent at about 3000/(100/6.08 s) s
	if f := float64(s.Window.From) / 1e9; f < 4 || f > 30 {
		t.Errorf("window from %v s", f)
	}
	near(t, "rate", s.OutputThroughput, 100/(0.1+299*0.02)*300, 0.01)
	if p := s.Window.Precision; p.Sure == SureLow || p.Blocks < 8 || !*p.Stationary || p.HalfWidth > 0.02 {
		t.Errorf("%+v", p)
	}
}

// vllm-project/vllm PR #18475 and others: excluding by time does not need a pause between
// warm-up and measurement.
func TestRow18475WarmupByTimeWithoutGap(t *testing.T) {
	l := load{n: 400, cap: 10, rate: 100, ttft: 50 * milli, itl: 10 * milli, isl: 8, osl: 100, seed: 3}
	s := mustSummarize(t, l.run(), ViewMifbench, Options{Window: WindowSpec{Warmup: 5 * time.Second, Cooldown: 5 * time.Second}, MaxConcurrency: 10})
	near(t, "in flight", s.Load.InFlight, 10, 0.001)
}

// NVIDIA/aicr#1197: a result says how far it can be trusted.
func TestRow1197Confidence(t *testing.T) {
	l := load{n: 300, cap: 100, rate: 50, ttft: 100 * milli, itl: 20 * milli, isl: 8, osl: 300, seed: 2}
	s := mustSummarize(t, l.run(), ViewMifbench, Options{Window: WindowSpec{Warmup: 3 * time.Second, Cooldown: 5 * time.Second}})
	if p := s.Window.Precision; p.Sure != SureLow || p.Blocks >= 4 || !warned(s, WarnShortWindow) {
		t.Errorf("a window of %v latencies is trusted: %+v", p.Latencies, p)
	}
	// Two runs with different rates: their intervals do not overlap.
	l = load{n: 3000, cap: 100, rate: 50, ttft: 100 * milli, itl: 20 * milli, noise: 5 * milli, isl: 8, osl: 100, seed: 2}
	o := Options{Window: WindowSpec{Auto: true}}
	a := mustSummarize(t, l.run(), ViewMifbench, o)
	l.itl = 15 * milli
	if c := Compare(a, mustSummarize(t, l.run(), ViewMifbench, o), 0.5); c.Rows[0].Noise {
		t.Error("33 % more is called noise")
	}
}

// Blackwellboy/model-serving-minefield#37: a cold start is cut off by a criterion.
func TestRow37ColdStartIsCutOff(t *testing.T) {
	l := load{n: 2000, cap: 50, rate: 1e6, ttft: 50 * milli, itl: 20 * milli, isl: 8, osl: 50, seed: 4}
	records := l.run()
	const slowUntil = 8 * sec // the engine is warming up: everything takes three times as long
	for i := range records {
		for k := range records[i].Events {
			e := &records[i].Events[k]
			e.At = warp(e.At, slowUntil)
		}
		records[i].Sent, records[i].Done = warp(records[i].Sent, slowUntil), warp(records[i].Done, slowUntil)
	}
	s := mustSummarize(t, records, ViewMifbench, Options{Window: WindowSpec{Auto: true}})
	whole := mustSummarize(t, records, ViewMifbench, Options{})
	want := 50 / (0.05 + 49*0.02) * 50
	if float64(whole.OutputThroughput) > 0.95*want {
		t.Fatalf("the example is not cold enough: %v of %v", whole.OutputThroughput, want)
	}
	if off := math.Abs(float64(s.OutputThroughput)/want - 1); off > 0.05 && s.Window.Precision.Sure != SureLow {
		t.Errorf("cold start is in the result (%.1f %%) and it is called %s", 100*off, s.Window.Precision.Sure)
	}
}

// warp stretches time before until by three.
func warp(at, until int64) int64 {
	if at*3 < until {
		return at * 3
	}
	return until + at - until/3
}

// tugot17/tokenomics PR #16: error events are not successes.
func TestRow16ErrorsAreNotSuccesses(t *testing.T) {
	bad := stream(0, 100, 200)
	bad.Status, bad.Error = record.InStream, "engine died"
	s := mustSummarize(t, []record.Record{stream(0, 100, 300), bad, bad}, ViewMifbench, Options{})
	want := FailureCount{Status: "in-stream", HTTPStatus: 200, Count: 2, Example: "engine died"}
	if s.Requests.Successful != 1 || len(s.Failures) != 1 || s.Failures[0] != want {
		t.Errorf("%d successful, %+v", s.Requests.Successful, s.Failures)
	}
}

// CentML PR #66: usage first, the fallback is flagged.
func TestRow66UsageFallbackIsFlagged(t *testing.T) {
	r := stream(0, 100, 200)
	if s := mustSummarize(t, []record.Record{r}, ViewMifbench, Options{}); !warned(s, WarnUsageMissing) {
		t.Error("no warning")
	}
	r.UsageCompletion = 2
	if s := mustSummarize(t, []record.Record{r}, ViewMifbench, Options{}); warned(s, WarnUsageMissing) {
		t.Error("a warning with usage")
	}
}

// vllm-project/vllm#10847 and others: the server's counts are compared with ours.
func TestRow10847TokenCounts(t *testing.T) {
	r := stream(0, 100, 200, 300)
	r.PromptTokens, r.UsagePrompt, r.UsageCompletion = 512, 498, 9
	s := mustSummarize(t, []record.Record{r}, ViewMifbench, Options{})
	if !warned(s, WarnTokenCounts) || !warned(s, WarnPromptLength) || s.InputTokens != 498 {
		t.Errorf("warnings %+v, input %d", s.Warnings, s.InputTokens)
	}
}

// vllm-project/vllm#52884 and others: prefix-cache hits that the scenario does not declare.
func TestRow52884CacheContamination(t *testing.T) {
	r := stream(0, 100, 200)
	r.CachedTokens = 90 // of 100
	s := mustSummarize(t, []record.Record{r}, ViewMifbench, Options{})
	near(t, "hit share", s.Usage.CacheHit, 0.9, 1e-9)
	if !warned(s, WarnCache) || warned(mustSummarize(t, []record.Record{r}, ViewMifbench, Options{ExpectedCacheHit: 0.9}), WarnCache) {
		t.Error("the warning is about what was not declared")
	}
}

// vllm-project/vllm PR #51030: a run that ended badly still has a result, marked partial.
func TestRow51030PartialResults(t *testing.T) {
	src := func(yield func(*record.Record, error) bool) {
		r := stream(0, 100, 200)
		if yield(&r, nil) {
			yield(nil, fmt.Errorf("x.mifrec: %w at byte 7", record.ErrDamaged))
		}
	}
	s, err := Summarize(src, ViewMifbench, Options{})
	if err != nil || !s.Partial || s.OutputTokens != 2 || !warned(s, WarnPartial) {
		t.Fatalf("%v %+v", err, s)
	}
	broken := errors.New("input/output error")
	_, err = Summarize(func(yield func(*record.Record, error) bool) { yield(nil, broken) }, ViewMifbench, Options{})
	if !errors.Is(err, broken) {
		t.Fatalf("a failing disk is not a partial result: %v", err)
	}
}

// vllm-project/guidellm#487: which limit was hit is said.
func TestRow487NoHiddenCap(t *testing.T) {
	for _, c := range []struct {
		cap      int
		rate     float64
		inFlight float64
		sent     float64
		want     Limit
	}{
		{10800, 140, 10795, 129, LimitConcurrency},
		{10800, 50, 4000, 49.9, LimitRate},
		{10800, 500, 100, 90, LimitNeither}, // something that nobody asked for
		{0, math.NaN(), 100, 90, LimitNeither},
		{10, 10, math.NaN(), 90, LimitUnknown},
	} {
		if got := Binding(c.cap, c.rate, c.inFlight, c.sent); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// Coalesced reads are counted and can be left out of the latencies.
func TestCoalescedSamplesCanBeLeftOut(t *testing.T) {
	r := stream(0, 100, 200, 300, 301, 400)
	r.Events[3].Coalesced = true
	s := mustSummarize(t, []record.Record{r}, ViewMifbench, Options{})
	if s.Coalesced != 1 || !warned(s, WarnCoalesced) || stat(t, s, ITL).Count != 4 {
		t.Errorf("coalesced %d", s.Coalesced)
	}
	s = mustSummarize(t, []record.Record{r}, ViewMifbench, Options{ExcludeCoalesced: true})
	if m := stat(t, s, ITL); m.Count != 2 || m.Max != 100 || s.OutputTokens != 5 {
		t.Errorf("%+v", m)
	}
}
