package bench

import (
	"runtime"
	"time"

	"github.com/mifbench/mifbench/pkg/bench/client"
	"github.com/mifbench/mifbench/pkg/bench/record"
)

// Outcome is what a run did, and the facts of its proof.
type Outcome struct {
	Start   time.Time     `json:"start"`
	Elapsed time.Duration `json:"elapsed"`
	Targets []string      `json:"targets"`
	// Planned is the schedule's number of requests (this shard's part), 0 when only time
	// bounds it.
	Planned int64 `json:"planned,omitempty"`
	// Admitted were sent; Records were written: Admitted + Dropped, unless the sink failed.
	Admitted int64 `json:"admitted"`
	Records  int64 `json:"records"`
	// ByStatus counts the records by class.
	ByStatus map[record.Status]int64 `json:"byStatus"`
	// Late were sent more than 10 ms after their intended time, for whatever reason;
	// Waited of all sent had to wait for a slot. Dropped were due and never sent.
	Late    int64 `json:"late"`
	Waited  int64 `json:"waited"`
	Dropped int64 `json:"dropped"`
	// LastSent is the time of the last send.
	LastSent time.Duration `json:"lastSent"`
	// Interrupted tells that Stop or the context ended the run early.
	Interrupted bool      `json:"interrupted"`
	Probes      []Probed  `json:"probes,omitempty"`
	Preflight   []Finding `json:"preflight,omitempty"`
	Proof       Proof     `json:"proof"`
}

func (r *runner) outcome(out *Outcome, m measured, elapsed int64) {
	c := r.recorder.proof
	out.Start, out.Elapsed = r.clock.Start(), time.Duration(elapsed)
	out.Planned = planned(r.s)
	out.Admitted, out.Records, out.ByStatus = r.admitted, r.recorder.written, r.recorder.count
	out.Late, out.Waited, out.Dropped = r.late.Load(), r.waited.Load(), r.dropped
	out.LastSent = time.Duration(r.lastSent.Load())
	out.Proof = Proof{
		ClockSource: clockSource(c), SendLag: r.sendLag.Summary(), ReceiveLag: r.receiveLag(),
		Events: c.events, Coalesced: c.coalesced, Tokens: c.tokens, KernelEvents: c.kernelEvents,
		CPUShare: m.cpuShare, CPUPerMToken: perMillion(m.cpu, c.tokens), Procs: runtime.GOMAXPROCS(0),
		GCPauseMax: m.gcMax, GCPauseTotal: m.gcTotal, SchedLatencyP99: m.schedP99,
		MaxInFlight: r.maxInFlight.Load(), Cap: int64(r.s.MaxConcurrency),
		SinkWait: time.Duration(r.recorder.wait.Load()), SourceWait: r.sourceWait,
		MaxRSS: m.maxRSS, Elapsed: time.Duration(elapsed), Machine: m.machine,
		Sent: r.admitted, Waited: r.waited.Load(), Dropped: r.dropped,
	}
}

// planned is the shard's part of a schedule by count.
func planned(s Scenario) int64 {
	n, c := s.Arrival.Requests, int64(max(1, s.Shard.Count))
	return (n - int64(s.Shard.Index) + c - 1) / c
}

// perMillion is CPU seconds per million tokens.
func perMillion(cpu time.Duration, tokens int64) float64 {
	if tokens == 0 {
		return 0
	}
	return cpu.Seconds() / float64(tokens) * 1e6
}

// ClockSource says who stamped the token events.
type ClockSource string

// The sources.
const (
	KernelClock ClockSource = "kernel"
	UserClock   ClockSource = "user-space"
	MixedClock  ClockSource = "mixed"
)

func clockSource(c counts) ClockSource {
	switch {
	case c.events == 0 && client.KernelStamps(), c.events > 0 && c.kernelEvents == c.events:
		return KernelClock
	case c.kernelEvents == 0:
		return UserClock
	}
	return MixedClock
}
