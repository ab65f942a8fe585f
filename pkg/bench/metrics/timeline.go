package metrics

import (
	"errors"
	"math"
	"math/bits"

	"github.com/mifbench/mifbench/pkg/bench/record"
)

// Timeline is a run over time, for plots: equal bins from Start on. Quantiles are read from
// histograms with a resolution of 3 % and serve the eye; tables take them from a Summary.
type Timeline struct {
	// Start is the instant of the first bin's beginning and Bin its length, s.
	Start float64 `json:"start_s"`
	Bin   float64 `json:"bin_s"`
	// TokenRate is tok/s, InFlight the mean number of requests, SendRate requests/s.
	TokenRate []Value `json:"token_rate"`
	InFlight  []Value `json:"in_flight"`
	SendRate  []Value `json:"send_rate"`
	// The latencies are ms, by first token and by the gap's end.
	TTFT50 []Value `json:"ttft_p50_ms"`
	TTFT90 []Value `json:"ttft_p90_ms"`
	ITL50  []Value `json:"itl_p50_ms"`
	ITL99  []Value `json:"itl_p99_ms"`
}

// Timeline reads src, which must be the survey's source, into at most bins bins (0: 300) of
// a round length.
func (s *Survey) Timeline(src Source, bins int) (Timeline, error) {
	if bins <= 0 {
		bins = 300
	}
	from := min(0, s.Start)
	width := roundBin(float64(s.Over-from) / 1e9 / float64(bins))
	n := max(1, int(math.Ceil(float64(s.Over-from)/1e9/width)))
	b := &binner{from: from, width: int64(width * 1e9), tokens: make([]int64, n), sends: make([]int64, n), ttft: make([]histogram, n), itl: make([]histogram, n)}
	var t tokens
	for r, err := range src {
		if err != nil {
			if !errors.Is(err, record.ErrDamaged) {
				return Timeline{}, err
			}
			continue
		}
		if sent(r) {
			t.count(r)
			b.add(r, &t)
		}
	}
	out := Timeline{Start: float64(from) / 1e9, Bin: width}
	steps := curve(s.spans)
	for i := range n {
		out.TokenRate = append(out.TokenRate, Value(float64(b.tokens[i])/width))
		out.SendRate = append(out.SendRate, Value(float64(b.sends[i])/width))
		out.TTFT50, out.TTFT90 = append(out.TTFT50, b.ttft[i].quantile(0.5)), append(out.TTFT90, b.ttft[i].quantile(0.9))
		out.ITL50, out.ITL99 = append(out.ITL50, b.itl[i].quantile(0.5)), append(out.ITL99, b.itl[i].quantile(0.99))
	}
	out.InFlight = levels(steps, from, b.width, n)
	return out, nil
}

// levels is the mean of the curve in each bin, in one walk over the steps.
func levels(steps []step, from, width int64, n int) []Value {
	out := make([]Value, n)
	level, j := 0, 0
	for i := range n {
		at, end := from+int64(i)*width, from+int64(i+1)*width
		area := 0.0
		for ; j < len(steps) && steps[j].at < end; j++ {
			if steps[j].at > at {
				area += float64(level) * float64(steps[j].at-at)
				at = steps[j].at
			}
			level = steps[j].level
		}
		area += float64(level) * float64(end-at)
		out[i] = Value(area / float64(width))
	}
	return out
}

// roundBin is the smallest of 1, 2, 5 × 10ⁿ seconds that is at least s, and at least 10 ms.
func roundBin(s float64) float64 {
	s = max(s, 0.01)
	base := math.Pow(10, math.Floor(math.Log10(s)))
	for _, m := range []float64{1, 2, 5, 10} {
		if m*base >= s*(1-1e-9) {
			return m * base
		}
	}
	return 10 * base
}

type binner struct {
	from, width   int64
	tokens, sends []int64
	ttft, itl     []histogram
}

func (b *binner) bin(at int64) int {
	i := (at - b.from) / b.width
	return int(min(max(i, 0), int64(len(b.tokens))-1))
}

func (b *binner) add(r *record.Record, t *tokens) {
	b.sends[b.bin(r.Sent)]++
	for i := range r.Events {
		at := r.Events[i].At
		k := b.bin(at)
		b.tokens[k] += t.of(r, i)
		if i == 0 {
			b.ttft[k].add(at - r.Sent)
		} else {
			b.itl[k].add(at - r.Events[i-1].At)
		}
	}
}

// histogram has buckets of 1/32 of a power of two of µs.
type histogram struct {
	n      uint32
	counts []uint32
}

func (h *histogram) add(ns int64) {
	us := uint64(max(ns, 0)) / 1000
	b := int(us)
	if us >= 64 {
		shift := bits.Len64(us) - 6
		b = shift*32 + int(us>>shift)
	}
	for len(h.counts) <= b {
		h.counts = append(h.counts, 0)
	}
	h.counts[b]++
	h.n++
}

// quantile is the middle of the bucket that holds the quantile, ms.
func (h *histogram) quantile(q float64) Value {
	if h.n == 0 {
		return NA()
	}
	rest := uint32(math.Ceil(q * float64(h.n)))
	for b, c := range h.counts {
		if rest <= c {
			if b < 64 {
				return Value(float64(b) / 1000)
			}
			shift := b/32 - 1
			low := uint64(b-shift*32) << shift
			return Value((float64(low) + float64(uint64(1)<<shift)/2) / 1000)
		}
		rest -= c
	}
	return NA()
}
