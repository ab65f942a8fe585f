package calibrate

import (
	"testing"

	"github.com/mifbench/mifbench/pkg/bench/record"
)

// A machine that cannot even start the streams in time has found its limit; that is a
// result and no failure of the run.
func TestStreamsNotStartedAreALimit(t *testing.T) {
	c := &comparer{stamps: make([][]int64, 2)}
	for i, s := range []record.Status{record.Dropped, record.Cancelled} {
		if err := c.Write(record.Record{Index: int64(i), Status: s}); err != nil {
			t.Fatal(err)
		}
	}
	if c.failed != nil || c.dropped != 1 {
		t.Errorf("%d dropped, failed: %v", c.dropped, c.failed)
	}
	if _ = c.Write(record.Record{Index: 1, Status: record.Reset, Error: "connection reset"}); c.failed == nil {
		t.Error("a broken stream is no failure")
	}
}
