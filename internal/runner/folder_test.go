package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestFolderIsAppendOnlyAndResumes(t *testing.T) {
	root, now := t.TempDir(), time.Unix(1000, 0).UTC()
	f, err := Create(root, Manifest{ID: "r1", Stack: "s"}, []string{"a", `p["x-1"]`})
	if err != nil {
		t.Fatal(err)
	}
	first, err := f.Begin("a", now)
	if err != nil {
		t.Fatal(err)
	}
	// the process dies here: the next one finds the attempt still running
	f, err = Open(f.Path())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"a", `p["x-1"]`}, f.Unfinished()); d != "" {
		t.Error(d)
	}
	second, err := f.Begin("a", now)
	if err != nil || second == first {
		t.Errorf("second attempt in %s, first in %s, %v", second, first, err)
	}
	if err := f.End("a", Done, "", now); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{`p["x-1"]`}, f.Unfinished()); d != "" {
		t.Error(d)
	}
	dir, err := f.Begin(`p["x-1"]`, now)
	if err != nil || filepath.Base(dir) != "p.x-1" {
		t.Errorf("attempt in %s, %v", dir, err)
	}
	if info, err := os.Stat(filepath.Join(f.Path(), manifestName)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("manifest has mode %v, %v", info.Mode(), err)
	}
}

func TestFolderErrorsNameTheFile(t *testing.T) {
	if _, err := Open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "not a run folder") {
		t.Errorf("error %v", err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, manifestName), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("error %v", err)
	}
	f, err := Create(t.TempDir(), Manifest{ID: "r"}, []string{"a"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Begin("b", time.Time{}); err == nil || !strings.Contains(err.Error(), "only a") {
		t.Errorf("error %v", err)
	}
	if g, err := Create(filepath.Dir(f.Path()), Manifest{ID: "r"}, nil); err != nil || g.Path() == f.Path() {
		t.Errorf("second run of the same id in %v, %v", g, err)
	}
}
