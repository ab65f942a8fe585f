//go:build unix

package bench

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// processUsage is the CPU time of this process and its largest resident size in bytes.
func processUsage() (time.Duration, int64) {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0, 0
	}
	rss := int64(u.Maxrss)
	if runtime.GOOS != "darwin" {
		rss <<= 10
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), rss
}
