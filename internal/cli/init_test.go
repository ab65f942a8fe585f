package cli

import (
	"testing"

	"github.com/mifbench/mifbench/examples"
)

func TestStartersAreExamples(t *testing.T) {
	for _, s := range starters() {
		if files, err := examples.Files.ReadDir(s.name); err != nil || len(files) == 0 {
			t.Errorf("%s: %d files, %v", s.name, len(files), err)
		}
	}
}
