package metrics

import "math"

// Little checks a result by Little's law: in flight = rate × latency.
type Little struct {
	// Rate is served requests/s = output tok/s ÷ mean output length; Latency is
	// TTFT + (output length - 1) × per-token latency, in s; Implied is their product.
	Rate    Value `json:"served_rate"`
	Latency Value `json:"latency_s"`
	Implied Value `json:"implied_in_flight"`
	// Measured is the mean number in flight in the window, Error is Implied/Measured - 1.
	Measured Value `json:"measured_in_flight"`
	Error    Value `json:"error"`
}

// LittlesLaw is the number of requests in flight that a published row implies: output is its
// output rate in tok/s, length the output tokens of a request, ttft and itl its means in
// ms. All six published max-throughput rows give their cap within 0.6 %.
func LittlesLaw(output, length, ttft, itl float64) Little {
	rate := output / length
	latency := (ttft + (length-1)*itl) / 1e3
	return Little{Rate: Value(rate), Latency: Value(latency), Implied: Value(rate * latency), Measured: NA(), Error: NA()}
}

func little(s Summary, length, measured Value) Little {
	ttft, _ := s.Metric(TTFT)
	perToken, _ := s.Metric(TokenLatency)
	gap := perToken.Mean
	if !gap.Known() && float64(length) <= 1 {
		gap = 0
	}
	l := LittlesLaw(float64(s.OutputThroughput), float64(length), float64(ttft.Mean), float64(gap))
	l.Measured = measured
	l.Error = ratio(float64(l.Implied)-float64(measured), float64(measured))
	return l
}

// Limit is what set the load.
type Limit string

// The limits.
const (
	LimitConcurrency Limit = "max_concurrency"
	LimitRate        Limit = "request_rate"
	LimitNeither     Limit = "neither"
	LimitUnknown     Limit = "unknown"
)

// Binding says which limit set the load: the cap when the requests in flight stayed within 3 %
// of it (the rate then only fills it), else the rate when sends kept up with it within
// 5 %. NaN is "not limited" or "not known".
func Binding(cap int, rate, inFlight, sendRate float64) Limit {
	switch {
	case math.IsNaN(inFlight):
		return LimitUnknown
	case cap > 0 && inFlight >= 0.97*float64(cap):
		return LimitConcurrency
	case rate > 0 && sendRate >= 0.95*rate:
		return LimitRate
	default:
		return LimitNeither
	}
}

// FillSeconds is how long a rate needs to fill a cap when nothing finishes: the published
// runs' warm-up is this and a bit. n/a without both.
func FillSeconds(cap int, rate float64) Value {
	if cap <= 0 || math.IsNaN(rate) {
		return NA()
	}
	return ratio(float64(cap), rate)
}
