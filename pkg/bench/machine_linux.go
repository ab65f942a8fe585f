package bench

import (
	"bytes"
	"os"
	"strconv"
	"time"
)

// readMachine reads /proc/stat, which inside a container is the host's; zero when it
// cannot be read, since it only explains a verdict.
func readMachine() machine {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return machine{}
	}
	return parseStat(b, time.Now())
}

// parseStat reads the sums of all cores: user, nice, system, idle, iowait, irq, softirq,
// steal, in hundredths of a second on every architecture that Go runs on.
func parseStat(b []byte, at time.Time) machine {
	m := machine{at: at, cores: bytes.Count(b, []byte("\ncpu"))}
	line, _, _ := bytes.Cut(b, []byte("\n"))
	fields := bytes.Fields(line)
	tick := func(i int) time.Duration {
		if i >= len(fields) {
			return 0
		}
		n, _ := strconv.ParseInt(string(fields[i]), 10, 64)
		return time.Duration(n) * 10 * time.Millisecond
	}
	m.idle, m.stolen = tick(4)+tick(5), tick(8)
	return m
}
