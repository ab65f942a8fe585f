package bench

import (
	"bytes"
	"os"
	"strconv"
	"time"
)

// readContention sums what the kernel counted since this process and this machine
// started; what cannot be read counts as nothing, since it only explains a verdict.
func readContention() contention {
	var c contention
	tasks, _ := os.ReadDir("/proc/self/task") // threads that ended took their counts with them
	for _, t := range tasks {
		c.coreWait += time.Duration(field("/proc/self/task/"+t.Name()+"/schedstat", 1))
	}
	const userHZ = 100 // the unit of /proc/stat on every architecture that Go runs on
	c.stolen = time.Duration(field("/proc/stat", 8)) * time.Second / userHZ
	return c
}

// field is number i of a file's first line, 0 when there is none.
func field(path string, i int) int64 {
	b, err := os.ReadFile(path) //nolint:gosec // a file of /proc
	if err != nil {
		return 0
	}
	line, _, _ := bytes.Cut(b, []byte("\n"))
	fields := bytes.Fields(line)
	if i >= len(fields) {
		return 0
	}
	n, _ := strconv.ParseInt(string(fields[i]), 10, 64)
	return n
}
