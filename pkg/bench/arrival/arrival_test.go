package arrival

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func offsets(t *testing.T, s Spec) []time.Duration {
	t.Helper()
	seq, err := Schedule(s)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Collect(seq)
}

func TestSchedule(t *testing.T) {
	inf, s := math.Inf(1), time.Second
	ms := func(v ...int) (d []time.Duration) {
		for _, x := range v {
			d = append(d, time.Duration(x)*time.Millisecond)
		}
		return d
	}
	cases := []struct {
		name string
		spec Spec
		want []time.Duration
	}{
		{"closed by count", Spec{Requests: 3}, ms(0, 0, 0)},
		{"constant by count", Spec{Process: "constant", Rate: 2, Requests: 3}, ms(0, 500, 1000)},
		{"constant by time ends before it", Spec{Process: "constant", Rate: 2, Duration: s}, ms(0, 500)},
		{"infinite burstiness is even, first gap included", Spec{Rate: 4, Burstiness: inf, Requests: 3}, ms(250, 500, 750)},
		{"a line from 0 to 2 in 2 s expects t²/2", Spec{Process: "ramp-linear", To: 2, Over: 2 * s, Burstiness: inf, Requests: 4}, []time.Duration{1414213562, 2 * s, 2500 * time.Millisecond, 3 * s}},
		{"a line down", Spec{Process: "ramp-linear", From: 3, To: 1, Over: 2 * s, Burstiness: inf, Requests: 5}, []time.Duration{354248688, 763932022, 1267949192, 2 * s, 3 * s}},
		{"doubling each second from 1: t = log2(1 + n ln 2)", Spec{Process: "ramp-exponential", From: 1, To: 4, Over: 2 * s, Burstiness: inf, Requests: 2}, []time.Duration{759749412, 1254879193}},
		{"vLLM's linear ramp by index", Spec{Process: "ramp-linear", From: 1, To: 4, Burstiness: inf, Requests: 4}, ms(1000, 1500, 1833, 2083)},
		{"vLLM's exponential ramp by index", Spec{Process: "ramp-exponential", From: 1, To: 4, Burstiness: inf, Requests: 3}, ms(1000, 1500, 1750)},
		{"vLLM's ramps are not rescaled", Spec{Process: "ramp-linear", From: 1, To: 4, Rate: 4, Burstiness: inf, Requests: 4, Rescale: true}, ms(1000, 1500, 1833, 2083)},
		{"an infinite rate is closed", Spec{Rate: inf, Requests: 2, Rescale: true}, ms(0, 0)},
		{"stages by steps", Spec{Process: "stages", Burstiness: inf, Stages: []Stage{{Rate: 2, Length: s}, {Rate: 0, Length: s}, {Rate: 1, Length: 2 * s}}}, ms(500, 2000, 3000)},
		{"trace", Spec{Process: "trace", Offsets: ms(0, 3, 3, 9), Requests: 3}, ms(0, 3, 3)},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			near := cmp.Comparer(func(a, b time.Duration) bool { return (a - b).Abs() < time.Millisecond })
			if d := cmp.Diff(c.want, offsets(t, c.spec), near); d != "" {
				t.Errorf("offsets (-want +got):\n%s", d)
			}
		})
	}
}

func TestScheduleIsPure(t *testing.T) {
	for _, p := range Processes() {
		s := Spec{Process: p.Name, Rate: 50, From: 10, To: 90, Over: time.Second, Requests: 200, Seed: 7, Burstiness: 0.5,
			Stages: []Stage{{Rate: 300, Length: time.Second, Ramp: true}}, Offsets: []time.Duration{1, 2, 3}}
		a, b := offsets(t, s), offsets(t, s)
		if !slices.Equal(a, b) {
			t.Errorf("%s: two readings differ", p.Name)
		}
		if !slices.IsSorted(a) || len(a) == 0 || a[0] < 0 {
			t.Errorf("%s: offsets are not ascending from 0", p.Name)
		}
		s.Seed = 8
		if p.Name == "gamma" && slices.Equal(a, offsets(t, s)) {
			t.Errorf("%s: the seed changes nothing", p.Name)
		}
	}
}

func TestGapsHaveTheirMeanAndVariance(t *testing.T) {
	for _, b := range []float64{0.25, 0.5, 1, 2, 16} {
		n, sum, sq := 200_000, 0.0, 0.0
		i := 0
		for g := range gaps(1, b) {
			if i++; i > n {
				break
			}
			sum += g
			sq += g * g
		}
		mean := sum / float64(n)
		if v := sq/float64(n) - mean*mean; math.Abs(mean-1) > 0.02 || math.Abs(v*b-1) > 0.05 {
			t.Errorf("shape %v: mean %.3f variance %.3f, want 1 and %.3f", b, mean, v, 1/b)
		}
	}
}

func TestRescaleEndsAtRequestsOverRate(t *testing.T) {
	got := offsets(t, Spec{Rate: 140, Requests: 32400, Rescale: true, Seed: 1})
	want := seconds(32400.0 / 140)
	if len(got) != 32400 || (got[32399]-want).Abs() > time.Microsecond {
		t.Errorf("%d offsets, last at %v, want %v", len(got), got[len(got)-1], want)
	}
}

func TestStatedRateIsKept(t *testing.T) {
	got := offsets(t, Spec{Rate: 1000, Duration: 100 * time.Second, Seed: 3})
	if r := float64(len(got)) / 100; math.Abs(r-1000) > 10 {
		t.Errorf("rate %v, want 1000 within 1 %%", r)
	}
}

func TestBadSpecs(t *testing.T) {
	cases := []struct {
		spec Spec
		want string
	}{
		{Spec{Process: "posson", Rate: 1, Requests: 1}, "is not one of closed, constant"},
		{Spec{Rate: 1}, "has no end"},
		{Spec{Process: "poisson", Requests: 1}, "rate above 0"},
		{Spec{Process: "gamma", Rate: math.NaN(), Requests: 1}, "rate above 0"},
		{Spec{Rate: 1, Burstiness: -1, Requests: 1}, "burstiness"},
		{Spec{Process: "ramp-linear", From: 0, To: 5, Requests: 9}, "starting rate above 0"},
		{Spec{Process: "ramp-exponential", To: 5, Over: 1, Requests: 9}, "starting rate above 0"},
		{Spec{Process: "stages", Stages: []Stage{{Rate: 1}}}, "stage 1"},
		{Spec{Process: "trace", Offsets: []time.Duration{2, 1}}, "offset 1"},
		{Spec{Rate: 1, Requests: -1}, "requests -1"},
	}
	for _, c := range cases {
		if _, err := Schedule(c.spec); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want %q", c.spec, err, c.want)
		}
	}
}
