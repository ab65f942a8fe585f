//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const chunk = `{\"choices\":[{\"text\":\" 1700000000000000000\"}]}`

// Each tool's file gives the time of the token and the stamp in its text.
func TestReaders(t *testing.T) {
	for _, c := range []struct {
		name, file, text string
		read             func(string) ([]request, error)
		wall             bool // its times are CLOCK_REALTIME
	}{
		{"vllm", "out.json", `{"burstiness": Infinity,"start_times":[1.5],"ttfts":[0.5],"itls":[[0.25]],"generated_texts":[" 1700000000000000000 1700000000250000000"]}`, readVLLM, false},
		{"aiperf", "out/profile_export_raw.jsonl", `{"responses":[{"perf_ns":2000000000,"packets":[{"name":"data","value":"` + chunk + `"}]},{"perf_ns":3000000000,"packets":[{"name":"data","value":"[DONE]"}]}]}`, readAiperf, false},
		{"inference-perf", "out/per_request_lifecycle_metrics.json", `[{"info":{"response_metrics":{"response_chunks":["` + chunk + `"],"chunk_times":[2.0]}}}]`, readInfperf, false},
		{"guidellm", "out.json", `{"benchmarks":[{"requests":{"successful":[{"output":" 1700000000000000000 1700000000250000000","info":{"timings":{"first_token_iteration":2.0,"last_token_iteration":2.25}}}]}}]}`, readGuidellm, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), c.file)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := c.read(strings.TrimSuffix(path, c.file))
			if err != nil || len(got) != 1 || len(got[0].stamps) == 0 || len(got[0].at) != len(got[0].stamps) || got[0].stamps[0] != 1_700_000_000_000_000_000 {
				t.Fatalf("%+v, %v", got, err)
			}
			want := int64(2e9)
			if !c.wall {
				want += monotonic()
			}
			if off := abs(got[0].at[0] - want); off > int64(time.Millisecond) {
				t.Errorf("time is %v off", time.Duration(off))
			}
			if n := len(got[0].at); n > 1 && got[0].at[n-1]-got[0].at[0] != 250_000_000 {
				t.Errorf("times %v", got[0].at)
			}
		})
	}
}

// Offered load, cost and errors come from the time when the most streams were in flight.
func TestSummarize(t *testing.T) {
	l, err := parseLoad("100x20ms", 8*time.Second)
	if err != nil || l.Tokens != 200 || l.Planned < 16*time.Second {
		t.Fatalf("%+v %v", l, err)
	}
	begin := time.Unix(1_700_000_000, 0)
	var all []sample
	for i := range 100 { // ten seconds: a ramp of two, then steady, at 101 % of the rate
		s := float64(i) / 10
		all = append(all, sample{
			at: begin.Add(time.Duration(i) * 100 * time.Millisecond), running: min(100, s*50), received: s * l.Rate * 1.01,
			tokens: s * 5000, cpu: time.Duration(s * float64(100*time.Millisecond)), memory: 50 << 20,
		})
	}
	r := row{Load: l}
	l.Requests = int(8 * l.Rate)
	r.Load = l
	r.summarize(all)
	at := begin.Add(5 * time.Second).UnixNano()
	r.compare([]request{{at: []int64{at + 3000, at + 20_005_000}, stamps: []int64{at, at + 20_000_000}}, {at: []int64{1}, stamps: []int64{1}}}, all)
	if r.Held != 100 || r.Offered < 0.0099 || r.Offered > 0.0101 || r.CPU < 19.9 || r.CPU > 20.1 || r.Events != 2 || r.Gap.P99 != 2*time.Microsecond {
		t.Errorf("%+v", r)
	}
	if text := table([]row{r}); !strings.Contains(text, "+1.00 %") || strings.Count(text, "\n") != 3 {
		t.Errorf("table:\n%s", text)
	}
	for _, bad := range []string{"", "x20ms", "100x", "100x-1s", "0x20ms"} {
		if _, err := parseLoad(bad, 0); err == nil {
			t.Errorf("load %q is taken", bad)
		}
	}
}
