package metrics

import (
	"runtime"
	"testing"
	"time"
)

// BenchmarkSummarize reports events a second for one view, survey included, and the live
// memory that a summary needs per token.
func BenchmarkSummarize(b *testing.B) {
	l := load{n: 4000, cap: 1000, rate: 140, ttft: 1677 * milli, itl: 160 * milli, noise: 20 * milli, isl: 512, osl: 512, seed: 1}
	src := FromRecords(l.run())
	o := Options{Window: WindowSpec{Warmup: time.Second, Cooldown: time.Second}}
	events := float64(l.n * l.osl)
	for b.Loop() {
		if _, err := Summarize(src, ViewMifbench, o); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(events*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mevents/s")
}

// Samples of a token take four bytes while each chunk holds one, eight otherwise.
func TestMemoryPerTokenIsBounded(t *testing.T) {
	const n = 8 << 20
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	g := &gaps{}
	for i := range int64(n) {
		g.add(150*milli + i)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	per := float64(after.HeapAlloc-before.HeapAlloc) / n
	if per > 4.2 || g.n != n {
		t.Errorf("%.2f bytes a token", per)
	}
}
