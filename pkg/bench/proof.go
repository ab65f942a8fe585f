package bench

import (
	"fmt"
	"time"

	"github.com/mifbench/mifbench/pkg/bench/client/lag"
)

// Proof holds the facts that show whether the client was the bottleneck.
type Proof struct {
	ClockSource ClockSource `json:"clockSource"`
	// SendLag is (actual send - the later of intended time and slot free): our own delay.
	SendLag lag.Summary `json:"sendLag"`
	// ReceiveLag is (our code had the data - kernel stamp); N is 0 without kernel stamps.
	ReceiveLag lag.Summary `json:"receiveLag"`
	// Events are token events; KernelEvents those of requests stamped by the kernel;
	// Coalesced those whose stamp may be a neighbour's. Tokens is their token count.
	Events       int64 `json:"events"`
	KernelEvents int64 `json:"kernelEvents"`
	Coalesced    int64 `json:"coalesced"`
	Tokens       int64 `json:"tokens"`
	// CPUShare is CPU time over elapsed time and GOMAXPROCS (Procs); CPUPerMToken is CPU
	// seconds per million tokens.
	CPUShare     float64 `json:"cpuShare"`
	CPUPerMToken float64 `json:"cpuPerMToken"`
	Procs        int     `json:"procs"`
	// GC pauses and the wait of runnable goroutines, from the runtime's histograms.
	GCPauseMax      time.Duration `json:"gcPauseMax"`
	GCPauseTotal    time.Duration `json:"gcPauseTotal"`
	SchedLatencyP99 time.Duration `json:"schedLatencyP99"`
	// Machine is what else ran; its Cores are 0 where that is not known.
	Machine Machine `json:"machine"`
	// MaxInFlight and Cap count requests.
	MaxInFlight int64 `json:"maxInFlight"`
	Cap         int64 `json:"cap"`
	// SinkWait is how long finished requests waited for the sink, summed; SourceWait how
	// long due requests waited for their prompt.
	SinkWait   time.Duration `json:"sinkWait"`
	SourceWait time.Duration `json:"sourceWait"`
	MaxRSS     int64         `json:"maxRSS"`
	Elapsed    time.Duration `json:"elapsed"`
	// Sent, Waited (for a slot) and Dropped count requests: which limit binds.
	Sent    int64 `json:"sent"`
	Waited  int64 `json:"waited"`
	Dropped int64 `json:"dropped"`
	// What others find out, as shares (0.01 = 1 %); nil when not known. TokenMismatch is
	// |client - server| / server of output tokens; LittleError is |rate × latency - in
	// flight| / in flight; RepeatShare is the share of prompts sent before in this run.
	TokenMismatch *float64 `json:"tokenMismatch,omitempty"`
	LittleError   *float64 `json:"littleError,omitempty"`
	RepeatShare   *float64 `json:"repeatShare,omitempty"`
}

// Class is the verdict of a proof.
type Class string

// The classes, best first.
const (
	ClientOK      Class = "OK"
	Unverified    Class = "UNVERIFIED"     // something that must be known is not, or does not add up
	ClientLimited Class = "CLIENT-LIMITED" // the client, not the server, may have set the result
)

// Verdict is a class with its reasons, one line each.
type Verdict struct {
	Class   Class    `json:"class"`
	Reasons []string `json:"reasons,omitempty"`
}

// Bounds are what a proof must keep.
type Bounds struct {
	SendLagP99    time.Duration
	ReceiveLagP99 time.Duration // with kernel stamps it delays only what we send next
	SchedP99      time.Duration // without kernel stamps it is in every sample
	Coalesced     float64       // share of events
	CPUShare      float64
	GCPauseMax    time.Duration
	SinkWait      float64 // share of requests' time: wait / (elapsed × cap)
	SourceWait    float64 // share of elapsed time
	TokenMismatch float64
	LittleError   float64
	RepeatShare   float64
}

// DefaultBounds are those of the design: coalesced reads under 0.1 %, token counts
// within 1 %, Little's law within 5 %; delays well under a network round trip to a user.
func DefaultBounds() Bounds {
	return Bounds{
		SendLagP99: 20 * time.Millisecond, ReceiveLagP99: 50 * time.Millisecond, SchedP99: 2 * time.Millisecond,
		Coalesced: 0.001, CPUShare: 0.9, GCPauseMax: 10 * time.Millisecond,
		SinkWait: 0.01, SourceWait: 0.01, TokenMismatch: 0.01, LittleError: 0.05, RepeatShare: 0.5,
	}
}

