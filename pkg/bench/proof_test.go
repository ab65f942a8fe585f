package bench

import (
	"strings"
	"testing"
	"time"

	"github.com/mifbench/mifbench/pkg/bench/client/lag"
	"github.com/mifbench/mifbench/pkg/bench/record"
)

func TestJudge(t *testing.T) {
	good := Proof{
		ClockSource: KernelClock, Events: 1000, KernelEvents: 1000, Tokens: 1000, Sent: 10, Procs: 2, CPUShare: 0.4,
		Elapsed: time.Minute, MaxInFlight: 100, SendLag: lag.Summary{N: 10, P99: time.Millisecond}, ReceiveLag: lag.Summary{N: 900, P99: time.Millisecond},
	}
	x := func(v float64) *float64 { return &v }
	cases := []struct {
		name string
		edit func(*Proof)
		want Class
		why  string
	}{
		{"a healthy run", func(*Proof) {}, ClientOK, ""},
		{"late sends of our own", func(p *Proof) { p.SendLag.P99 = time.Second }, ClientLimited, "sends were late"},
		{"data waited for us", func(p *Proof) { p.ReceiveLag.P99 = time.Second }, ClientLimited, "waited in the kernel"},
		{"coalesced at the bound", func(p *Proof) { p.Coalesced = 1 }, ClientOK, ""},
		{"coalesced over the bound", func(p *Proof) { p.Coalesced = 2 }, ClientLimited, "0.20 % of token events"},
		{"no CPU left", func(p *Proof) { p.CPUShare = 0.95 }, ClientLimited, "95 % of 2 cores"},
		{"no CPU left because others want it", func(p *Proof) { p.CPUShare, p.Machine = 0.95, Machine{Cores: 2, Idle: 0.01, Others: 1.25} }, ClientLimited, "other processes used 1.2 of this machine's 2 cores and 1 % were idle"},
		{"no CPU left and nobody else there", func(p *Proof) { p.CPUShare, p.Machine = 0.95, Machine{Cores: 2, Idle: 0.01, Others: 0.1} }, ClientLimited, "bound 90 %"},
		{"no CPU left because the machine is shared", func(p *Proof) { p.CPUShare, p.Machine = 0.95, Machine{Cores: 2, Idle: 0.5, Stolen: 0.03} }, ClientLimited, "hypervisor kept 3.0 %"},
		{"others want CPU and all is well", func(p *Proof) { p.Machine = Machine{Cores: 2, Others: 1.5} }, ClientOK, ""},
		{"a long pause", func(p *Proof) { p.GCPauseMax = time.Second }, ClientLimited, "garbage collection"},
		{"a slow record file", func(p *Proof) { p.SinkWait = 2 * time.Minute }, ClientLimited, "record file"},
		{"a short wait for it", func(p *Proof) { p.SinkWait = time.Second }, ClientOK, ""},
		{"slow prompts", func(p *Proof) { p.SourceWait = 2 * time.Second }, ClientLimited, "for their prompt"},
		{"user-space stamps, quick scheduler", func(p *Proof) { p.KernelEvents, p.SchedLatencyP99 = 0, time.Microsecond }, ClientOK, ""},
		{"user-space stamps, slow scheduler", func(p *Proof) { p.KernelEvents, p.SchedLatencyP99 = 0, time.Second }, ClientLimited, "user-space"},
		{"user-space stamps, nothing known", func(p *Proof) { p.KernelEvents = 10 }, Unverified, "not known"},
		{"nothing arrived", func(p *Proof) { p.Events, p.KernelEvents = 0, 0 }, Unverified, "no token event"},
		{"server counts other tokens", func(p *Proof) { p.TokenMismatch = x(0.02) }, Unverified, "2.0 % apart"},
		{"Little's law does not hold", func(p *Proof) { p.LittleError = x(0.2) }, Unverified, "rate × latency"},
		{"many repeats", func(p *Proof) { p.RepeatShare = x(0.9) }, Unverified, "repeats"},
		{"within all outside bounds", func(p *Proof) { p.TokenMismatch, p.LittleError, p.RepeatShare = x(0), x(0.006), x(0) }, ClientOK, ""},
		{"limited wins over unverified, both are told", func(p *Proof) { p.CPUShare, p.LittleError = 1, x(0.2) }, ClientLimited, "rate × latency"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := good
			c.edit(&p)
			v := p.Judge(DefaultBounds())
			if v.Class != c.want || !strings.Contains(strings.Join(v.Reasons, "; "), c.why) || (v.Class == ClientOK) != (len(v.Reasons) == 0) {
				t.Errorf("verdict %+v, want %s %q", v, c.want, c.why)
			}
		})
	}
}

// What is read late because we are hanging up is no sign of a slow client.
func TestCoalescedUntilWeHungUp(t *testing.T) {
	events := []record.Event{{At: 10}, {At: 20, Coalesced: true}, {At: 20, Coalesced: true}, {At: 31, Coalesced: true}}
	for until, want := range map[int64]int64{0: 3, 5: 0, 20: 2, 40: 3} {
		if got := coalesced(3, events, until); got != want {
			t.Errorf("until %d: %d, want %d", until, got, want)
		}
	}
}

func TestRounded(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 999: "999ns", 25165823: "25.2ms", 999999999: "1s", 71303167 * time.Nanosecond: "71.3ms", 3725 * time.Second: "1h2m10s",
	} {
		if got := Rounded(d).String(); got != want {
			t.Errorf("%d: %s, want %s", d, got, want)
		}
	}
}

func TestPreflight(t *testing.T) {
	good := Facts{NoFile: 20000, OpenFiles: 10, PortLow: 32768, PortHigh: 60999, KernelStamps: true, ClockSource: "tsc", ClockStep: 30}
	cases := []struct {
		name     string
		edit     func(*Facts)
		need     Need
		code     string
		blocking bool
	}{
		{"enough of all", func(*Facts) {}, Need{Conns: 10800, Targets: 1}, "", false},
		{"too few files", func(f *Facts) { f.NoFile = 1024 }, Need{Conns: 10800, Targets: 1}, "nofile", true},
		{"files not known", func(f *Facts) { f.NoFile = 0 }, Need{Conns: 10800, Targets: 1}, "", false},
		{"too few ports", func(f *Facts) { f.NoFile = 1 << 20 }, Need{Conns: 30000, Targets: 1}, "ports", true},
		{"ports of two targets", func(f *Facts) { f.NoFile = 1 << 20 }, Need{Conns: 30000, Targets: 2}, "", false},
		{"ports still waiting", func(f *Facts) { f.TimeWait = 20000 }, Need{Conns: 10800, Targets: 1}, "time-wait", false},
		{"no kernel stamps", func(f *Facts) { f.KernelStamps = false }, Need{Conns: 1}, "user-clock", false},
		{"a slow clock", func(f *Facts) { f.ClockSource = "hpet" }, Need{Conns: 1}, "clock-source", false},
		{"a coarse clock", func(f *Facts) { f.ClockStep = time.Millisecond }, Need{Conns: 1}, "clock-step", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := good
			c.edit(&f)
			got := Preflight(f, c.need)
			if c.code == "" && len(got) == 0 {
				return
			}
			if len(got) != 1 || got[0].Code != c.code || got[0].Blocking != c.blocking || (blocking(got) != nil) != c.blocking {
				t.Errorf("findings %+v", got)
			}
		})
	}
}

func TestReadFacts(t *testing.T) {
	f := ReadFacts()
	if f.Procs < 1 || f.ClockStep <= 0 || f.ClockStep > time.Millisecond {
		t.Errorf("facts %+v", f)
	}
}
