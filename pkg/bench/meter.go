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
	others  contention
	samples []metrics.Sample
}

// contention is what others took of the CPU that this process wanted: how long its
// threads were ready and had no core, and how long a hypervisor held this machine's.
type contention struct{ coreWait, stolen time.Duration }

// measured is what a meter saw.
type measured struct {
	cpu                      time.Duration
	cpuShare                 float64
	gcMax, gcTotal, schedP99 time.Duration
	maxRSS                   int64
	others                   contention
}

func readRuntime() []metrics.Sample {
	s := []metrics.Sample{{Name: "/sched/pauses/total/gc:seconds"}, {Name: "/sched/latencies:seconds"}}
	metrics.Read(s)
	return s
}

func startMeter() meter {
	cpu, _ := processUsage()
	return meter{cpu: cpu, others: readContention(), samples: readRuntime()}
}

func (m meter) stop(elapsed int64) measured {
	cpu, rss := processUsage()
	now := readRuntime()
	gc := difference(m.samples[0], now[0])
	sched := difference(m.samples[1], now[1])
	out := measured{cpu: cpu - m.cpu, maxRSS: rss, gcMax: gc.quantile(1), gcTotal: gc.total(), schedP99: sched.quantile(0.99)}
	others := readContention()
	out.others = contention{coreWait: max(0, others.coreWait-m.others.coreWait), stolen: max(0, others.stolen-m.others.stolen)}
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
