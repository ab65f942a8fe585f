package arrival

import (
	"iter"
	"time"
)

// gamma: gaps from Gamma(burstiness, 1/(rate·burstiness)), as `vllm bench serve`
// (serve.py, get_request): mean 1/rate, 1 is Poisson.
func gamma() Process {
	return Process{Name: "gamma", Doc: "arrivals at a mean rate, burstier (burstiness < 1) or smoother (> 1) than Poisson", check: positive, steady: true, offsets: steady}
}

func steady(s Spec) iter.Seq[time.Duration] {
	return warped(s, func(n float64) float64 { return n / s.Rate })
}
