package metrics

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func equateValues(rel float64) cmp.Option {
	return cmp.Comparer(func(a, b Value) bool { return math.Abs(float64(a-b)) <= rel*max(1, math.Abs(float64(a))) })
}

// Expected values are numpy's: np.percentile(x, p), np.std(x).
func TestPercentilesAreNumpysLinearInterpolation(t *testing.T) {
	f := floats{v: []float64{15, 20, 35, 40, 50}}
	s := f.stats([]float64{0, 5, 30, 40, 99, 100})
	want := []Percentile{{0, 15}, {5, 16}, {30, 23}, {40, 29}, {99, 49.6}, {100, 50}}
	if d := cmp.Diff(want, s.Percentiles, equateValues(1e-12)); d != "" {
		t.Error(d)
	}
	if math.Abs(float64(s.Std)-12.884098726725126) > 1e-12 || s.Mean != 32 || s.Median != 35 {
		t.Errorf("std %v mean %v median %v", s.Std, s.Mean, s.Median)
	}
}

func TestGapsAreExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 3, 100, 30000} {
		g := &gaps{}
		f := floats{}
		for range n {
			d := rng.Int64N(1 << (10 + rng.IntN(25))) // some are longer than 4.29 s
			g.add(d)
			f.add(float64(d) / 1e6)
		}
		p := []float64{0, 1, 10, 33.3, 50, 90, 99, 99.9, 100}
		got, want := g.stats(p), f.stats(p)
		if d := cmp.Diff(want, got, equateValues(1e-9)); d != "" {
			t.Errorf("n=%d (-sorted +counted):\n%s", n, d)
		}
	}
}

func TestNoSamplesIsNotZero(t *testing.T) {
	f, g := floats{}, gaps{}
	for _, s := range []Stats{f.stats([]float64{50}), g.stats([]float64{50})} {
		for _, v := range []Value{s.Mean, s.Median, s.Std, s.Min, s.Max, s.At(50), s.At(77)} {
			if v.Known() || v.String() != "n/a" {
				t.Fatalf("value %v of no samples", v)
			}
		}
	}
}

func TestCurveIsAnExactSweep(t *testing.T) {
	spans := []span{{0, 10}, {5, 20}, {5, 5}, {10, 15}, {30, 40}}
	steps := curve(spans)
	want := []step{{0, 1}, {5, 2}, {10, 2}, {15, 1}, {20, 0}, {30, 1}, {40, 0}}
	if d := cmp.Diff(want, steps, cmp.AllowUnexported(step{})); d != "" {
		t.Fatal(d)
	}
	mean, peak := inFlight(steps, Window{0, 40})
	if peak != 2 || mean != Value(float64(10+15+5+10)/40) {
		t.Fatalf("mean %v peak %d", mean, peak)
	}
	mean, peak = inFlight(steps, Window{16, 18})
	if peak != 1 || mean != 1 {
		t.Fatalf("inside a step: mean %v peak %d", mean, peak)
	}
	lv := levels(steps, 0, 10, 4)
	if d := cmp.Diff([]Value{1.5, 1.5, 0, 1}, lv); d != "" {
		t.Fatal(d)
	}
}

func TestHistogramIsWithinThreePercent(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	h := histogram{}
	var all []float64
	for range 5000 {
		ns := int64(math.Exp(rng.Float64()*15) * 1000)
		h.add(ns)
		all = append(all, float64(ns)/1e6)
	}
	slices.Sort(all)
	for _, q := range []float64{0.5, 0.9, 0.99} {
		want := all[int(math.Ceil(q*5000))-1]
		if got := float64(h.quantile(q)); math.Abs(got/want-1) > 0.03 {
			t.Errorf("q %v: %v, want %v", q, got, want)
		}
	}
}
