package arrival

import (
	"fmt"
	"iter"
	"slices"
	"time"
)

// trace: the offsets given.
func trace() Process {
	return Process{
		Name: "trace", Doc: "recorded times", check: checkTrace,
		offsets: func(s Spec) iter.Seq[time.Duration] { return slices.Values(s.Offsets) },
	}
}

func checkTrace(s Spec) string {
	if len(s.Offsets) == 0 {
		return "wants at least one offset"
	}
	for i, at := range s.Offsets {
		if at < 0 || i > 0 && at < s.Offsets[i-1] {
			return fmt.Sprintf("offset %d (%v) is negative or before the one ahead of it", i, at)
		}
	}
	return ""
}
