package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestStartersAreTheExamples: init must write what is tested as examples.
func TestStartersAreTheExamples(t *testing.T) {
	for _, s := range starters() {
		want, err := filepath.Glob(filepath.Join("../../examples", s.name, "*.mif.hcl"))
		if err != nil || len(want) == 0 {
			t.Fatalf("%s: %v", s.name, err)
		}
		have, err := fs.Glob(starterFiles, "starters/"+s.name+"/*")
		if err != nil || len(have) != len(want) {
			t.Errorf("%s: %v, %v; run scripts/generate.sh", s.name, have, err)
		}
		for _, path := range want {
			example, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			copied, err := starterFiles.ReadFile("starters/" + s.name + "/" + filepath.Base(path))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(example), string(copied)); diff != "" {
				t.Errorf("%s is stale; run scripts/generate.sh:\n%s", path, diff)
			}
		}
	}
}
