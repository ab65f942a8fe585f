// Package arrival decides when requests are due: seeded, pure schedules of intended
// offsets from the run's start, one file per process and one row in the table. The same
// Spec gives the same offsets, whoever asks and however often; nothing here reads a
// clock or sleeps. A Spec that cannot be scheduled comes back as an error that names
// the field and what is allowed.
package arrival

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"time"
)

// Spec describes an arrival process and its end.
type Spec struct {
	// Process is a name of the table; empty means Poisson when Rate is set, else closed.
	Process string
	// Rate is in requests per second; +Inf without a Process means closed, as in vLLM.
	Rate float64
	// Burstiness is the gamma shape of the gaps: 1 Poisson, <1 burstier, >1 smoother,
	// +Inf even. 0 means 1.
	Burstiness float64
	// From and To are the rates of a ramp, Over its length; To holds afterwards. With
	// Over 0 the ramp runs over the request's index instead, as vLLM's does.
	From, To float64
	Over     time.Duration
	// Stages follow one another; the schedule ends with the last.
	Stages []Stage
	// Offsets are the intended times of a trace, ascending.
	Offsets []time.Duration
	// Requests and Duration end the schedule, whichever comes first; 0 means no such
	// end. A trace and stages have an end of their own.
	Requests int64
	Duration time.Duration
	// Rescale stretches a schedule of constant mean rate so that its last request is at
	// Requests/Rate exactly (vLLM's rule; serve.py get_request). Others ignore it, as
	// vLLM's ramps do.
	Rescale bool
	// Seed picks the sequence.
	Seed uint64
}

// Stage is a time of one rate, or of a linear change from the rate before.
type Stage struct {
	Rate   float64
	Length time.Duration
	Ramp   bool
}

// Process is a row of the table.
type Process struct {
	Name string
	// Doc says in one line what it does.
	Doc string
	// check returns what is wrong with a Spec, "" for nothing.
	check func(Spec) string
	// steady: the mean rate is Spec.Rate throughout, so that Rescale has a meaning.
	steady bool
	// offsets is endless unless the process ends by itself.
	offsets func(Spec) iter.Seq[time.Duration]
}

// Processes is the table, by name.
func Processes() []Process {
	return []Process{closed(), constant(), gamma(), poisson(), rampExponential(), rampLinear(), stages(), trace()}
}

// Schedule returns the intended offsets, ascending and from 0 on.
func Schedule(s Spec) (iter.Seq[time.Duration], error) {
	s = s.withDefaults()
	i := slices.IndexFunc(Processes(), func(p Process) bool { return p.Name == s.Process })
	if i < 0 {
		return nil, fmt.Errorf("arrival process %q is not one of %s", s.Process, strings.Join(names(), ", "))
	}
	p := Processes()[i]
	if why := s.problem(p); why != "" {
		return nil, fmt.Errorf("arrival process %q: %s", s.Process, why)
	}
	seq := p.offsets(s)
	if s.Rescale && s.Requests > 0 && p.steady {
		seq = rescaled(seq, s)
	}
	return bounded(seq, s.Requests, s.Duration), nil
}

// Closed tells whether all requests are due at once.
func (s Spec) Closed() bool { return s.withDefaults().Process == "closed" }

func (s Spec) withDefaults() Spec {
	if s.Burstiness == 0 {
		s.Burstiness = 1
	}
	if s.Process == "" {
		s.Process = "closed"
		if s.Rate > 0 && !math.IsInf(s.Rate, 1) {
			s.Process = "gamma"
		}
	}
	return s
}

func (s Spec) problem(p Process) string {
	switch {
	case s.Burstiness < 0 || s.Burstiness != s.Burstiness:
		return fmt.Sprintf("burstiness %v: want a number above 0", s.Burstiness)
	case s.Requests < 0:
		return fmt.Sprintf("requests %d: want 0 or more", s.Requests)
	case s.Duration < 0:
		return fmt.Sprintf("duration %v: want 0 or more", s.Duration)
	case s.Requests == 0 && s.Duration == 0 && len(s.Offsets) == 0 && len(s.Stages) == 0:
		return "has no end: give a number of requests or a duration"
	}
	return p.check(s)
}

func names() []string {
	var n []string
	for _, p := range Processes() {
		n = append(n, p.Name)
	}
	return n
}

// bounded ends a sequence after n offsets or at the first that is not before d.
func bounded(seq iter.Seq[time.Duration], n int64, d time.Duration) iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		i := int64(0)
		for at := range seq {
			if n > 0 && i == n || d > 0 && at >= d || !yield(at) {
				return
			}
			i++
		}
	}
}

// rescaled multiplies every offset by (Requests/Rate)/last. The sequence is pure, so the
// last offset is had by going through it once before.
func rescaled(seq iter.Seq[time.Duration], s Spec) iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		last := time.Duration(0)
		for at := range bounded(seq, s.Requests, 0) {
			last = at
		}
		f := 1.0
		if last > 0 {
			f = float64(s.Requests) / s.Rate * float64(time.Second) / float64(last)
		}
		for at := range seq {
			if !yield(time.Duration(float64(at) * f)) {
				return
			}
		}
	}
}
