package bench_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mifbench/mifbench/pkg/bench"
	"github.com/mifbench/mifbench/pkg/bench/arrival"
	"github.com/mifbench/mifbench/pkg/bench/benchtest"
	"github.com/mifbench/mifbench/pkg/bench/client"
	"github.com/mifbench/mifbench/pkg/bench/record"
)

// keep is a sink that keeps records.
type keep struct{ recs []record.Record }

func (k *keep) Write(r record.Record) error {
	k.recs = append(k.recs, r.Clone())
	return nil
}

func scenario(url string, n int64, capacity int) bench.Scenario {
	return bench.Scenario{
		Name: "live", Client: client.Options{BaseURLs: []string{url}, Timeouts: client.Timeouts{Dial: 5 * time.Second, FirstByte: 300 * time.Millisecond, Idle: 300 * time.Millisecond, Total: 20 * time.Second}},
		Params: client.Params{Model: "m", IgnoreEOS: true}, Source: text(8), OutputTokens: 4, MaxConcurrency: capacity,
		Arrival: arrival.Spec{Process: "constant", Rate: 2000, Requests: n}, RequestIDPrefix: "bench-",
	}
}

// Whatever a server does to its streams, each request ends as exactly one record.
func TestEveryRequestEndsAsOneRecord(t *testing.T) {
	tok := benchtest.Step{Write: benchtest.Chunk(benchtest.Data(benchtest.Token("x")))}
	head := benchtest.Step{Write: benchtest.Head}
	faults := [][]benchtest.Step{
		benchtest.Stream(4, 0, time.Millisecond),
		benchtest.Status(503, `{"error":{"message":"busy"}}`),
		{head, tok, {End: benchtest.Reset}},
		{head, tok, {End: benchtest.Close}},
		{head, tok, {End: benchtest.Hang}},
		{head, {End: benchtest.Hang}},
		{head, {Write: benchtest.Chunk(benchtest.Data(`{"error":"no"}`)) + benchtest.Tail}},
		{{End: benchtest.Close}},
	}
	s := benchtest.Start(t, nil, func(r benchtest.Request) []benchtest.Step {
		if strings.Contains(r.Body, "Hello") {
			return faults[0]
		}
		return faults[r.N%len(faults)]
	})
	var events atomic.Int64
	k := &keep{}
	out, err := bench.Run(t.Context(), scenario(s.URL, 400, 60), k, func(bench.Event) { events.Add(1) })
	if err != nil {
		t.Fatal(err)
	}
	got, classes := map[int64]int{}, map[record.Status]int64{}
	for _, r := range k.recs {
		got[r.Index]++
		classes[r.Status]++
		if r.Done == 0 || r.Status != record.OK && r.Error == "" || r.Status == record.OK && len(r.Events) != 4 {
			t.Errorf("record %+v", r)
		}
	}
	if len(got) != 400 || len(k.recs) != 400 || out.Proof.MaxInFlight > 60 || out.Proof.Cap != 60 {
		t.Errorf("%d records of %d requests, %d in flight", len(k.recs), len(got), out.Proof.MaxInFlight)
	}
	if d := cmp.Diff(classes, out.ByStatus); d != "" {
		t.Errorf("classes (-records +outcome):\n%s", d)
	}
	for _, c := range []record.Status{record.OK, record.HTTP, record.FirstByte, record.Idle, record.InStream, record.Truncated, record.Reset} {
		if classes[c] == 0 {
			t.Errorf("no record of class %s: %v", c, classes)
		}
	}
	if events.Load() == 0 || len(out.Probes) != 1 || out.Probes[0].URL != s.URL+"/v1/completions" {
		t.Errorf("%d progress events, probes %+v", events.Load(), out.Probes)
	}
}

func TestProbeNamesTargetModelAndReason(t *testing.T) {
	s := benchtest.Start(t, nil, func(benchtest.Request) []benchtest.Step {
		return benchtest.Status(404, `{"object":"error","message":"The model m does not exist.","code":404}`)
	})
	k := &keep{}
	_, err := bench.Run(t.Context(), scenario(s.URL, 4, 4), k, nil)
	for _, want := range []string{s.URL, `"m"`, "status 404", "does not exist"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v lacks %q", err, want)
		}
	}
	if len(k.recs) != 0 || len(s.Requests()) != 1 {
		t.Errorf("%d records, %d requests", len(k.recs), len(s.Requests()))
	}
}

// The same scenario sends the same bodies, whatever the concurrency and transport.
func TestSameSeedSameRequests(t *testing.T) {
	bodies := func(edit func(*bench.Scenario)) []string {
		s := benchtest.Start(t, nil, func(benchtest.Request) []benchtest.Step { return benchtest.Stream(4, 0, 0) })
		sc := scenario(s.URL, 50, 8)
		sc.SkipProbe = true
		edit(&sc)
		if _, err := bench.Run(t.Context(), sc, &keep{}, nil); err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, r := range s.Requests() {
			out = append(out, r.Header.Get("X-Request-Id")+r.Body)
		}
		slices.Sort(out)
		return out
	}
	want := bodies(func(*bench.Scenario) {})
	if len(want) != 50 || !strings.HasPrefix(want[0], `bench-0{"model":"m","ignore_eos":true,"stream":true,"stream_options":{"include_usage":true},"prompt":"prompt 0 word`) {
		t.Fatalf("%d bodies, first %q", len(want), want[0])
	}
	if d := cmp.Diff(want, bodies(func(s *bench.Scenario) { s.MaxConcurrency, s.Prefetch, s.Client.Transport = 1, 1, client.Standard })); d != "" {
		t.Errorf("bodies (-want +got):\n%s", d)
	}
}
