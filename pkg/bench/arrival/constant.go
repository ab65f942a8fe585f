package arrival

import (
	"iter"
	"time"
)

// constant: request i at i/rate exactly.
func constant() Process {
	return Process{
		Name: "constant", Doc: "evenly spaced arrivals", check: positive, steady: true,
		offsets: func(s Spec) iter.Seq[time.Duration] {
			return func(yield func(time.Duration) bool) {
				for i := 0.0; yield(seconds(i / s.Rate)); i++ {
				}
			}
		},
	}
}
