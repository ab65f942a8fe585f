package state

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mifbench/mifbench/pkg/resource"
)

func updating() bool {
	f := flag.Lookup("update")
	return f != nil && f.Value.String() == "true"
}

func TestMain(m *testing.M) {
	flag.Bool("update", false, "rewrite golden files")
	if path := os.Getenv("MIFBENCH_TEST_HOLD_LOCK"); path != "" {
		holdLock(path)
		return
	}
	os.Exit(m.Run())
}

func sample() State {
	return State{
		Stack: "deepseek", Lineage: "11111111-2222-4333-8444-555555555555", Serial: 7, ClusterUID: "c-1", Salt: "00ff",
		Entries: []Entry{{
			Address: resource.Address{Kind: "gateway", Name: "mif", Key: `"a"`},
			ID:      resource.ID{Driver: resource.DriverKube, APIVersion: "gateway.networking.k8s.io/v1", Kind: "Gateway", Namespace: "n", Name: "mif"},
			Status:  Ready, UID: "u-1", Created: true, Fingerprint: "ab", Fields: map[string]string{"/spec": "12345678"},
			DependsOn: []resource.ID{{Driver: resource.DriverKube, APIVersion: "v1", Kind: "Namespace", Name: "n"}},
			Options:   resource.Options{PreventDestroy: true, CreateTimeout: time.Minute, Wait: &resource.Wait{Conditions: map[string]string{"Ready": "True"}}},
			Facts:     map[string]any{"revision": int64(3), "ratio": 0.5, "big": int64(1<<62 + 1), "list": []any{int64(1), "x", nil}},
			Updated:   time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		}},
		Outputs: map[string]any{"endpoint": "http://x", "port": int64(80)},
	}
}

func TestGoldenAndRoundTripOfEveryVersion(t *testing.T) {
	text, err := Encode(sample())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", "v1.json")
	if updating() {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(golden), string(text)); d != "" {
		t.Errorf("the format moved without a new version:\n%s", d)
	}
	got, err := Decode(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(sample(), got); d != "" {
		t.Error(d)
	}
}

func TestDecodeRefuses(t *testing.T) {
	whole, err := Encode(sample())
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name string
		text []byte
		want error
	}{
		{"empty", nil, ErrDamaged},
		{"truncated", whole[:len(whole)/2], ErrDamaged},
		{"trailing text", append(bytes.Clone(whole), "{}"...), ErrDamaged},
		{"something else", []byte(`{"version":4,"terraform_version":"1"}`), ErrDamaged},
		{"newer", bytes.Replace(whole, []byte(`"version": 1`), []byte(`"version": 2`), 1), ErrNewer},
		{"version 0", bytes.Replace(whole, []byte(`"version": 1`), []byte(`"version": 0`), 1), ErrDamaged},
		{"no lineage", []byte(`{"format":"mifbench.state","version":1}`), ErrDamaged},
	}
	for _, c := range cases {
		if _, err := Decode(c.text); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	text, err := Encode(sample())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := Decode(b)
		if err != nil {
			return
		}
		again, err := Encode(s)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Decode(again)
		if err != nil {
			t.Fatal(err)
		}
		once, _ := json.Marshal(s)
		twice, _ := json.Marshal(back)
		if !bytes.Equal(once, twice) {
			t.Errorf("%s\n%s", once, twice)
		}
	})
}

func TestFingerprint(t *testing.T) {
	a := map[string]any{"x": int64(1), "y": "s"}
	b := map[string]any{"y": "s", "x": 1.0}
	if Fingerprint("k", a) != Fingerprint("k", b) {
		t.Error("map order or number type matters")
	}
	if Fingerprint("k", a) == Fingerprint("l", a) {
		t.Error("the salt does not matter")
	}
}

func TestDigestsAreBoundedAndCoverEveryPointer(t *testing.T) {
	big := map[string]any{}
	for i := range 50 {
		m := map[string]any{}
		for k := range 50 {
			m[strings.Repeat("k", k+1)] = int64(i * k)
		}
		big[strings.Repeat("a", i+1)] = m
	}
	d := Digests("s", big)
	if len(d) > maxDigests {
		t.Errorf("%d digests", len(d))
	}
	at, hash, ok := DigestAt("s", big, d, "/a/k")
	if !ok || d[at] != hash || hash == "" {
		t.Errorf("at %q %q %v", at, hash, ok)
	}
	big["a"] = map[string]any{"k": "other"}
	if at, hash, _ := DigestAt("s", big, d, "/a/k"); d[at] == hash {
		t.Error("a change was not seen")
	}
}

func ctx(t *testing.T) context.Context { return t.Context() }

func TestLocalSaveKeepsBackupAndIsPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.json")
	l := NewLocal(path)
	s := New("a")
	for s.Serial = 1; s.Serial <= 2; s.Serial++ {
		if err := l.Save(ctx(t), s); err != nil {
			t.Fatal(err)
		}
	}
	s.Serial = 3
	if err := NewLocal(path).Save(ctx(t), s); err != nil { // the next run
		t.Fatal(err)
	}
	old, err := NewLocal(path + ".backup").Load(ctx(t))
	if err != nil || old.Serial != 2 {
		t.Errorf("backup serial %d, %v", old.Serial, err)
	}
	for _, p := range []string{path, path + ".backup"} {
		if info, err := os.Stat(p); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", p, info.Mode(), err)
		}
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*"))
	if err != nil || len(left) != 0 {
		t.Errorf("temporary files left: %v %v", left, err)
	}
}

func TestLocalRefusesToOverwrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.json")
	l := NewLocal(path)
	s := New("a")
	s.Serial = 5
	if err := l.Save(ctx(t), s); err != nil {
		t.Fatal(err)
	}
	if err := l.Save(ctx(t), s); !errors.Is(err, ErrMoved) {
		t.Errorf("same serial: %v", err)
	}
	if _, err := NewLocal(path + ".conflict").Load(ctx(t)); err != nil {
		t.Errorf("the refused state is lost: %v", err)
	}
	other := New("b")
	other.Serial = 6
	if err := l.Save(ctx(t), other); !errors.Is(err, ErrLineage) {
		t.Errorf("other lineage: %v", err)
	}
	if err := os.WriteFile(path, []byte(`{"format":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := l.Save(ctx(t), s); !errors.Is(err, ErrDamaged) {
		t.Errorf("damaged: %v", err)
	}
	if _, err := l.Load(ctx(t)); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), ".backup") {
		t.Errorf("damaged load: %v", err)
	}
}

func TestLoadOfNothing(t *testing.T) {
	s, err := NewLocal(filepath.Join(t.TempDir(), "none")).Load(ctx(t))
	if err != nil || s.Lineage != "" {
		t.Errorf("%+v %v", s, err)
	}
}

func TestSecondLockNamesTheHolder(t *testing.T) {
	l := NewLocal(filepath.Join(t.TempDir(), "s.json"))
	info := NewLockInfo("apply", time.Now())
	held, err := l.Lock(ctx(t), info)
	if err != nil {
		t.Fatal(err)
	}
	_, err = l.Lock(ctx(t), NewLockInfo("destroy", time.Now()))
	var locked *LockedError
	if !errors.As(err, &locked) || locked.Info.ID != info.ID || locked.Info.PID != os.Getpid() || !strings.Contains(err.Error(), info.ID) {
		t.Fatalf("got %v", err)
	}
	if err := l.ForceUnlock(ctx(t), info.ID); err == nil || !strings.Contains(err.Error(), "alive") {
		t.Errorf("force-unlock of a living holder: %v", err)
	}
	if err := held.Unlock(ctx(t)); err != nil {
		t.Fatal(err)
	}
	again, err := l.Lock(ctx(t), info)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Unlock(ctx(t)); err != nil {
		t.Fatal(err)
	}
}

// holdLock is the process of TestLockOfAKilledProcess.
func holdLock(path string) {
	if _, err := NewLocal(path).Lock(context.Background(), NewLockInfo("apply", time.Now())); err != nil {
		os.Exit(1)
	}
	_, _ = os.Stdout.WriteString("held\n")
	select {}
}

func TestLockOfAKilledProcessIsTakenOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.json")
	cmd := exec.CommandContext(ctx(t), os.Args[0])
	cmd.Env = append(os.Environ(), "MIFBENCH_TEST_HOLD_LOCK="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	l := NewLocal(path)
	if _, err := l.Lock(ctx(t), NewLockInfo("apply", time.Now())); !errors.Is(err, ErrLocked) {
		t.Fatalf("while it lives: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	held, err := l.Lock(ctx(t), NewLockInfo("apply", time.Now()))
	if err != nil {
		t.Fatalf("after its death: %v", err)
	}
	if err := held.Unlock(ctx(t)); err != nil {
		t.Fatal(err)
	}
}

func TestRow24LockOfAnotherHostNeedsForceUnlock(t *testing.T) {
	l := NewLocal(filepath.Join(t.TempDir(), "s.json"))
	far := LockInfo{ID: "far", Host: "elsewhere", Who: "ann", PID: 1, Operation: "apply"}
	if err := l.sign(far); err != nil {
		t.Fatal(err)
	}
	_, err := l.Lock(ctx(t), NewLockInfo("apply", time.Now()))
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), "ann@elsewhere") || !strings.Contains(err.Error(), "force-unlock far") {
		t.Fatalf("got %v", err)
	}
	if err := l.ForceUnlock(ctx(t), "wrong"); err == nil {
		t.Error("a wrong ID unlocked")
	}
	if err := l.ForceUnlock(ctx(t), "far"); err != nil {
		t.Fatal(err)
	}
	held, err := l.Lock(ctx(t), NewLockInfo("apply", time.Now()))
	if err != nil {
		t.Fatal(err)
	}
	if err := held.Unlock(ctx(t)); err != nil {
		t.Fatal(err)
	}
}

func TestSaveWhereNothingCanBeWrittenKeepsTheOldFile(t *testing.T) {
	dir := t.TempDir()
	l := NewLocal(filepath.Join(dir, "s.json"))
	s := New("a")
	s.Serial = 1
	if err := l.Save(ctx(t), s); err != nil {
		t.Fatal(err)
	}
	missing := NewLocal(filepath.Join(dir, "no", "s.json"))
	if err := missing.Save(ctx(t), s); err == nil || !strings.Contains(err.Error(), "write state") {
		t.Errorf("missing directory: %v", err)
	}
	if got, err := l.Load(ctx(t)); err != nil || got.Serial != 1 {
		t.Errorf("%d %v", got.Serial, err)
	}
}
