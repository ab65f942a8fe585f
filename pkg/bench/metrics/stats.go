package metrics

import (
	"math"
	"slices"
)

// Percentile is the value below which P percent of the samples lie.
type Percentile struct {
	P     float64 `json:"p"`
	Value Value   `json:"value"`
}

// Stats describe a distribution; all but Count are n/a when there is no sample.
type Stats struct {
	Count  int64 `json:"count"`
	Mean   Value `json:"mean"`
	Median Value `json:"median"`
	// Std is the population's standard deviation (numpy's default, as vLLM prints it).
	Std         Value        `json:"std"`
	Min         Value        `json:"min"`
	Max         Value        `json:"max"`
	Percentiles []Percentile `json:"percentiles"`
}

// At is the p-th percentile, n/a when it was not computed.
func (s Stats) At(p float64) Value {
	for _, q := range s.Percentiles {
		if q.P == p {
			return q.Value
		}
	}
	return NA()
}

// empty are the statistics of no samples.
func empty(percentiles []float64) Stats {
	s := Stats{Mean: NA(), Median: NA(), Std: NA(), Min: NA(), Max: NA()}
	for _, p := range percentiles {
		s.Percentiles = append(s.Percentiles, Percentile{P: p, Value: NA()})
	}
	return s
}

// rank locates the p-th percentile of n samples by numpy's default method ("linear",
// Hyndman & Fan type 7): position p/100·(n-1) between the order statistics lo and lo+1.
func rank(p float64, n int64) (lo int64, frac float64) {
	pos := p / 100 * float64(n-1)
	lo = int64(math.Floor(pos))
	lo = min(max(lo, 0), n-1)
	return lo, pos - float64(lo)
}

// lerp interpolates as numpy does, from the nearer end, so that results agree to the bit.
func lerp(a, b, t float64) float64 {
	if t >= 0.5 {
		return b - (b-a)*(1-t)
	}
	return a + (b-a)*t
}

// floats are samples kept as they are: for one figure a request.
type floats struct{ v []float64 }

func (f *floats) add(x float64) { f.v = append(f.v, x) }

// stats sorts the samples and describes them.
func (f *floats) stats(percentiles []float64) Stats {
	if len(f.v) == 0 {
		return empty(percentiles)
	}
	slices.Sort(f.v)
	n := int64(len(f.v))
	at := func(p float64) Value {
		lo, frac := rank(p, n)
		return Value(lerp(f.v[lo], f.v[min(lo+1, n-1)], frac))
	}
	s := Stats{Count: n, Median: at(50), Min: Value(f.v[0]), Max: Value(f.v[n-1])}
	sum := 0.0
	for _, x := range f.v {
		sum += x
	}
	mean := sum / float64(n)
	square := 0.0
	for _, x := range f.v {
		square += (x - mean) * (x - mean)
	}
	s.Mean, s.Std = Value(mean), Value(math.Sqrt(square/float64(n)))
	for _, p := range percentiles {
		s.Percentiles = append(s.Percentiles, Percentile{P: p, Value: at(p)})
	}
	return s
}
