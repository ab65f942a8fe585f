package plan

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mifbench/mifbench/pkg/state"
)

func savedPlan() Saved {
	o := want("ConfigMap", "c", spec(1))
	obs := live(spec(0), spec(1))
	obs.Facts = map[string]any{"chart": "x-1.0.0", "expires": "soon"}
	return Saved{
		ConfigDir: "/c", Variables: map[string]any{"a": "b"}, Sensitive: []string{"token"},
		Basis: Basis{ConfigHash: "h", Lineage: "l", Serial: 4, ClusterUID: "u"},
		Plan:  one(&o, entryOf(o, state.Ready), obs, Options{}),
	}
}

func TestSavedPlanRoundTripPrivateAndWithoutSpec(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p")
	s := savedPlan()
	if err := Write(path, s); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v", info.Mode(), err)
	}
	got, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(s.Plan.Changes[0].Address, got.Plan.Changes[0].Address); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(s, got, cmpopts.IgnoreFields(Saved{}, "Format", "Version", "Digest", "Plan")); d != "" {
		t.Error(d)
	}
	if err := got.CheckSame(s.Plan); err != nil {
		t.Error(err)
	}
	if got.Plan.Changes[0].Want != nil {
		t.Error("the file carries the desired object")
	}
}

func TestSavedPlanIsRefusedWhenTheGroundMoved(t *testing.T) {
	s := savedPlan()
	cases := map[string]func(*Basis){
		"the state has moved on":             func(b *Basis) { b.Serial++ },
		"the state is older":                 func(b *Basis) { b.Serial-- },
		"another state":                      func(b *Basis) { b.Lineage = "x" },
		"this is cluster other":              func(b *Basis) { b.ClusterUID = "other" },
		"the configuration or its variables": func(b *Basis) { b.ConfigHash = "x" },
	}
	for text, move := range cases {
		now := s.Basis
		move(&now)
		err := s.CheckBasis(now)
		if !errors.Is(err, ErrStale) || !strings.Contains(err.Error(), text) {
			t.Errorf("want …%s…, got %v", text, err)
		}
	}
	if err := s.CheckBasis(s.Basis); err != nil {
		t.Error(err)
	}
}

func TestSavedPlanIsRefusedWhenThePlanWouldDiffer(t *testing.T) {
	s := savedPlan()
	s.Digest = s.Plan.Digest()
	move := func(f func(*Change)) error {
		p := s.Plan
		p.Changes = []Change{p.Changes[0]}
		f(&p.Changes[0])
		return s.CheckSame(p)
	}
	if err := move(func(c *Change) { c.Facts = map[string]any{"chart": "x-1.0.1"} }); !errors.Is(err, ErrStale) || !strings.Contains(err.Error(), "chart was x-1.0.0, is x-1.0.1") {
		t.Errorf("chart: %v", err)
	}
	if err := move(func(c *Change) { c.Action = Replace }); !errors.Is(err, ErrStale) || !strings.Contains(err.Error(), "planned to update, would now replace") {
		t.Errorf("action: %v", err)
	}
	if err := move(func(c *Change) { c.Fields[0].Before = int64(9) }); !errors.Is(err, ErrStale) {
		t.Errorf("field: %v", err)
	}
	s.Plan.Changes[0].Fields[0].Before = int64(0)
	if err := move(func(c *Change) {
		c.Facts = map[string]any{"chart": "x-1.0.0", "expires": "later"}
		c.Reason = "expires in 3h"
	}); err != nil {
		t.Errorf("what moves by itself: %v", err)
	}
}

func TestDamagedAndNewerPlanFiles(t *testing.T) {
	cases := []struct {
		text string
		want error
	}{
		{"", ErrNotAPlan}, {`{"format":"mifbench.plan","ver`, ErrNotAPlan}, {`{"format":"mifbench.state","version":1}`, ErrNotAPlan},
		{`{"format":"mifbench.plan","version":99}`, ErrNewerPlan}, {`{"format":"mifbench.plan","version":1,"plan":[]}`, ErrNotAPlan},
	}
	for _, c := range cases {
		if _, err := Decode([]byte(c.text)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.text, err)
		}
	}
}

func FuzzDecodeNeverPanics(f *testing.F) {
	text, err := savedPlan().Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add(text[:len(text)/2])
	f.Fuzz(func(_ *testing.T, b []byte) {
		if s, err := Decode(b); err == nil {
			_ = s.Plan.Digest()
		}
	})
}

func TestPlanOfANewStackCanBeMadeAgain(t *testing.T) {
	first := state.New("s")
	s := Saved{Basis: Basis{Lineage: first.Lineage, Salt: first.Salt}}
	if got := s.Identify(state.New("s")); got.Lineage != first.Lineage || got.Salt != first.Salt {
		t.Errorf("%+v", got)
	}
	saved := state.New("s")
	saved.Serial = 1
	if got := s.Identify(saved); got.Lineage != saved.Lineage {
		t.Error("a state that exists was renamed")
	}
}

func TestRow08SavedPlanHoldsNoFingerprintAndStillSeesAnotherSecret(t *testing.T) {
	o := want("Secret", "s", nil)
	secret := func(fp string) Plan {
		return one(&o, entryOf(o, state.Ready), live(map[string]any{"p": Mask("f00d")}, map[string]any{"p": Mask(fp)}), Options{})
	}
	text, err := Saved{Plan: secret("beef")}.Encode()
	if err != nil || strings.Contains(string(text), "beef") || strings.Contains(string(text), "f00d") {
		t.Fatalf("%v %s", err, text)
	}
	s, err := Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.CheckSame(secret("beef")); err != nil {
		t.Error(err)
	}
	if err := s.CheckSame(secret("cafe")); !errors.Is(err, ErrStale) || !strings.Contains(err.Error(), "sensitive") {
		t.Errorf("another secret: %v", err)
	}
}
