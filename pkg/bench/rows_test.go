package bench_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mifbench/mifbench/pkg/bench"
	"github.com/mifbench/mifbench/pkg/bench/benchtest"
	"github.com/mifbench/mifbench/pkg/bench/client/lag"
)

// The tests named TestRow… are held to docs/benchmark-complaints.md.

// llm-d/llm-d-benchmark#261: the client's own delays are measured, and over their bound they
// are the verdict.
func TestRow261OwnDelaysAreTheVerdict(t *testing.T) {
	s := benchtest.Start(t, nil, func(benchtest.Request) []benchtest.Step { return benchtest.Stream(3, 0, time.Millisecond) })
	out, err := bench.Run(t.Context(), scenario(s.URL, 20, 4), &keep{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if out.Proof.SendLag.N != 20 || out.Proof.SendLag.P99 <= 0 {
		t.Errorf("send lag %+v", out.Proof.SendLag)
	}
	late := out.Proof
	late.SendLag = lag.Summary{N: 20, P99: time.Second}
	if v := late.Judge(bench.DefaultBounds()); v.Class != bench.ClientLimited || !strings.Contains(strings.Join(v.Reasons, "; "), "sends were late by our own doing") {
		t.Errorf("verdict %+v", v)
	}
}

// kubernetes-sigs/inference-perf#50, AI-Hypercomputer/inference-benchmark#26: a run that needs
// more ports or files than there are is refused before it starts, with the way out.
func TestRow50PortsAndFilesAreCheckedFirst(t *testing.T) {
	facts := bench.Facts{NoFile: 1 << 20, PortLow: 32768, PortHigh: 60999, KernelStamps: true, ClockSource: "tsc", ClockStep: 30}
	for _, c := range []struct {
		code string
		edit func(*bench.Facts)
		want string
	}{
		{"ports", func(*bench.Facts) {}, "ip_local_port_range"},
		{"nofile", func(f *bench.Facts) { f.NoFile, f.PortLow, f.PortHigh = 1024, 1024, 65535 }, "ulimit -n"},
	} {
		f := facts
		c.edit(&f)
		found := bench.Preflight(f, bench.Need{Conns: 30_000, Targets: 1})
		i := slices.IndexFunc(found, func(x bench.Finding) bool { return x.Code == c.code })
		if i < 0 || !found[i].Blocking || !strings.Contains(found[i].Text, c.want) {
			t.Errorf("%s: findings %+v", c.code, found)
		}
	}
}

// vllm-project/vllm PR #51030: one stream that stands still ends by itself, and the others'
// results are kept.
func TestRow51030OneStalledStreamDoesNotHoldTheRun(t *testing.T) {
	s := benchtest.Start(t, nil, func(r benchtest.Request) []benchtest.Step {
		if r.Header.Get("X-Request-Id") == "r-3" {
			return benchtest.Then(benchtest.Stream(5, 0, time.Millisecond)[:2], benchtest.Step{End: benchtest.Hang})
		}
		return benchtest.Stream(5, 0, time.Millisecond)
	})
	job := scenario(s.URL, 8, 4)
	job.RequestIDPrefix, job.SkipProbe, job.Client.Timeouts.Idle = "r-", true, time.Second
	k := &keep{}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	out, err := bench.Run(ctx, job, k, nil)
	if err != nil || len(k.recs) != 8 || out.ByStatus["idle"] != 1 || out.ByStatus["ok"] != 7 {
		t.Errorf("%v, %d records, %v", err, len(k.recs), out.ByStatus)
	}
}

// ai-dynamo/dynamo#3728, vllm-project/vllm#14795: when the server is not ready, the probe says
// who was asked and what came back.
func TestRow3728ReadinessSaysWhatCameBack(t *testing.T) {
	s := benchtest.Start(t, nil, func(benchtest.Request) []benchtest.Step {
		return benchtest.Status(503, `{"detail":"engine is loading the weights"}`)
	})
	_, err := bench.Run(t.Context(), scenario(s.URL, 4, 4), &keep{}, nil)
	for _, want := range []string{s.URL, "status 503", "engine is loading the weights"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v lacks %q", err, want)
		}
	}
}
