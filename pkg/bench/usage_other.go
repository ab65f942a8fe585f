//go:build !unix

package bench

import "time"

// processUsage is not known on this platform.
func processUsage() (time.Duration, int64) { return 0, 0 }
