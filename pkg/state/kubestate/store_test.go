package kubestate

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/state"
)

func newStore(t *testing.T) (*Store, *secrets, *leases) {
	t.Helper()
	sec, lea := &secrets{}, &leases{}
	return New(sec, lea, "ns", "deepseek"), sec, lea
}

// big is a state that does not compress: n random entries.
func big(serial uint64, n int) state.State {
	s := state.State{Stack: "s", Lineage: "l", Salt: "x", Serial: serial, Entries: []state.Entry{}}
	r := rand.New(rand.NewPCG(1, serial))
	for i := range n {
		s.Entries = append(s.Entries, state.Entry{ID: resource.ID{Kind: "K", Name: fmt.Sprint(i)}, Fingerprint: fmt.Sprintf("%x%x", r.Uint64(), r.Uint64())})
	}
	return s
}

func TestNothingSavedIsAZeroState(t *testing.T) {
	s, _, _ := newStore(t)
	got, err := s.Load(t.Context())
	if err != nil || got.Lineage != "" {
		t.Errorf("%+v %v", got, err)
	}
}

func TestRow25StateIsSplitPastTheLimitOfASecret(t *testing.T) {
	s, sec, _ := newStore(t)
	s.chunk = 1000
	for serial := uint64(1); serial <= 4; serial++ {
		n := 200
		if serial >= 3 {
			n = 5 // small again
		}
		want := big(serial, n)
		if err := s.Save(t.Context(), want); err != nil {
			t.Fatal(err)
		}
		got, err := s.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatal(d)
		}
		for n, o := range sec.items {
			if len(o.Data[keyChunk]) > 1000 {
				t.Errorf("%s holds %d bytes", n, len(o.Data[keyChunk]))
			}
		}
	}
	if names := sec.names(); names != "mifbench-state-deepseek" {
		t.Errorf("former parts are left: %s", names)
	}
}

// A save killed at any write leaves the former state readable, and the next save works.
func TestKillAtEveryWriteOfASave(t *testing.T) {
	for kill := 1; ; kill++ {
		s, sec, _ := newStore(t)
		s.chunk = 1000
		if err := s.Save(t.Context(), big(1, 200)); err != nil {
			t.Fatal(err)
		}
		writes := 0
		sec.fail = func(string, string) error {
			if writes++; writes >= kill {
				return errors.New("killed")
			}
			return nil
		}
		err := s.Save(t.Context(), big(2, 210))
		sec.fail = nil
		got, lerr := s.Load(t.Context())
		if lerr != nil {
			t.Fatalf("kill at %d: %v", kill, lerr)
		}
		if err == nil {
			return // more writes than a save has
		}
		if d := cmp.Diff(big(1, 200), got); d != "" {
			t.Fatalf("kill at %d: %s", kill, d)
		}
		if err := s.Save(t.Context(), big(2, 205)); err != nil {
			t.Fatalf("kill at %d: save again: %v", kill, err)
		}
	}
}

func TestSaveRefuses(t *testing.T) {
	s, sec, _ := newStore(t)
	if err := s.Save(t.Context(), big(3, 1)); err != nil {
		t.Fatal(err)
	}
	if err := s.Save(t.Context(), big(3, 1)); err != nil {
		t.Errorf("exactly what is stored, as after a lost answer: %v", err)
	}
	if err := s.Save(t.Context(), big(3, 2)); !errors.Is(err, state.ErrMoved) {
		t.Errorf("same serial: %v", err)
	}
	other := big(4, 1)
	other.Lineage = "m"
	if err := s.Save(t.Context(), other); !errors.Is(err, state.ErrLineage) {
		t.Errorf("other lineage: %v", err)
	}
	sec.items["mifbench-state-deepseek"].Data[keyChunk][20] ^= 1
	if _, err := s.Load(t.Context()); !errors.Is(err, state.ErrDamaged) {
		t.Errorf("a flipped bit: %v", err)
	}
	sec.items["mifbench-state-deepseek"].Data[keyIndex] = []byte(`{"version":9,"chunks":1}`)
	if _, err := s.Load(t.Context()); !errors.Is(err, state.ErrNewer) {
		t.Errorf("newer: %v", err)
	}
}

