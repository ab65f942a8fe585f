package clusterdir

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

func TestCreateLeavesForeignFoldersAlone(t *testing.T) {
	d := Dir(t.TempDir())
	alien := filepath.Join(string(d), "thesis.tex")
	if err := os.WriteFile(alien, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := d.Create(); err == nil {
		t.Fatal("a folder with a foreign file was accepted")
	}
	list, err := os.ReadDir(string(d))
	if err != nil || len(list) != 1 || d.Exists() {
		t.Fatalf("the folder was changed: %v, %v", list, err)
	}
}

func TestRemoveTakesAllThatCreateMade(t *testing.T) {
	d := Dir(filepath.Join(t.TempDir(), "c"))
	if err := d.Create(); err != nil {
		t.Fatal(err)
	}
	if err := d.WritePID(); err != nil {
		t.Fatal(err)
	}
	if p, err := d.Process(); err != nil || p.ID != os.Getpid() {
		t.Fatalf("process: %v, %v", p, err)
	}
	if err := d.Create(); err == nil {
		t.Fatal("a second cluster in the folder of a running one was accepted")
	}
	if err := d.Remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(string(d)); !os.IsNotExist(err) {
		t.Fatalf("the folder is still there: %v", err)
	}
}

func TestFinishKeepsLogOfBackgroundCluster(t *testing.T) {
	d := Dir(filepath.Join(t.TempDir(), "c"))
	if err := d.Create(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(d.Log(), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := d.Finish(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(d.Log()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(d.ControlPlane()); !os.IsNotExist(err) {
		t.Fatalf("data is still there: %v", err)
	}
}

func TestProcessOfAnotherStartIsNotOurs(t *testing.T) {
	d := Dir(t.TempDir())
	if err := os.WriteFile(d.PID(), []byte("1 12345678901234\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Process(); !errors.Is(err, ErrNotRunning) {
		t.Fatalf("a reused process id was taken for the cluster: %v", err)
	}
}

func TestProcessesFindsAndStopsWhatCarriesTheMarker(t *testing.T) {
	d := Dir(t.TempDir())
	cmd := exec.Command("sleep", "60")
	cmd.Env = []string{d.Marker()}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	ps, err := d.Processes()
	if err != nil || len(ps) != 1 || ps[0].ID != cmd.Process.Pid {
		t.Fatalf("found %v, %v", ps, err)
	}
	if err := ps[0].Stop(5 * time.Second); err != nil || ps[0].Alive() {
		t.Fatalf("stop: %v", err)
	}
}

func TestExportsQuotes(t *testing.T) {
	got := Exports(map[string]string{"B": "it's", "A": "x y"})
	if want := "export A='x y'\nexport B='it'\\''s'\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
