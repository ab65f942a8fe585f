package sim

import (
	"errors"
	"fmt"
	"net"
	"time"
)

// Role says which part of a request a server computes.
type Role string

// The roles of the published deployment and the usual single server.
const (
	RoleBoth    Role = "both"
	RolePrefill Role = "prefill"
	RoleDecode  Role = "decode"
)

// Config is everything a simulated engine can be told; each field is a flag of
// the same meaning (see Flags). The zero value is not valid: begin with
// DefaultConfig.
type Config struct {
	// Listen is the address of rank 0, "host:port"; port 0 picks free ports.
	Listen string
	// Ranks is the number of data-parallel ranks; rank i listens on port+i.
	Ranks int
	// Role is both, prefill or decode.
	Role Role
	// Preset names the engine model (Presets).
	Preset string
	// Speedup makes time run that many times faster. All times that a client
	// sees, those of /metrics included, are in real (sped-up) seconds.
	Speedup float64
	// StreamScale makes one sequence load the engine like that many.
	StreamScale float64
	// Stagger splits each rank into that many step groups of evenly shifted
	// phase, so that streams need not advance in lock-step.
	Stagger int
	// Seed makes jitter and faults reproducible.
	Seed uint64
	// Model is the served model name.
	Model string
	// PrefixCaching switches the prefix cache on.
	PrefixCaching bool
	// APIKey, when not empty, is demanded as bearer token on /v1 paths.
	APIKey string
	// MaxModelLen and MaxNumSeqs override the preset's when not zero.
	MaxModelLen, MaxNumSeqs int
	// KVTokens overrides the preset's KV cache capacity per rank when not zero.
	KVTokens int
	// TTFT and ITL, when not zero, replace the preset's model by constants
	// (before Speedup): each step takes ITL; a request joins the first step that
	// begins TTFT after its arrival, so an idle engine's first token comes after
	// TTFT plus ITL.
	TTFT, ITL time.Duration
	// ReasoningTokens is how many leading tokens of a chat answer are sent as
	// reasoning, and counted as such.
	ReasoningTokens int
	// Stamp makes each token's text its send time: decimal nanoseconds of
	// CLOCK_REALTIME, 19 digits, taken right before the write.
	Stamp bool
	// Faults are played on the requests they hit (ParseFault).
	Faults []Fault
	// DrainTimeout bounds how long Serve waits for running requests after its
	// context is cancelled.
	DrainTimeout time.Duration
}

// DefaultConfig is one rank on 127.0.0.1:8000 with constant 20 ms steps.
func DefaultConfig() Config {
	return Config{
		Listen: "127.0.0.1:8000", Ranks: 1, Role: RoleBoth, Preset: "flat",
		Speedup: 1, StreamScale: 1, Stagger: 1, Model: "simulated", DrainTimeout: 5 * time.Second,
	}
}

// Validate returns every mistake, joined; each names the flag and the way out.
func (c Config) Validate() error {
	var errs []error
	bad := func(cond bool, format string, args ...any) {
		if cond {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	_, _, err := net.SplitHostPort(c.Listen)
	bad(err != nil, "listen: %q is not host:port, for example 127.0.0.1:8000", c.Listen)
	bad(c.Ranks < 1 || c.Ranks > 1024, "ranks: %d is not between 1 and 1024", c.Ranks)
	bad(c.Role != RoleBoth && c.Role != RolePrefill && c.Role != RoleDecode, "role: %q is not one of both, prefill, decode", c.Role)
	_, ok := PresetByName(c.Preset)
	bad(!ok, "preset: %q is not one of %s", c.Preset, presetNames())
	bad(!(c.Speedup > 0) || c.Speedup > 1e6, "speedup: %v is not a positive factor up to 1000000", c.Speedup)
	bad(!(c.StreamScale >= 1) || c.StreamScale > 1e6, "stream-scale: %v is not a factor between 1 and 1000000", c.StreamScale)
	bad(c.Stagger < 1 || c.Stagger > 1000, "stagger: %d is not between 1 and 1000", c.Stagger)
	bad(c.Model == "", "model: must not be empty")
	bad(c.MaxModelLen < 0, "max-model-len: %d is negative", c.MaxModelLen)
	bad(c.MaxNumSeqs < 0, "max-num-seqs: %d is negative", c.MaxNumSeqs)
	bad(c.KVTokens < 0, "kv-tokens: %d is negative", c.KVTokens)
	bad(c.TTFT < 0 || c.ITL < 0, "ttft, itl: must not be negative")
	bad(c.ReasoningTokens < 0, "reasoning-tokens: %d is negative", c.ReasoningTokens)
	bad(c.DrainTimeout < 0, "drain-timeout: must not be negative")
	for _, f := range c.Faults {
		if err := f.validate(); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// engineModel is the preset with the overrides of the configuration.
func (c Config) engineModel() Preset {
	p, _ := PresetByName(c.Preset)
	if c.ITL > 0 || c.TTFT > 0 {
		flat, _ := PresetByName("flat")
		flat.KVTokens, flat.MaxNumSeqs, flat.MaxModelLen = p.KVTokens, p.MaxNumSeqs, p.MaxModelLen
		p = flat
	}
	if c.ITL > 0 {
		p.StepBase, p.PrefillBase = c.ITL, c.ITL
	}
	if c.MaxModelLen > 0 {
		p.MaxModelLen = c.MaxModelLen
	}
	if c.MaxNumSeqs > 0 {
		p.MaxNumSeqs = c.MaxNumSeqs
	}
	if c.KVTokens > 0 {
		p.KVTokens = c.KVTokens
	}
	return p
}
