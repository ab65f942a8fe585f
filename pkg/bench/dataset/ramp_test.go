package dataset

import (
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"
)

// TestPreparedWithinRamp prepares what the published benchmark sends, 32,400 prompts of a
// ShareGPT file, as run does: all before the first request, with no cache. The ramp is the
// time that the scenario's rate takes to fill its 10,800 slots. By environment:
//
//	MIFBENCH_SHAREGPT   the file: test/texts -megabytes 611 makes one of the real one's size
//	MIFBENCH_TOKENIZER  tokenizer.json
func TestPreparedWithinRamp(t *testing.T) {
	path, file := os.Getenv("MIFBENCH_SHAREGPT"), os.Getenv("MIFBENCH_TOKENIZER")
	if path == "" || file == "" {
		t.Skip("MIFBENCH_SHAREGPT or MIFBENCH_TOKENIZER is not set")
	}
	const prompts, slots = 32400, 10800
	for _, c := range []struct{ tokens, rate int }{{512, 140}, {1000, 80}, {2000, 48}} {
		t.Run(fmt.Sprintf("%d", c.tokens), func(t *testing.T) {
			start, used := time.Now(), cpuTime(t)
			s, err := Open(t.Context(), Options{Kind: "sharegpt", Path: path, Tokens: c.tokens, Prompts: prompts, TokenizerPath: file})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Prompt(t.Context(), 0); err != nil {
				t.Fatal(err)
			}
			first := time.Since(start)
			for i := int64(0); i < prompts; i += 512 {
				if _, err := several(t.Context(), s, i, int(min(512, prompts-i))); err != nil {
					t.Fatal(err)
				}
			}
			all, ramp := time.Since(start), slots*time.Second/time.Duration(c.rate)
			perSecond := prompts / (all - first).Seconds()
			t.Logf("first prompt after %.1f s, all %d after %.1f s (%.1f s of processor time); the ramp is %.1f s, %.1f times as long; %.0f prompts/s, %.0f times the rate",
				first.Seconds(), prompts, all.Seconds(), (cpuTime(t) - used).Seconds(), ramp.Seconds(), ramp.Seconds()/all.Seconds(), perSecond, perSecond/float64(c.rate))
			if all > ramp {
				t.Errorf("the prompts are ready after %s, the ramp takes %s", all, ramp)
			}
		})
	}
}

func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
