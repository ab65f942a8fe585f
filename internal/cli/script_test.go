package cli_test

import (
	"context"
	"errors"
	"flag"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

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
				Environ: os.Environ(), Executable: os.Args[0], Interrupts: interrupts(),
			}))
		},
	})
}

func interrupts() chan os.Signal {
	c := make(chan os.Signal, 2)
	signal.Notify(c, os.Interrupt)
	return c
}

// TestScripts runs the real commands as a user would: one script a command or a kind of
// mistake, one case for every past bug.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"port": freePort, "await": await, "exits": exits},
	})
}

// freePort is "port NAME": sets a variable to a port that was free a moment ago.
func freePort(ts *testscript.TestScript, _ bool, args []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	ts.Check(err)
	ts.Setenv(args[0], port)
}

// await is "await PORT": until a server accepts there.
func await(ts *testscript.TestScript, _ bool, args []string) {
	for over := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", args[0]))
		if err == nil {
			ts.Check(c.Close())
			return
		}
		if time.Now().After(over) {
			ts.Fatalf("no server at port %s: %v", args[0], err)
		}
	}
}

// exits is "exits CODE[|CODE] COMMAND…": like exec, with the exit code that is wanted.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var e *exec.ExitError
		if !errors.As(err, &e) {
			ts.Fatalf("%v", err)
		}
		code = e.ExitCode()
	}
	if !slices.Contains(strings.Split(args[0], "|"), strconv.Itoa(code)) {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}