func info(id string) state.LockInfo {
	return state.LockInfo{ID: id, Who: "ann", Host: "h-" + id, PID: 7, Operation: "apply", Created: time.Unix(0, 0).UTC()}
}

func TestLockNamesTheHolderAndIsRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, sec, lea := newStore(t)
		second := New(sec, lea, "ns", "deepseek")
		l, err := s.Lock(t.Context(), info("one"))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute) // far longer than the duration
		_, err = second.Lock(t.Context(), info("two"))
		var locked *state.LockedError
		if !errors.As(err, &locked) || locked.Info.ID != "one" || locked.Info.Expires.IsZero() || !strings.Contains(err.Error(), "ann@h-one (pid 7)") {
			t.Fatalf("got %v", err)
		}
		if err := l.Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := lea.names(); n != "" {
			t.Errorf("left: %s", n)
		}
	})
}

func TestRow24LockOfAKilledHolderExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, sec, lea := newStore(t)
		dead, err := s.Lock(t.Context(), info("dead"))
		if err != nil {
			t.Fatal(err)
		}
		dead.(*lock).cancel() // no renewal any more
		second := New(sec, lea, "ns", "deepseek")
		if _, err := second.Lock(t.Context(), info("two")); !errors.Is(err, state.ErrLocked) {
			t.Fatalf("at once: %v", err)
		}
		time.Sleep(61 * time.Second)
		l, err := second.Lock(t.Context(), info("two"))
		if err != nil {
			t.Fatalf("after it expired: %v", err)
		}
		if err := l.Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestForceUnlockNeedsTheIDAndStopsTheOldHolderFromSaving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, sec, lea := newStore(t)
		l, err := s.Lock(t.Context(), info("one"))
		if err != nil {
			t.Fatal(err)
		}
		second := New(sec, lea, "ns", "deepseek")
		if err := second.ForceUnlock(t.Context(), "wrong"); err == nil || !strings.Contains(err.Error(), "one") {
			t.Errorf("wrong ID: %v", err)
		}
		if err := second.ForceUnlock(t.Context(), "one"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if err := s.Save(t.Context(), big(1, 1)); !errors.Is(err, state.ErrMoved) || !strings.Contains(err.Error(), "force-unlock") {
			t.Errorf("the old holder saved: %v", err)
		}
		if err := l.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestLostAnswers: what the server did although the answer got lost is not done twice and is no failure.
func TestLostAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, sec, lea := newStore(t)
		lost := func(verb string) func(string, string) error {
			n := 0
			return func(v, _ string) error {
				if n++; v == verb && n == 1 {
					return syscall.ECONNRESET
				}
				return nil
			}
		}
		sec.after, lea.after = lost("create"), lost("create")
		l, err := s.Lock(t.Context(), state.LockInfo{ID: "mine"})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Save(t.Context(), big(1, 3)); err != nil {
			t.Fatal(err)
		}
		sec.after = lost("update")
		if err := s.Save(t.Context(), big(2, 4)); err != nil {
			t.Fatal(err)
		}
		lea.after = lost("delete")
		if err := l.Unlock(t.Context()); err != nil || len(lea.items) > 0 {
			t.Fatal(err, lea.items)
		}
	})
}

func TestDamagedStateIsSetAside(t *testing.T) {
	s, sec, _ := newStore(t)
	if err := s.Save(t.Context(), big(1, 3)); err != nil {
		t.Fatal(err)
	}
	sec.items["mifbench-state-deepseek"].Data[keyIndex] = []byte(`{`)
	damaged := sec.items["mifbench-state-deepseek"].Data
	where, err := s.SetAside(t.Context())
	if err != nil || !strings.HasPrefix(where, "Secret ns/mifbench-state-deepseek-damaged-") {
		t.Fatal(where, err)
	}
	if d := cmp.Diff(damaged, sec.items[strings.TrimPrefix(where, "Secret ns/")].Data); d != "" {
		t.Error(d)
	}
	if got, err := s.Load(t.Context()); err != nil || got.Lineage != "" {
		t.Error(got, err)
	}
	if err := s.Save(t.Context(), big(1, 1)); err != nil {
		t.Error(err)
	}
}
