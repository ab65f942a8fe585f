package sim

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

// Flags binds every field of c to a flag of fs; the values that c holds are the
// defaults.
func (c *Config) Flags(fs *pflag.FlagSet) {
	fs.StringVar(&c.Listen, "listen", c.Listen, "address of rank 0, HOST:PORT; rank i listens on PORT+i; port 0 picks free ports")
	fs.IntVar(&c.Ranks, "ranks", c.Ranks, "data-parallel ranks, on consecutive ports")
	fs.Var((*roleValue)(&c.Role), "role", "both, prefill or decode")
	fs.StringVar(&c.Preset, "preset", c.Preset, "engine model: "+presetNames())
	fs.Float64Var(&c.Speedup, "speedup", c.Speedup, "time runs this many times faster")
	fs.Float64Var(&c.StreamScale, "stream-scale", c.StreamScale, "one sequence loads the engine like this many (75: 144 streams behave as 10800)")
	fs.IntVar(&c.Stagger, "stagger", c.Stagger, "step groups of shifted phase per rank; 1 is lock-step, as in a real engine")
	fs.Uint64Var(&c.Seed, "seed", c.Seed, "seed of jitter and faults")
	fs.StringVar(&c.Model, "model", c.Model, "served model name")
	onOff := fs.VarPF((*onOffValue)(&c.PrefixCaching), "prefix-caching", "", "prefix cache: on or off")
	onOff.NoOptDefVal = "on"
	fs.StringVar(&c.APIKey, "api-key", c.APIKey, "bearer token demanded on /v1 paths; empty: none")
	fs.IntVar(&c.MaxModelLen, "max-model-len", c.MaxModelLen, "longest prompt plus output, tokens; 0: the preset's")
	fs.IntVar(&c.MaxNumSeqs, "max-num-seqs", c.MaxNumSeqs, "sequences that run at once per rank; 0: the preset's")
	fs.IntVar(&c.KVTokens, "kv-tokens", c.KVTokens, "tokens that one rank's KV cache holds; 0: the preset's")
	fs.DurationVar(&c.TTFT, "ttft", c.TTFT, "constant wait before the step of the first token, instead of the preset's model; 0: model")
	fs.DurationVar(&c.ITL, "itl", c.ITL, "constant step time instead of the preset's model; 0: model")
	fs.IntVar(&c.ReasoningTokens, "reasoning-tokens", c.ReasoningTokens, "leading tokens of a chat answer sent as reasoning")
	fs.BoolVar(&c.Stamp, "stamp", c.Stamp, "each token's text is its send time, ns of CLOCK_REALTIME")
	fs.Var(&faultsValue{&c.Faults}, "fault", "fault KIND[=ARG][:RATE][:after=N], repeatable; kinds: "+faultNames())
	fs.DurationVar(&c.DrainTimeout, "drain-timeout", c.DrainTimeout, "how long running requests may go on after the stop signal")
}

// The value types make pflag refuse what is not allowed.

type roleValue Role

// String is the value as Set reads it.
func (v *roleValue) String() string { return string(*v) }

// Type names the value in the help text.
func (v *roleValue) Type() string { return "role" }

// Set reads a value of the command line.
func (v *roleValue) Set(s string) error {
	switch Role(s) {
	case RoleBoth, RolePrefill, RoleDecode:
		*v = roleValue(s)
		return nil
	}
	return fmt.Errorf("%q is not one of both, prefill, decode", s)
}

type onOffValue bool

// Type names the value in the help text.
func (v *onOffValue) Type() string { return "on|off" }

// String is the value as Set reads it.
func (v *onOffValue) String() string {
	if *v {
		return "on"
	}
	return "off"
}

// Set reads a value of the command line.
func (v *onOffValue) Set(s string) error {
	switch strings.ToLower(s) {
	case "on", "true", "1", "yes":
		*v = true
	case "off", "false", "0", "no":
		*v = false
	default:
		return fmt.Errorf("%q is neither on nor off", s)
	}
	return nil
}

type faultsValue struct{ list *[]Fault }

// Type names the value in the help text.
func (v *faultsValue) Type() string { return "spec" }

// String is the value as Set reads it.
func (v *faultsValue) String() string {
	names := make([]string, len(*v.list))
	for i, f := range *v.list {
		names[i] = f.String()
	}
	return strings.Join(names, ",")
}

// Set reads a value of the command line.
func (v *faultsValue) Set(s string) error {
	f, err := ParseFault(s)
	if err == nil {
		*v.list = append(*v.list, f)
	}
	return err
}
