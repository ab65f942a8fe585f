package bench

import (
	"math"
	"runtime"
	"runtime/metrics"
	"time"
)

// meter measures what this process uses between its start and stop.
type meter struct {
	cpu     time.Duration
	machine machine
	samples []metrics.Sample
}

// machine is a reading of the machine's cores: how long they were idle, or held by a
// hypervisor for others, since it started.
type machine struct {
	at           time.Time
	cores        int
	idle, stolen time.Duration
}

// since is what the machine did from before to m, of which this process used own.
func (m machine) since(before machine, own time.Duration) Machine {
	elapsed := m.at.Sub(before.at)
	if m.cores == 0 || before.cores == 0 || elapsed <= 0 {
		return Machine{}
	}
	whole := float64(elapsed) * float64(m.cores)
	idle, stolen := float64(m.idle-before.idle), float64(m.stolen-before.stolen)
	return Machine{
		Cores: m.cores, Idle: max(0, idle/whole), Stolen: max(0, stolen/whole),
		Others: max(0, (whole-idle-stolen-float64(own))/float64(elapsed)),
	}
}

// measured is what a meter saw.
type measured struct {
	cpu                      time.Duration
	cpuShare                 float64
	gcMax, gcTotal, schedP99 time.Duration
	maxRSS                   int64
	machine                  Machine
}

func readRuntime() []metrics.Sample {
	s := []metrics.Sample{{Name: "/sched/pauses/total/gc:seconds"}, {Name: "/sched/latencies:seconds"}}
	metrics.Read(s)
	return s
}

func startMeter() meter {
	cpu, _ := processUsage()
	return meter{cpu: cpu, machine: readMachine(), samples: readRuntime()}
}

func (m meter) stop(elapsed int64) measured {
	cpu, rss := processUsage()
	now := readRuntime()
	gc := difference(m.samples[0], now[0])
	sched := difference(m.samples[1], now[1])
	out := measured{cpu: cpu - m.cpu, maxRSS: rss, gcMax: gc.quantile(1), gcTotal: gc.total(), schedP99: sched.quantile(0.99)}
	out.machine = readMachine().since(m.machine, out.cpu)
	if elapsed > 0 {
		out.cpuShare = float64(out.cpu) / float64(elapsed) / float64(runtime.GOMAXPROCS(0))
	}
	return out
}

// spread is a histogram of seconds.
type spread struct {
	counts []uint64
	edges  []float64
}

// difference is what was added to a runtime histogram between two readings.
func difference(before, after metrics.Sample) spread {
	if before.Value.Kind() != metrics.KindFloat64Histogram || after.Value.Kind() != metrics.KindFloat64Histogram {
		return spread{}
	}
	a, b := before.Value.Float64Histogram(), after.Value.Float64Histogram()
	s := spread{counts: make([]uint64, len(b.Counts)), edges: b.Buckets}
	for i := range b.Counts {
		s.counts[i] = b.Counts[i] - a.Counts[i]
	}
	return s
}

// upper is bucket i's upper edge; the last one's lower edge, since that is open.
func (s spread) upper(i int) time.Duration {
	e := s.edges[i+1]
	if math.IsInf(e, 1) {
		e = s.edges[i]
	}
	return time.Duration(max(0, e) * float64(time.Second))
}

func (s spread) quantile(q float64) time.Duration {
	var n, seen uint64
	for _, c := range s.counts {
		n += c
	}
	for i, c := range s.counts {
		if seen += c; c > 0 && float64(seen) >= q*float64(n) {
			return s.upper(i)
		}
	}
	return 0
}

func (s spread) total() time.Duration {
	var t time.Duration
	for i, c := range s.counts {
		t += time.Duration(c) * s.upper(i)
	}
	return t
}
