package calibrate

import (
	"context"
	"fmt"
	"time"

	"github.com/mifbench/mifbench/pkg/bench"
	"github.com/mifbench/mifbench/pkg/bench/client"
	"github.com/mifbench/mifbench/pkg/bench/client/lag"
	"github.com/mifbench/mifbench/pkg/bench/dataset"
	"github.com/mifbench/mifbench/pkg/bench/record"
)

// load is one run of the comparison.
type load struct {
	streams, tokens int
	rate            float64 // of new streams; 0: all at once
	from, until     time.Duration
}

// comparer is a sink that compares each record with the server's stamps.
type comparer struct {
	load   load
	stamps [][]int64 // by request; CLOCK_REALTIME ns, 0 where a text is no stamp

	clock             *client.Clock
	stamp, clean, all lag.Histogram
	gap               lag.Histogram
	events, coalesced int64
	dropped           int64 // requests that were not sent in time to be measured
	failed            error
}

// result is what a run of the comparison found.
type result struct {
	*comparer
	outcome bench.Outcome
	gaps    lag.Summary // the server's own gaps
}

func run(ctx context.Context, p Plan, ld load) (result, error) {
	c := &comparer{load: ld, stamps: make([][]int64, ld.streams)}
	s := ld.scenario(p)
	s.Client.OnToken = c.token
	stop := make(chan struct{})
	s.Stop = stop
	var timer *time.Timer
	s.Started = func(clock *client.Clock) {
		c.clock = clock
		timer = time.AfterFunc(ld.until, func() { close(stop) }) // streams are longer than the measurement
	}
	out, err := bench.Run(ctx, s, c, nil)
	if timer != nil {
		timer.Stop()
	}
	if err == nil {
		err = c.failed
	}
	if err != nil {
		return result{}, err
	}
	return result{comparer: c, outcome: out, gaps: c.gap.Summary()}, nil
}

// token notes the stamp that an event carries.
func (c *comparer) token(index int64, text []byte, _ int64, _ bool) {
	if c.stamps[index] == nil {
		c.stamps[index] = make([]int64, 0, c.load.tokens)
	}
	c.stamps[index] = append(c.stamps[index], stampOf(text))
}

// stampOf reads the first number of a text, 0 when it is no time in nanoseconds.
func stampOf(text []byte) int64 {
	i, v := 0, int64(0)
	for i < len(text) && text[i] == ' ' {
		i++
	}
	first := i
	for ; i < len(text) && i-first < 19 && text[i] >= '0' && text[i] <= '9'; i++ {
		v = v*10 + int64(text[i]-'0')
	}
	if i-first != 19 {
		return 0
	}
	return v
}

// Write implements bench.Sink.
func (c *comparer) Write(r record.Record) error {
	stamps := c.stamps[r.Index]
	c.stamps[r.Index] = nil
	if r.Status == record.Dropped {
		c.dropped++
		return nil
	}
	if r.Status != record.OK && r.Status != record.Cancelled && c.failed == nil {
		c.failed = fmt.Errorf("request %d: %s: %s", r.Index, r.Status, r.Error)
	}
	for i := range min(len(stamps), len(r.Events)) {
		if at := time.Duration(r.Events[i].At); stamps[i] == 0 || at < c.load.from || at >= c.load.until {
			continue
		}
		c.event(r.Events, stamps, i)
	}
	return nil
}

// event compares event i with its stamp, and the gap before it with the stamps'.
func (c *comparer) event(events []record.Event, stamps []int64, i int) {
	e := events[i]
	c.events++
	if e.Coalesced {
		c.coalesced++
	}
	c.stamp.Add(time.Duration(e.At - c.clock.FromRealtime(stamps[i])).Abs())
	if i == 0 || stamps[i-1] == 0 {
		return
	}
	theirs := stamps[i] - stamps[i-1]
	off := time.Duration(e.At - events[i-1].At - theirs).Abs()
	c.gap.Add(time.Duration(theirs))
	c.all.Add(off)
	if !e.Coalesced && !events[i-1].Coalesced {
		c.clean.Add(off)
	}
}

// words is a source of short, different prompts.
type words struct{}

func (words) Prompt(_ context.Context, i int64) (dataset.Prompt, error) {
	return dataset.Prompt{Text: fmt.Sprintf("calibration stream %d", i), Tokens: 4, OffsetNS: -1}, nil
}

func (words) Info() dataset.Info {
	return dataset.Info{Kind: "calibration", LengthRule: "approximate: 1 word a token", Distinct: -1}
}
