package client

import (
	"context"
	"sync/atomic"
	"time"
)

// Clock is a run's one clock: nanoseconds of monotonic time since the run's start.
// Kernel receive stamps are CLOCK_REALTIME; the distance between the two is measured
// again each second (Track), so that an NTP step bends no interval for longer.
type Clock struct {
	start  time.Time
	offset atomic.Int64 // CLOCK_REALTIME - Now(), ns
}

// NewClock starts a clock at 0 = start, which must carry a monotonic reading.
func NewClock(start time.Time) *Clock {
	c := &Clock{start: start}
	c.Sync()
	return c
}

// Now is ns since the start; negative before it.
func (c *Clock) Now() int64 { return int64(time.Since(c.start)) }

// Start is the instant of 0.
func (c *Clock) Start() time.Time { return c.start }

// FromRealtime turns ns of CLOCK_REALTIME into ns since the start.
func (c *Clock) FromRealtime(ns int64) int64 { return ns - c.offset.Load() }

// Sync measures the distance to CLOCK_REALTIME: the tightest of 100 brackets of one
// wall-clock reading by two monotonic ones, so that being descheduled does not count.
func (c *Clock) Sync() {
	best, offset := int64(1)<<62, int64(0)
	for range 100 {
		a := c.Now()
		wall := time.Now().UnixNano()
		b := c.Now()
		if b-a < best {
			best = b - a
			offset = wall - (a+b)/2
		}
	}
	c.offset.Store(offset)
}

// Track calls Sync each second until ctx ends.
func (c *Clock) Track(ctx context.Context) {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			c.Sync()
		}
	}
}
