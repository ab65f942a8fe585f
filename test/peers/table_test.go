//go:build linux

package main

import (
	"strings"
	"testing"
	"time"
)

func TestLargestLoadHeldInTime(t *testing.T) {
	at := func(tool string, streams int, held, rate float64, gap, stamp time.Duration) row {
		return row{Tool: tool, Load: load{Streams: streams, Gap: 20 * time.Millisecond}, Held: held, TokensPerSecond: rate, Gap: errorOf{P99: gap}, Stamp: errorOf{P99: stamp}}
	}
	got := largest([]row{
		at("mifbench", 100, 100, 5000, time.Microsecond, time.Second), // a stamp may be late where the gaps are right
		at("mifbench", 1000, 995, 50000, 19*time.Millisecond, 0),
		at("vllm", 100, 100, 5000, 5*time.Millisecond, 0),
		at("vllm", 1000, 1000, 50000, 300*time.Millisecond, 0),
		at("guidellm", 100, 100, 5000, 0, 10*time.Millisecond),
		at("guidellm", 1000, 500, 25000, 0, 10*time.Millisecond), // half of the streams
		at("aiperf", 100, 100, 5000, 0, 0),
	})
	for _, want := range []string{
		"| mifbench | 1000 × 50 tok/s | 50000 |", "| vllm | 100 × 50 tok/s | 5000 |", "| guidellm | 100 × 50 tok/s | 5000 |",
		"| aiperf | not known: it left no times of token events | 0 |",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
