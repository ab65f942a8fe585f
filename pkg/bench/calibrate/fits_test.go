package calibrate_test

import (
	"strings"
	"testing"

	"github.com/mifbench/mifbench/pkg/bench/calibrate"
)

func TestFits(t *testing.T) {
	found := calibrate.Limit{
		Levels:  []calibrate.Level{{Streams: 1000, TokensPerSecond: 50000, OK: true}, {Streams: 2000, TokensPerSecond: 90000, OK: true}, {Streams: 4000, TokensPerSecond: 110000}},
		Streams: 2000, TokensPerSecond: 90000, Reached: true,
	}
	open := found
	open.Levels, open.Reached = found.Levels[:2], false
	cases := []struct {
		name    string
		limit   calibrate.Limit
		streams int
		rate    float64
		want    bool
		why     string
	}{
		{"a small load", found, 500, 1000, true, "were timed within"},
		{"the limit itself", found, 2000, 90000, true, "were timed within"},
		{"more streams than were timed", found, 3000, 1000, false, "found to time 2000 streams"},
		{"more tokens than were timed", found, 100, 100000, false, "90000 tokens/s"},
		{"beyond what was tried", open, 3000, 1000, false, "larger plan"},
		{"nothing was timed correctly", calibrate.Limit{Reached: true}, 1, 1, false, "0 streams"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			ok, why := c.limit.Fits(c.streams, c.rate)
			if ok != c.want || !strings.Contains(why, c.why) {
				t.Errorf("%v: %s", ok, why)
			}
		})
	}
}
