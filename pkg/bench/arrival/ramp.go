package arrival

import (
	"iter"
	"math"
	"time"
)

// rampLinear: the rate goes from From to To in a line over Over, then stays.
func rampLinear() Process {
	return Process{
		Name: "ramp-linear", Doc: "the rate changes in a line, then holds", check: checkRamp,
		offsets: func(s Spec) iter.Seq[time.Duration] {
			if s.Over == 0 {
				return byIndex(s, func(x float64) float64 { return s.From + (s.To-s.From)*x })
			}
			return warped(s, func(n float64) float64 { return segment{s.From, s.To, s.Over.Seconds()}.at(n) })
		},
	}
}

// rampExponential: the rate grows or shrinks by the same factor each second, then stays.
// Expected arrivals by t: From·(e^{kt}−1)/k with k = ln(To/From)/Over.
func rampExponential() Process {
	return Process{
		Name: "ramp-exponential", Doc: "the rate changes by a constant factor a second, then holds",
		check: func(s Spec) string {
			if !(s.From > 0) {
				return "wants a starting rate above 0"
			}
			return checkRamp(s)
		},
		offsets: func(s Spec) iter.Seq[time.Duration] {
			if s.Over == 0 {
				return byIndex(s, func(x float64) float64 { return s.From * math.Pow(s.To/s.From, x) })
			}
			if s.From == s.To {
				s.Rate = s.To
				return steady(s)
			}
			over := s.Over.Seconds()
			k := math.Log(s.To/s.From) / over
			all := (s.To - s.From) / k
			return warped(s, func(n float64) float64 {
				if n >= all {
					return over + (n-all)/s.To
				}
				return math.Log1p(n*k/s.From) / k
			})
		},
	}
}

func checkRamp(s Spec) string {
	switch {
	case !(s.From >= 0) || !(s.To > 0) || math.IsInf(s.From, 1) || math.IsInf(s.To, 1):
		return "wants a starting rate of 0 or more and a final rate above 0"
	case s.Over < 0:
		return "wants a ramp length of 0 or more"
	case s.Over == 0 && s.Requests == 0:
		return "wants the ramp's length, or a number of requests to spread it over"
	case s.Over == 0 && s.From == 0:
		return "wants a starting rate above 0 when it runs over the request index"
	}
	return ""
}

// byIndex is vLLM's ramp (serve.py, _get_current_request_rate): gap i is drawn at the
// rate of x = i/(N-1); there is no rescaling.
func byIndex(s Spec, rate func(x float64) float64) iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		t, i, last := 0.0, 0.0, max(1, float64(s.Requests-1))
		for g := range gaps(s.Seed, s.Burstiness) {
			t += g / rate(min(1, i/last))
			if !yield(seconds(t)) {
				return
			}
			i++
		}
	}
}

// segment is a time of linearly changing rate.
type segment struct{ from, to, length float64 }

// expected is the number of arrivals in the whole segment.
func (g segment) expected() float64 { return (g.from + g.to) / 2 * g.length }

// at inverts from·t + (to−from)/(2·length)·t² = n; past the end the rate to holds.
func (g segment) at(n float64) float64 {
	if all := g.expected(); n >= all {
		return g.length + (n-all)/g.to
	}
	a := (g.to - g.from) / (2 * g.length)
	if a == 0 {
		return n / g.from
	}
	// The form of the root that does not cancel when a is small.
	return 2 * n / (g.from + math.Sqrt(max(0, g.from*g.from+4*a*n)))
}
