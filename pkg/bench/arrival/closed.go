package arrival

import (
	"iter"
	"time"
)

// closed: all requests are due at once, so the cap on those in flight paces them.
func closed() Process {
	return Process{
		Name: "closed", Doc: "all due at once; the concurrency cap paces them", check: func(Spec) string { return "" },
		offsets: func(Spec) iter.Seq[time.Duration] {
			return func(yield func(time.Duration) bool) {
				for yield(0) {
				}
			}
		},
	}
}
