// Package lag keeps distributions of short delays: a fixed array of counters on a
// logarithmic scale, so that 100,000 samples a second from any number of goroutines
// cost an atomic increment each and no memory. Quantiles are right within 6.25 %
// (sixteen steps a power of two); the largest value is exact. It returns no errors.
package lag

import (
	"math/bits"
	"sync/atomic"
	"time"
)

const (
	subBits = 4
	sub     = 1 << subBits
	buckets = (64 - subBits + 1) * sub
)

// Histogram counts durations. The zero value is ready; it is safe for concurrent use
// and must not be copied after first use.
type Histogram struct {
	counts [buckets]atomic.Uint64
	n      atomic.Uint64
	max    atomic.Int64
}

// Add counts one duration; a negative one counts as 0.
func (h *Histogram) Add(d time.Duration) {
	d = max(d, 0)
	h.counts[bucket(uint64(d))].Add(1)
	h.n.Add(1)
	for old := h.max.Load(); int64(d) > old; old = h.max.Load() {
		if h.max.CompareAndSwap(old, int64(d)) {
			return
		}
	}
}

// Summary is what a result keeps of a distribution; all are 0 when N is 0.
type Summary struct {
	N    uint64        `json:"n"`
	P50  time.Duration `json:"p50"`
	P99  time.Duration `json:"p99"`
	P999 time.Duration `json:"p999"`
	Max  time.Duration `json:"max"`
}

// Summary returns the quantiles of what was counted so far.
func (h *Histogram) Summary() Summary {
	return Summary{
		N: h.n.Load(), P50: h.Quantile(0.5), P99: h.Quantile(0.99), P999: h.Quantile(0.999),
		Max: time.Duration(h.max.Load()),
	}
}

// Quantile returns the upper edge of the bucket that holds the q-th value (nearest
// rank, 0 < q <= 1), never more than the largest value.
func (h *Histogram) Quantile(q float64) time.Duration {
	n := h.n.Load()
	if n == 0 {
		return 0
	}
	rank, seen := uint64(q*float64(n)+0.999999), uint64(0)
	for i := range h.counts {
		if seen += h.counts[i].Load(); seen >= max(rank, 1) {
			return min(upper(i), time.Duration(h.max.Load()))
		}
	}
	return time.Duration(h.max.Load())
}

func bucket(v uint64) int {
	if v < sub {
		return int(v)
	}
	shift := bits.Len64(v) - subBits - 1
	return (shift+1)*sub + int(v>>shift)&(sub-1)
}

func upper(i int) time.Duration {
	if i < sub {
		return time.Duration(i)
	}
	shift := i/sub - 1
	return time.Duration((uint64(sub+i%sub)+1)<<shift - 1)
}
