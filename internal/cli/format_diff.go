package cli

import (
	"fmt"
	"strings"
)

// lineDiff shows the lines of a file that formatting changes: formatting moves no line far,
// so the common start and end are cut off and the rest is compared line by line.
func lineDiff(name string, before, after []byte) string {
	a, b := strings.SplitAfter(string(before), "\n"), strings.SplitAfter(string(after), "\n")
	var out strings.Builder
	fmt.Fprintf(&out, "--- old/%s\n+++ new/%s\n", name, name)
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(a) > 0 && len(b) > 0 && a[0] == b[0]:
			a, b = a[1:], b[1:]
		default:
			i, j := meet(a, b)
			for _, l := range a[:i] {
				writeLine(&out, "-", l)
			}
			for _, l := range b[:j] {
				writeLine(&out, "+", l)
			}
			a, b = a[i:], b[j:]
		}
	}
	return out.String()
}

// meet finds the nearest pair of equal lines, the ends when there is none.
func meet(a, b []string) (int, int) {
	const reach = 200 // lines looked ahead
	for sum := 1; sum < 2*reach; sum++ {
		for i := max(0, sum-reach); i <= min(sum, reach); i++ {
			j := sum - i
			if i >= len(a) || j >= len(b) || a[i] != b[j] || strings.TrimSpace(a[i]) == "" {
				continue
			}
			for i > 0 && j > 0 && a[i-1] == b[j-1] {
				i, j = i-1, j-1
			}
			return i, j
		}
	}
	return len(a), len(b)
}

func writeLine(out *strings.Builder, sign, line string) {
	if line == "" {
		return
	}
	fmt.Fprintf(out, "%s%s\n", sign, strings.TrimRight(line, "\r\n"))
}
