package arrival

import (
	"iter"
	"time"
)

// poisson: exponential gaps of mean 1/rate.
func poisson() Process {
	return Process{
		Name: "poisson", Doc: "independent arrivals at a mean rate", check: positive, steady: true,
		offsets: func(s Spec) iter.Seq[time.Duration] {
			s.Burstiness = 1
			return steady(s)
		},
	}
}
