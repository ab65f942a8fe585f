package sim

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// published are the seven rows of the published DeepSeek-R1 benchmark on 5 nodes
// of 8 MI300X (2 prefill and 3 decode instances of 8 ranks), typed from its
// table, commands and logs. Times in milliseconds. The last row's number of
// requests and of distinct prompts are not published; they are chosen so that the
// window has about the published length and the cache is warm when it begins.
var published = []struct {
	name             string
	in, out          int
	rate             float64
	warmup, cooldown time.Duration
	requests, shared int
	window           float64
	tps, ttft, itl   float64
	medianITL        float64
}{
	{"512/512 ShareGPT", 512, 512, 140, 120 * time.Second, 70 * time.Second, 32400, 0, 115.83, 66194.80, 1677.87, 160.33, 158.98},
	{"512/512 Gutenberg", 512, 512, 140, 130 * time.Second, 70 * time.Second, 32400, 0, 110.69, 64695.10, 1774.90, 164.32, 162.24},
	{"1000/1000 ShareGPT", 1000, 1000, 80, 140 * time.Second, 110 * time.Second, 32400, 0, 367.34, 61828.90, 1802.87, 172.16, 169.69},
	{"1000/1000 Gutenberg", 1000, 1000, 80, 150 * time.Second, 120 * time.Second, 32400, 0, 353.35, 61418.55, 2149.80, 173.63, 171.10},
	{"2000/2000 ShareGPT", 2000, 2000, 48, 300 * time.Second, 230 * time.Second, 32400, 0, 895.61, 51187.87, 2567.87, 208.59, 201.50},
	{"2000/2000 Gutenberg", 2000, 2000, 60, 260 * time.Second, 240 * time.Second, 32400, 0, 948.19, 50892.65, 5586.34, 208.76, 201.13},
	{"2000/100 Gutenberg, shared prompts", 2000, 100, 1500, 30 * time.Second, 20 * time.Second, 223000, 32, 367.68, 53776.62, 1079.36, 191.71, 181.35},
}

func publishedLoad(i int) Load {
	r := published[i]
	return Load{
		Preset: "mi300x-r1", Requests: r.requests, InputTokens: r.in, OutputTokens: r.out, Rate: r.rate, Concurrency: 10800,
		PrefillRanks: 16, DecodeRanks: 24, Warmup: r.warmup, Cooldown: r.cooldown, Seed: 1,
		PrefixCaching: r.shared > 0, DistinctPrompts: r.shared,
	}
}

func off(got, want float64) float64 { return 100 * (got/want - 1) }

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// TestPredictPublishedRows holds output tokens per second and mean ITL to 3 %, mean TTFT
// to 10 %: an engine that sees nothing but lengths cannot tell ShareGPT from Gutenberg.
// The row whose prefill ranks are all but full is kept in its order of magnitude.
func TestPredictPublishedRows(t *testing.T) {
	for i, want := range published {
		got := Predict(publishedLoad(i))
		t.Logf("%-35s tok/s %8.0f %+5.1f %% | ITL %6.1f %+5.1f %% (median %6.1f %+5.1f %%) | TTFT %5.0f %+5.1f %% | window %5.1f %+5.1f %%", want.name,
			got.OutputPerSecond, off(got.OutputPerSecond, want.tps), ms(got.ITL.Mean), off(ms(got.ITL.Mean), want.itl),
			ms(got.ITL.P50), off(ms(got.ITL.P50), want.medianITL),
			ms(got.TTFT.Mean), off(ms(got.TTFT.Mean), want.ttft), got.Window.Seconds(), off(got.Window.Seconds(), want.window))
		if d := off(got.OutputPerSecond, want.tps); math.Abs(d) > 3 {
			t.Errorf("%s: output tok/s %.0f is %+.1f %% off", want.name, got.OutputPerSecond, d)
		}
		if d := off(ms(got.ITL.Mean), want.itl); math.Abs(d) > 3 {
			t.Errorf("%s: mean ITL %.1f ms is %+.1f %% off", want.name, ms(got.ITL.Mean), d)
		}
		most := 10.0
		if want.in == 2000 && want.rate == 60 {
			most = 50
		}
		if d := off(ms(got.TTFT.Mean), want.ttft); math.Abs(d) > most {
			t.Errorf("%s: mean TTFT %.0f ms is %+.1f %% off", want.name, ms(got.TTFT.Mean), d)
		}
		if got.Preemptions > 0 {
			t.Errorf("%s: %d preemptions, the published runs had none", want.name, got.Preemptions)
		}
	}
}

func TestPredictIsReproducible(t *testing.T) {
	l := publishedLoad(0)
	l.Requests, l.Warmup, l.Cooldown = 11000, 60*time.Second, 60*time.Second
	if diff := cmp.Diff(Predict(l), Predict(l)); diff != "" {
		t.Errorf("same load, different row:\n%s", diff)
	}
	other := l
	other.Seed++
	if cmp.Equal(Predict(l), Predict(other)) {
		t.Error("the seed has no effect")
	}
}

// TestPredictStreamScale: 144 streams that stand for 75 each behave as 10,800.
func TestPredictStreamScale(t *testing.T) {
	for i, want := range published {
		l := publishedLoad(i)
		l.StreamScale, l.Requests, l.Rate, l.Concurrency = 75, l.Requests/75, l.Rate/75, 144
		got := Predict(l)
		t.Logf("%-35s tok/s %8.0f %+5.1f %% | ITL %6.1f %+5.1f %% | TTFT %5.0f %+5.1f %% | preempted %d", want.name,
			75*got.OutputPerSecond, off(75*got.OutputPerSecond, want.tps), ms(got.ITL.Mean), off(ms(got.ITL.Mean), want.itl),
			ms(got.TTFT.Mean), off(ms(got.TTFT.Mean), want.ttft), got.Preemptions)
		if d := off(75*got.OutputPerSecond, want.tps); math.Abs(d) > 3 {
			t.Errorf("%s: output tok/s %.0f is %+.1f %% off", want.name, 75*got.OutputPerSecond, d)
		}
		if d := off(ms(got.ITL.Mean), want.itl); math.Abs(d) > 3 {
			t.Errorf("%s: mean ITL %.1f ms is %+.1f %% off", want.name, ms(got.ITL.Mean), d)
		}
	}
}

func TestPredictTinyLoadByHand(t *testing.T) {
	// One request on one idle flat rank: every step takes 20 ms, the prompt is
	// computed in the step that gives the first token.
	got := Predict(Load{Preset: "flat", Requests: 1, InputTokens: 10, OutputTokens: 5, Rate: 1, Concurrency: 1, DecodeRanks: 1, Cooldown: -time.Second})
	step := 20 * time.Millisecond
	flat := Quantiles{Mean: step, P1: step, P10: step, P25: step, P50: step, P75: step, P90: step}
	want := Row{Requests: 1, Window: 5*step + time.Second, InputTokens: 10, GeneratedTokens: 5, TTFT: flat, ITL: flat}
	want.OutputPerSecond = 5 / want.Window.Seconds()
	want.TotalPerSecond = 15 / want.Window.Seconds()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
