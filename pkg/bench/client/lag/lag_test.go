package lag

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestQuantilesAreWithinABucket(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var h Histogram
	all := make([]time.Duration, 10_000)
	for i := range all {
		all[i] = time.Duration(r.ExpFloat64() * 1e6)
		h.Add(all[i])
	}
	slices.Sort(all)
	for _, q := range []float64{0.01, 0.5, 0.9, 0.99, 0.999} {
		want := all[int(q*float64(len(all)))-1]
		got := h.Quantile(q)
		if got < want || float64(got) > float64(want)*1.0626+1 {
			t.Errorf("quantile %v = %v, want [%v, +6.25 %%]", q, got, want)
		}
	}
	if s := h.Summary(); s.N != 10_000 || s.Max != all[len(all)-1] {
		t.Errorf("summary = %+v, want max %v", s, all[len(all)-1])
	}
}

func TestEdges(t *testing.T) {
	var h Histogram
	if s := h.Summary(); s != (Summary{}) {
		t.Errorf("empty = %+v", s)
	}
	h.Add(-5)
	h.Add(1<<63 - 1)
	if got := h.Quantile(0.5); got != 0 {
		t.Errorf("median = %v", got)
	}
	if got := h.Quantile(1); got != 1<<63-1 {
		t.Errorf("max = %v", got)
	}
	for v := uint64(1); v < 1<<62; v = v*3 + 1 {
		i := bucket(v)
		if uint64(upper(i)) < v || i > 0 && uint64(upper(i-1)) >= v {
			t.Errorf("bucket(%d) = %d: (%d, %d]", v, i, upper(i-1), upper(i))
		}
	}
}
