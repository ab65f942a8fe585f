package arrival

import (
	"iter"
	"math"
	"math/rand/v2"
	"time"
)

// stream separates the arrival sequence from others that use the same seed.
const stream = 0x6d696662656e6368

// gaps is an endless sequence of gaps of mean 1 and gamma shape b: exponential for 1,
// all equal for +Inf.
func gaps(seed uint64, b float64) iter.Seq[float64] {
	return func(yield func(float64) bool) {
		r := rand.New(rand.NewPCG(seed, stream)) // a schedule must be reproducible, not secret
		for {
			g := 1.0
			switch {
			case math.IsInf(b, 1):
			case b == 1:
				g = r.ExpFloat64()
			default:
				g = gammaSample(r, b) / b
			}
			if !yield(g) {
				return
			}
		}
	}
}

// gammaSample draws from Gamma(shape, 1): Marsaglia and Tsang, "A simple method for
// generating gamma variables" (2000), with their boost for shapes below 1.
func gammaSample(r *rand.Rand, shape float64) float64 {
	if shape < 1 {
		return gammaSample(r, shape+1) * math.Pow(1-r.Float64(), 1/shape)
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := r.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(1-r.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}

// warped runs a process of unit rate through a change of time: arrival k is where the
// expected number of arrivals reaches the sum of the first k gaps. at returns seconds;
// a value that is not finite ends the sequence.
func warped(s Spec, at func(expected float64) float64) iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		sum := 0.0
		for g := range gaps(s.Seed, s.Burstiness) {
			sum += g
			t := at(sum)
			if math.IsNaN(t) || t > math.MaxInt64/1e9 || !yield(seconds(t)) {
				return
			}
		}
	}
}

func seconds(t float64) time.Duration { return time.Duration(math.Round(t * float64(time.Second))) }

// positive is the check of a process that needs a rate.
func positive(s Spec) string {
	if !(s.Rate > 0) || math.IsInf(s.Rate, 1) {
		return "wants a rate above 0, in requests per second"
	}
	return ""
}
