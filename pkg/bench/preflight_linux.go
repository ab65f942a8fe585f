package bench

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// readSystem fills in what /proc and the resource limits say.
func readSystem(f *Facts) {
	var lim unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &lim) == nil {
		f.NoFile = lim.Cur
	}
	if fds, err := os.ReadDir("/proc/self/fd"); err == nil {
		f.OpenFiles = len(fds)
	}
	if b, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range"); err == nil {
		if n, err := fmt.Sscan(string(b), &f.PortLow, &f.PortHigh); n != 2 || err != nil {
			f.PortLow, f.PortHigh = 0, 0
		}
	}
	if b, err := os.ReadFile("/proc/net/sockstat"); err == nil {
		f.TimeWait = timeWait(b)
	}
	if b, err := os.ReadFile("/sys/devices/system/clocksource/clocksource0/current_clocksource"); err == nil {
		f.ClockSource = strings.TrimSpace(string(b))
	}
}

// timeWait reads "TCP: inuse 5 orphan 0 tw 12 alloc 7 mem 1".
func timeWait(sockstat []byte) int {
	for line := range bytes.Lines(sockstat) {
		fields := strings.Fields(string(line))
		for i := range fields {
			if fields[0] == "TCP:" && fields[i] == "tw" && i+1 < len(fields) {
				n := 0
				if _, err := fmt.Sscan(fields[i+1], &n); err == nil {
					return n
				}
			}
		}
	}
	return 0
}
