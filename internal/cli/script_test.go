package cli_test

import (
	"context"
	"flag"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mifbench/mifbench/internal/cli"
)

var update = flag.Bool("update", false, "rewrite the scripts' golden files")

// TestMain lets the scripts start this test binary as mifbench.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"mifbench": func() {
			os.Exit(cli.Run(context.Background(), cli.Env{
				Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
				Environ: os.Environ(), Executable: os.Args[0],
			}))
		},
	})
}

// TestScripts runs the real commands as a user would: one script a command or a kind of
// mistake, one case for every past bug.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}
