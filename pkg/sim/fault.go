package sim

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// FaultKind is one row of the table of faults.
type FaultKind struct {
	// Name is what a fault specification begins with.
	Name string
	// Doc says what the client sees.
	Doc string
	// Arg says what the argument means and its default; empty: no argument.
	Arg string
	// after says that after=N (tokens sent before) applies.
	after bool
}

// The fault kinds, as named in specifications.
const (
	fault5xx        = "5xx"
	fault429        = "429"
	faultReset      = "reset"
	faultStall      = "stall"
	faultTruncate   = "truncate"
	faultMerge      = "merge"
	faultSlowFirst  = "slow-first-byte"
	faultInStream   = "in-stream-error"
	faultNoDone     = "no-done"
	faultEmptyFirst = "empty-first-chunk"
	faultCRLF       = "crlf"
	faultUsageLast  = "usage-in-last"
)

// faultKinds is the visible table.
var faultKinds = []FaultKind{ //nolint:gochecknoglobals // read-only table, the place where a fault is added
	{Name: fault5xx, Doc: "the request is refused with that status", Arg: "status, 500"},
	{Name: fault429, Doc: "the request is refused with 429 and Retry-After: 1"},
	{Name: faultReset, Doc: "the connection is reset (RST) after N tokens", after: true},
	{Name: faultStall, Doc: "the stream is silent from N tokens on for that long, then goes on", Arg: "duration, 1h", after: true},
	{Name: faultTruncate, Doc: "the connection ends in the middle of a chunk after N tokens", after: true},
	{Name: faultMerge, Doc: "that many tokens arrive in one event", Arg: "tokens, 2"},
	{Name: faultSlowFirst, Doc: "the response header and all that follows come that much later", Arg: "duration, 1s"},
	{Name: faultInStream, Doc: "an error object inside the 200 stream after N tokens, then [DONE]", after: true},
	{Name: faultNoDone, Doc: "the stream ends well, but without [DONE]"},
	{Name: faultEmptyFirst, Doc: "an event with empty text comes before the first token"},
	{Name: faultCRLF, Doc: "events end in CR LF instead of LF"},
	{Name: faultUsageLast, Doc: "usage is in the last event with a token, not in one of its own"},
}

// FaultKinds returns the table of faults in the order of documentation.
func FaultKinds() []FaultKind { return append([]FaultKind(nil), faultKinds...) }

func faultNames() string {
	names := make([]string, len(faultKinds))
	for i, k := range faultKinds {
		names[i] = k.Name
	}
	return strings.Join(names, ", ")
}

// Fault is a fault and how often it happens.
type Fault struct {
	// Kind is the name of a FaultKind.
	Kind string
	// Rate is the share of requests that are hit, 0 to 1.
	Rate float64
	// After is the number of tokens that are sent before it happens.
	After int
	// N is the argument of 5xx (status) and merge (tokens).
	N int
	// Delay is the argument of stall and slow-first-byte, before Speedup.
	Delay time.Duration
}

// ParseFault reads KIND[=ARG][:RATE][:after=N], for example "5xx=503:0.01",
// "stall=30s:0.1:after=5", "merge=4". The rate defaults to 1. Errors name the
// specification and what is allowed.
func ParseFault(spec string) (Fault, error) {
	parts := strings.Split(spec, ":")
	name, arg, hasArg := strings.Cut(parts[0], "=")
	f := Fault{Kind: name, Rate: 1}
	kind, ok := f.kind()
	if !ok {
		return Fault{}, fmt.Errorf("fault %q: kind %q is not one of %s", spec, name, faultNames())
	}
	if hasArg && kind.Arg == "" {
		return Fault{}, fmt.Errorf("fault %q: %s takes no argument", spec, name)
	}
	if err := f.setArg(arg); err != nil {
		return Fault{}, fmt.Errorf("fault %q: %w", spec, err)
	}
	for _, p := range parts[1:] {
		var err error
		if after, ok := strings.CutPrefix(p, "after="); ok {
			f.After, err = strconv.Atoi(after)
		} else {
			f.Rate, err = strconv.ParseFloat(strings.TrimPrefix(p, "rate="), 64)
		}
		if err != nil {
			return Fault{}, fmt.Errorf("fault %q: %q is neither a rate between 0 and 1 nor after=N", spec, p)
		}
	}
	return f, f.validate()
}

func (f Fault) kind() (FaultKind, bool) {
	for _, k := range faultKinds {
		if k.Name == f.Kind {
			return k, true
		}
	}
	return FaultKind{}, false
}

func (f *Fault) setArg(arg string) (err error) {
	switch f.Kind {
	case fault5xx, faultMerge:
		f.N = map[string]int{fault5xx: 500, faultMerge: 2}[f.Kind]
		if arg != "" {
			if f.N, err = strconv.Atoi(arg); err != nil {
				return fmt.Errorf("argument %q is not a whole number", arg)
			}
		}
	case faultStall, faultSlowFirst:
		f.Delay = map[string]time.Duration{faultStall: time.Hour, faultSlowFirst: time.Second}[f.Kind]
		if arg != "" {
			if f.Delay, err = time.ParseDuration(arg); err != nil {
				return fmt.Errorf("argument %q is not a duration such as 1.5s", arg)
			}
		}
	}
	return nil
}

func (f Fault) validate() error {
	kind, ok := f.kind()
	switch {
	case !ok:
		return fmt.Errorf("fault: kind %q is not one of %s", f.Kind, faultNames())
	case !(f.Rate >= 0 && f.Rate <= 1):
		return fmt.Errorf("fault %s: rate %v is not between 0 and 1", f.Kind, f.Rate)
	case f.After < 0 || (f.After > 0 && !kind.after):
		return fmt.Errorf("fault %s: after=%d does not apply", f.Kind, f.After)
	case f.Kind == fault5xx && (f.N < 500 || f.N > 599):
		return fmt.Errorf("fault 5xx: status %d is not between 500 and 599", f.N)
	case f.Kind == faultMerge && (f.N < 1 || f.N > 1000):
		return fmt.Errorf("fault merge: %d tokens are not between 1 and 1000", f.N)
	case f.Delay < 0:
		return fmt.Errorf("fault %s: delay %v is negative", f.Kind, f.Delay)
	}
	return nil
}

// String is the specification that ParseFault reads.
func (f Fault) String() string {
	s := f.Kind
	switch f.Kind {
	case fault5xx, faultMerge:
		s += "=" + strconv.Itoa(f.N)
	case faultStall, faultSlowFirst:
		s += "=" + f.Delay.String()
	}
	s += ":" + strconv.FormatFloat(f.Rate, 'g', -1, 64)
	if f.After > 0 {
		s += ":after=" + strconv.Itoa(f.After)
	}
	return s
}

// plagued is the set of faults that hit one request; nil for none.
type plagued map[string]Fault

// draw decides which faults hit request number n; deterministic by seed and n.
func draw(faults []Fault, seed, n uint64) plagued {
	var hit plagued
	for i, f := range faults {
		x := mix(seed ^ mix(n*64+uint64(i)))
		if float64(x>>11)/(1<<53) < f.Rate {
			if hit == nil {
				hit = plagued{}
			}
			hit[f.Kind] = f
		}
	}
	return hit
}

// mix is the finalizer of splitmix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