// Judge weighs the proof against bounds. It is pure; all reasons are given.
func (p Proof) Judge(b Bounds) Verdict {
	var v Verdict
	limited := func(over bool, format string, a ...any) { v.add(over, ClientLimited, format, a...) }
	unsure := func(over bool, format string, a ...any) { v.add(over, Unverified, format, a...) }
	limited(p.SendLag.P99 > b.SendLagP99, "sends were late by our own doing: p99 %s, bound %s", Rounded(p.SendLag.P99), Rounded(b.SendLagP99))
	limited(p.ReceiveLag.P99 > b.ReceiveLagP99, "data waited in the kernel for us: p99 %s, bound %s", Rounded(p.ReceiveLag.P99), Rounded(b.ReceiveLagP99))
	limited(share(p.Coalesced, p.Events) > b.Coalesced, "%.2f %% of token events shared a read, bound %.2f %%: we read more slowly than they came, or a proxy merged them",
		100*share(p.Coalesced, p.Events), 100*b.Coalesced)
	limited(p.CPUShare > b.CPUShare, "this process used %.0f %% of %d cores, bound %.0f %%", 100*p.CPUShare, p.Procs, 100*b.CPUShare)
	limited(p.GCPauseMax > b.GCPauseMax, "a garbage collection stopped us for %s, bound %s", Rounded(p.GCPauseMax), Rounded(b.GCPauseMax))
	limited(p.sinkShare() > b.SinkWait, "finished requests waited %s for the record file", Rounded(p.SinkWait))
	limited(p.Elapsed > 0 && float64(p.SourceWait) > b.SourceWait*float64(p.Elapsed), "due requests waited %s for their prompt", Rounded(p.SourceWait))
	user := p.Events > 0 && p.KernelEvents < p.Events
	limited(user && p.SchedLatencyP99 > b.SchedP99, "stamps are user-space and runnable goroutines waited: p99 %s, bound %s", Rounded(p.SchedLatencyP99), Rounded(b.SchedP99))
	unsure(p.Events == 0, "no token event arrived")
	unsure(user && p.SchedLatencyP99 == 0, "stamps are user-space and the delay in them is not known")
	over := func(x *float64, bound float64) bool { return x != nil && *x > bound }
	unsure(over(p.TokenMismatch, b.TokenMismatch), "client and server count different numbers of output tokens: %s apart", percent(p.TokenMismatch))
	unsure(over(p.LittleError, b.LittleError), "rate × latency differs from the requests in flight by %s", percent(p.LittleError))
	unsure(over(p.RepeatShare, b.RepeatShare), "%s of the prompts were repeats: a prefix cache may have answered them", percent(p.RepeatShare))
	if v.Class == "" {
		v.Class = ClientOK
	}
	if v.Class == ClientLimited {
		v.Reasons = append(v.Reasons, p.Machine.crowded()...)
	}
	return v
}

// Machine is what the whole machine did during a run.
type Machine struct {
	Cores int `json:"cores"`
	// Idle and Stolen (by a hypervisor, for others) are shares of all cores' time; Others
	// is how many cores other processes used, the server's too when it runs here.
	Idle   float64 `json:"idle"`
	Stolen float64 `json:"stolen"`
	Others float64 `json:"others"`
}

// crowded tells who else wanted the cores, where that may explain a limit.
func (m Machine) crowded() []string {
	var why []string
	if m.Cores > 0 && m.Idle < 0.1 && m.Others > 0.1*float64(m.Cores) {
		why = append(why, fmt.Sprintf("other processes used %.1f of this machine's %d cores and %.0f %% were idle: give the client cores of its own", m.Others, m.Cores, 100*m.Idle))
	}
	if m.Stolen > 0.01 {
		why = append(why, fmt.Sprintf("the hypervisor kept %.1f %% of this machine's CPU time for others", 100*m.Stolen))
	}
	return why
}

// Rounded is d to three digits, for people.
func Rounded(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}

func (v *Verdict) add(over bool, c Class, format string, a ...any) {
	if !over {
		return
	}
	v.Reasons = append(v.Reasons, fmt.Sprintf(format, a...))
	if v.Class != ClientLimited {
		v.Class = c
	}
}

// sinkShare is the part of the slots' time that went into waiting for the sink.
func (p Proof) sinkShare() float64 {
	slots := max(1, p.MaxInFlight)
	if p.Elapsed <= 0 {
		return 0
	}
	return float64(p.SinkWait) / float64(p.Elapsed) / float64(slots)
}

func share(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

func percent(x *float64) string {
	if x == nil {
		return "n/a"
	}
	return fmt.Sprintf("%.1f %%", 100**x)
}
