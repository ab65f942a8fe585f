package sim

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

func TestFlags(t *testing.T) {
	cfg := DefaultConfig()
	fs := pflag.NewFlagSet("simulate", pflag.ContinueOnError)
	cfg.Flags(fs)
	err := fs.Parse(strings.Fields("--listen 0.0.0.0:9000 --ranks 8 --role decode --preset mi300x-r1 --speedup 20 --stream-scale 75" +
		" --seed 3 --model m --prefix-caching=on --max-model-len 8192 --fault 5xx:0.1 --fault stall=1s:after=3 --stamp --itl 5ms"))
	if err != nil {
		t.Fatal(err)
	}
	want := DefaultConfig()
	want.Listen, want.Ranks, want.Role, want.Preset = "0.0.0.0:9000", 8, RoleDecode, "mi300x-r1"
	want.Speedup, want.StreamScale, want.Seed, want.Model = 20, 75, 3, "m"
	want.PrefixCaching, want.MaxModelLen, want.Stamp, want.ITL = true, 8192, true, 5*time.Millisecond
	want.Faults = []Fault{{Kind: fault5xx, Rate: 0.1, N: 500}, {Kind: faultStall, Rate: 1, After: 3, Delay: time.Second}}
	if diff := cmp.Diff(want, cfg); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Usage == "" {
			t.Errorf("flag %s has no help", f.Name)
		}
	})
	for _, bad := range []string{"--role=x", "--prefix-caching=maybe", "--fault=x"} {
		if err := fs.Parse([]string{bad}); err == nil {
			t.Errorf("%s was accepted", bad)
		}
	}
}

func TestValidateNamesEveryMistake(t *testing.T) {
	if err := DefaultConfig().Validate(); err != nil {
		t.Errorf("the defaults are not valid: %v", err)
	}
	bad := Config{Listen: "x", Role: "y", Preset: "z", KVTokens: -1, MaxModelLen: -1, MaxNumSeqs: -1, ITL: -1, ReasoningTokens: -1, DrainTimeout: -1, Faults: []Fault{{Kind: "q"}}}
	err := bad.Validate()
	if err == nil {
		t.Fatal("accepted")
	}
	for _, name := range []string{"listen", "ranks", "role", "preset", "speedup", "stream-scale", "stagger", "model", "kv-tokens", "max-model-len", "max-num-seqs", "itl", "reasoning-tokens", "drain-timeout", "fault"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not named in:\n%v", name, err)
		}
	}
	if _, err := New(bad); err == nil {
		t.Error("New accepted it")
	}
}

func TestTables(t *testing.T) {
	names := map[string]bool{}
	for _, p := range Presets() {
		if names[p.Name] || p.Name == "" || p.Doc == "" || p.StepBase <= 0 || p.KVTokens < 1 || p.MaxNumSeqs < 1 || p.MaxModelLen < 1 || p.MaxBatchedTokens < 1 {
			t.Errorf("preset %+v", p)
		}
		names[p.Name] = true
	}
	for _, k := range FaultKinds() {
		if k.Doc == "" || slices.ContainsFunc(FaultKinds(), func(o FaultKind) bool { return o.Name == k.Name && o.Doc != k.Doc }) {
			t.Errorf("fault %+v", k)
		}
	}
}
