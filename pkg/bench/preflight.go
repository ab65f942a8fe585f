package bench

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/mifbench/mifbench/pkg/bench/client"
)

// Facts are what matters of the machine that sends. 0 means not known.
type Facts struct {
	// NoFile is the limit on open files that holds for this process.
	NoFile uint64 `json:"noFile"`
	// OpenFiles is how many it has open now.
	OpenFiles int `json:"openFiles"`
	// PortLow and PortHigh are the range of local ports for outgoing connections.
	PortLow  int `json:"portLow"`
	PortHigh int `json:"portHigh"`
	// TimeWait is how many sockets are in TIME_WAIT, all destinations together.
	TimeWait int `json:"timeWait"`
	// KernelStamps tells that receive times of the kernel are to be had.
	KernelStamps bool `json:"kernelStamps"`
	// ClockSource is the kernel's time source.
	ClockSource string `json:"clockSource"`
	// ClockStep is the finest step of the monotonic clock seen.
	ClockStep time.Duration `json:"clockStep"`
	Procs     int           `json:"procs"`
}

// Need is what a scenario asks of the machine.
type Need struct {
	// Conns is the largest number of connections at once; 0 when nothing bounds it.
	Conns int
	// Targets is the number of base URLs; each has its own range of ports.
	Targets int
}

func needOf(s Scenario) Need {
	n := Need{Conns: s.MaxConcurrency, Targets: len(s.Client.BaseURLs)}
	if r := s.Arrival.Requests; r > 0 && (n.Conns == 0 || int64(n.Conns) > r) {
		n.Conns = int(r)
	}
	return n
}

// Finding is one thing that preflight noticed.
type Finding struct {
	// Code is stable; Blocking means that the run cannot be right.
	Code     string `json:"code"`
	Blocking bool   `json:"blocking"`
	Text     string `json:"text"`
}

// spareFiles is what the process needs beside its connections.
const spareFiles = 64

// Preflight compares what a run needs with what the machine has. It is pure.
func Preflight(f Facts, n Need) []Finding {
	var out []Finding
	add := func(is bool, code string, blocking bool, format string, a ...any) {
		if is {
			out = append(out, Finding{code, blocking, fmt.Sprintf(format, a...)})
		}
	}
	files := uint64(n.Conns + f.OpenFiles + spareFiles)
	add(f.NoFile > 0 && files > f.NoFile, "nofile", true,
		"%d connections need about %d open files, the limit is %d: raise it (ulimit -n, LimitNOFILE, the pod's runtime) or lower max concurrency", n.Conns, files, f.NoFile)
	ports := (f.PortHigh - f.PortLow + 1) * max(1, n.Targets)
	known := f.PortHigh > f.PortLow
	add(known && n.Conns > ports, "ports", true,
		"%d connections to %d addresses need more than the %d local ports %d-%d: widen net.ipv4.ip_local_port_range or give more base URLs", n.Conns, max(1, n.Targets), ports, f.PortLow, f.PortHigh)
	add(known && n.Conns <= ports && n.Conns+f.TimeWait > ports, "time-wait", false,
		"%d sockets in TIME_WAIT and %d connections may not fit %d local ports: wait a minute between runs or give more base URLs", f.TimeWait, n.Conns, ports)
	add(!f.KernelStamps, "user-clock", false, "no kernel receive stamps on this platform: our own scheduling delay will be in every sample")
	add(f.ClockSource != "" && slowClock(f.ClockSource), "clock-source", false,
		"the kernel's clock source is %q: reading it is slow and coarse; prefer tsc or kvm-clock", f.ClockSource)
	add(f.ClockStep > 10*time.Microsecond, "clock-step", false, "the clock moves in steps of %v", f.ClockStep)
	return out
}

func slowClock(name string) bool { return name == "hpet" || name == "acpi_pm" || name == "jiffies" }

// blocking joins the findings that forbid a run.
func blocking(fs []Finding) error {
	var errs []error
	for _, f := range fs {
		if f.Blocking {
			errs = append(errs, fmt.Errorf("preflight %s: %s", f.Code, f.Text))
		}
	}
	return errors.Join(errs...)
}

// ReadFacts reads this machine's facts; what cannot be read stays 0.
func ReadFacts() Facts {
	f := Facts{KernelStamps: client.KernelStamps(), Procs: runtime.GOMAXPROCS(0), ClockStep: clockStep()}
	readSystem(&f)
	return f
}

// clockStep is the smallest advance of the monotonic clock in 1,000 readings.
func clockStep() time.Duration {
	least, start := time.Hour, time.Now()
	last := time.Since(start)
	for range 1000 {
		now := time.Since(start)
		if d := now - last; d > 0 && d < least {
			least = d
		}
		last = now
	}
	return least
}
