package metrics

import (
	"math"
	"testing"
	"time"

	"github.com/mifbench/mifbench/pkg/bench/record"
)

func mustSummarize(t *testing.T, records []record.Record, v View, o Options) Summary {
	t.Helper()
	s, err := Summarize(FromRecords(records), v, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func stat(t *testing.T, s Summary, n MetricName) Metric {
	t.Helper()
	m, ok := s.Metric(n)
	if !ok {
		t.Fatalf("view %s has no %s", s.View, n)
	}
	return m
}

func near(t *testing.T, what string, got Value, want, rel float64) {
	t.Helper()
	if !got.Known() || math.Abs(float64(got)-want) > rel*math.Abs(want) {
		t.Errorf("%s = %v, want %v within %v %%", what, got, want, 100*rel)
	}
}

// windowed is four requests round the window [1000, 2000) ms.
//
//	a  begins before, ends inside      b  wholly inside
//	c  begins inside, ends after       d  failed inside after two tokens
func windowed() ([]record.Record, Options) {
	first := stream(0, 100, 200) // sets w: earliest start 0
	a := stream(500, 900, 1000, 1100)
	b := stream(1200, 1300, 1400, 1500, 1600)
	c := stream(1500, 1800, 1900, 2000, 2100)
	d := stream(1100, 1150, 1250)
	d.Status, d.HTTPStatus, d.Error = record.Reset, 200, "connection reset"
	last := stream(2200, 2400, 3000) // sets c: latest end 3000
	return []record.Record{first, a, b, c, d, last}, Options{Window: WindowSpec{Warmup: time.Second, Cooldown: time.Second}}
}

func TestViewMifbenchHasOneBasis(t *testing.T) {
	records, o := windowed()
	s := mustSummarize(t, records, ViewMifbench, o)
	if s.Window.Window != (Window{sec, 2 * sec}) || s.Duration != 1 {
		t.Fatalf("window %+v", s.Window.Window)
	}
	// output by arrival: a 1000, 1100; b 4; c 1800, 1900 (2000 is outside); d 2
	if s.OutputTokens != 10 || s.OutputThroughput != 10 {
		t.Errorf("output tokens %d", s.OutputTokens)
	}
	// input and TTFT by first token: b, c, d
	if s.InputTokens != 300 || stat(t, s, TTFT).Count != 3 {
		t.Errorf("input %d, TTFT samples %d", s.InputTokens, stat(t, s, TTFT).Count)
	}
	// ITL by the gap's end: a 2, b 3, c 1, d 1
	if n := stat(t, s, ITL).Count; n != 7 {
		t.Errorf("ITL samples %d", n)
	}
	// completion: a, b
	if n := stat(t, s, E2EL).Count; n != 2 || s.Requests.Successful != 2 {
		t.Errorf("E2EL samples %d", n)
	}
	r := s.Requests
	if r.Started != 3 || r.Finished != 2 || r.Inside != 1 || r.Touching != 4 || r.Failed != 1 {
		t.Errorf("started %d finished %d inside %d touching %d failed %d", r.Started, r.Finished, r.Inside, r.Touching, r.Failed)
	}
}

func TestViewMorehHasThePublishedMixedBasis(t *testing.T) {
	records, o := windowed()
	s := mustSummarize(t, records, ViewMoreh, o)
	if s.OutputTokens != 8 { // as mifbench without the failed request
		t.Errorf("generated tokens %d", s.OutputTokens)
	}
	if s.Requests.Successful != 1 || s.InputTokens != 100 || stat(t, s, TTFT).Count != 1 { // b only
		t.Errorf("successful %d input %d", s.Requests.Successful, s.InputTokens)
	}
	if n := stat(t, s, ITL).Count; n != 6 {
		t.Errorf("ITL samples %d", n)
	}
	if s.TotalThroughput != 108 {
		t.Errorf("total throughput %v mixes two populations", s.TotalThroughput)
	}
}

func TestViewVLLMIsUntrimmed(t *testing.T) {
	records, o := windowed()
	records[0].UsageCompletion = 2
	s := mustSummarize(t, records, ViewVLLM, o)
	if s.OutputTokens != 2+3+4+4+2 || s.InputTokens != 500 || s.Requests.Successful != 5 {
		t.Errorf("output %d input %d requests %d", s.OutputTokens, s.InputTokens, s.Requests.Successful)
	}
	near(t, "duration", Value(s.Duration), 3.000001, 1e-9) // dispatch to the end of the last request
	if n := stat(t, s, ITL).Count; n != 1+2+3+3+1 {
		t.Errorf("ITL samples %d", n)
	}
	// chunks in second 1: a 2, b 4, c 2; in flight: b and c overlap
	if s.PeakOutput != 8 || s.PeakInFlight != 2 {
		t.Errorf("peak %v in flight %v", s.PeakOutput, s.PeakInFlight)
	}
}

func TestWholeRunWithoutWindow(t *testing.T) {
	s := mustSummarize(t, []record.Record{stream(0, 100, 200, 300)}, ViewMifbench, Options{})
	if s.OutputTokens != 3 || s.Requests.Inside != 1 {
		t.Fatalf("the last token is not part of the whole run: %d", s.OutputTokens)
	}
	near(t, "tpot", stat(t, s, TPOT).Mean, 100, 1e-9)
	near(t, "tps", stat(t, s, UserTPS).Mean, 10, 1e-9)
	near(t, "e2el", stat(t, s, E2EL).Mean, 300, 1e-9)
}

func TestEmptyWindowIsAnErrorWithAWayOut(t *testing.T) {
	_, err := Summarize(FromRecords([]record.Record{stream(0, 100)}), ViewMifbench, Options{Window: WindowSpec{Warmup: time.Minute}})
	if err == nil {
		t.Fatal("no error")
	}
	if _, err := Summarize(FromRecords(nil), ViewVLLM, Options{}); err == nil {
		t.Fatal("no records, no error")
	}
}

// A steady load under a cap: every figure is known by construction.
func TestSteadyLoadIsMeasuredRight(t *testing.T) {
	l := load{n: 3000, cap: 200, rate: 50, ttft: 200 * milli, itl: 20 * milli, noise: 5 * milli, isl: 64, osl: 100, seed: 1}
	latency := 0.2 + 99*0.02
	rate := 200 / latency
	o := Options{Window: WindowSpec{Warmup: 10 * time.Second, Cooldown: 5 * time.Second}, RequestRate: 50, MaxConcurrency: 200}
	records := l.run()
	_ = rate
	// 50/s × 2.18 s = 109 in flight: the rate binds
	s := mustSummarize(t, records, ViewMifbench, o)
	near(t, "output rate", s.OutputThroughput, 5000, 0.01)
	near(t, "input rate", s.InputThroughput, 3200, 0.01)
	near(t, "TTFT", stat(t, s, TTFT).Mean, 200, 0.01)
	near(t, "ITL", stat(t, s, ITL).Mean, 20, 0.01)
	near(t, "in flight", s.Load.InFlight, 50*latency, 0.01)
	near(t, "Little", s.Load.Little.Implied, 50*latency, 0.02)
	if s.Load.Binds != LimitRate {
		t.Errorf("binds %s", s.Load.Binds)
	}
	l.rate, o.RequestRate = 140, 140
	s = mustSummarize(t, l.run(), ViewMifbench, o)
	near(t, "output rate at the cap", s.OutputThroughput, rate*100, 0.01)
	near(t, "in flight at the cap", s.Load.InFlight, 200, 0.01)
	if s.Load.Binds != LimitConcurrency || s.PeakInFlight != 200 {
		t.Errorf("binds %s, peak %v", s.Load.Binds, s.PeakInFlight)
	}
}

func TestSLOAndGoodput(t *testing.T) {
	slow := stream(0, 900, 1000, 1100)
	records := []record.Record{stream(0, 100, 200, 300), stream(0, 100, 200, 600), slow}
	o := Options{SLO: &SLO{TTFT: 500 * time.Millisecond, ITL: 250 * time.Millisecond, Percentile: 100}}
	s := mustSummarize(t, records, ViewMifbench, o)
	if s.SLO.Met || s.SLO.Good != 1 || s.SLO.Judged != 3 || len(s.SLO.Checks) != 2 {
		t.Errorf("%+v", s.SLO)
	}
	near(t, "goodput", s.SLO.Goodput, 1/s.Duration, 1e-9)
	o.SLO = &SLO{TTFT: time.Second, ITL: 400 * time.Millisecond}
	if s = mustSummarize(t, records, ViewMifbench, o); !s.SLO.Met || s.SLO.Good != 3 || s.SLO.Percentile != 99 {
		t.Errorf("%+v", s.SLO)
	}
}

func TestCostScaleAndReference(t *testing.T) {
	near(t, "$ per M output tokens", CostPerMillion(40, 2, 66194.80), 0.336, 0.002)
	s := Summary{OutputThroughput: 65870}
	ref := compareReference(s, &Reference{OutputTokensPerSecond: 66194.80, Tolerance: 0.03})
	if ref[0].Verdict != Within || ref[0].Percent.Fixed(1) != "99.5" || ref[0].Missed() {
		t.Errorf("%+v", ref)
	}
	if r := CompareReference("x", 100, 96, 0.03, true); r.Verdict != Worse || !r.Missed() {
		t.Errorf("%+v", r)
	}
	if r := CompareReference("x", 100, 96, 0.03, false); r.Verdict != Better || r.Missed() {
		t.Errorf("%+v", r)
	}
	if r := CompareReference("x", 100, NA(), 0.03, false); !r.Missed() {
		t.Error("an unknown figure passes")
	}
	sc := scale(Summary{OutputThroughput: 66194.80}, Units{GPUs: 40, Nodes: 5, DecodeNodes: 3, PrefillNodes: 2})
	for i, c := range []struct{ got, want string }{
		{sc.OutputPerDecodeNode.Fixed(2), "22064.93"}, {sc.OutputPerNode.Fixed(0), "13239"}, {sc.OutputPerGPU.Fixed(0), "1655"},
	} {
		if c.got != c.want {
			t.Errorf("case %d: %s, want %s", i, c.got, c.want)
		}
	}
}

func TestCompareVerdicts(t *testing.T) {
	l := load{n: 600, cap: 50, rate: 20, ttft: 100 * milli, itl: 10 * milli, isl: 8, osl: 50, seed: 1}
	a := mustSummarize(t, l.run(), ViewMifbench, Options{})
	slow := l
	slow.itl = 11 * milli
	b := mustSummarize(t, slow.run(), ViewMifbench, Options{})
	if c := Compare(a, a, 0.03); c.Verdict != Within || c.Missed() {
		t.Errorf("same: %+v", c)
	}
	if c := Compare(a, b, 0.03); c.Verdict != Worse || !c.Missed() {
		t.Errorf("slower: %s", c.Verdict)
	}
	if c := Compare(b, a, 0.03); c.Verdict != Better {
		t.Errorf("faster: %s", c.Verdict)
	}
	if c := Compare(a, b, 0.15); c.Verdict != Within {
		t.Errorf("tolerant: %s", c.Verdict)
	}
}
