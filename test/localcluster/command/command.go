// Package command is the command line of localcluster: up, down and status.
//
// Results go to standard output, the log and errors to standard error. The exit code is 0, 1 for a failure and 2 for a
// wrong command line.
package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"regexp"

	"github.com/mifbench/mifbench/test/localcluster/clusterdir"
)

const usage = `usage: localcluster up|down|status [flags]

  up      start a cluster and wait until it is ready
  down    end it and remove everything it has left
  status  say whether it runs

localcluster COMMAND -h lists the flags of a command.
`

// streams are those of the process.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// Main runs one command and returns the exit code.
func Main(ctx context.Context, args []string, in io.Reader, out, errw io.Writer) int {
	s := streams{in, out, errw}
	commands := map[string]func(context.Context, []string, streams) error{"up": up, "down": down, "status": status}
	if len(args) == 0 {
		fmt.Fprint(errw, usage)
		return 2
	}
	run, ok := commands[args[0]]
	if !ok {
		fmt.Fprintf(errw, "localcluster: there is no command %q\n%s", args[0], usage)
		return 2
	}
	err := run(ctx, args[1:], s)
	var bad usageError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, &bad):
		fmt.Fprintf(errw, "localcluster %s: %v\n", args[0], err)
		return 2
	default:
		fmt.Fprintf(errw, "localcluster %s: %v\n", args[0], err)
		return 1
	}
}

// usageError is a mistake on the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// where are the flags that name a cluster.
type where struct{ dir, name string }

func (w *where) register(fs *flag.FlagSet) {
	fs.StringVar(&w.dir, "dir", "", "`folder` of the cluster (default: one in the temporary folder, after the name)")
	fs.StringVar(&w.name, "name", "default", "`name` of the cluster")
}

func (w *where) resolve() (clusterdir.Dir, error) {
	if !regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`).MatchString(w.name) {
		return "", usageError{fmt.Errorf("--name: %q is not made of lower-case letters, digits and inner hyphens", w.name)}
	}
	if w.dir == "" {
		return clusterdir.Default(w.name), nil
	}
	abs, err := filepath.Abs(w.dir)
	return clusterdir.Dir(abs), err
}

func parse(fs *flag.FlagSet, args []string, s streams) error {
	fs.SetOutput(s.err)
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return usageError{err}
	}
	if fs.NArg() > 0 {
		return usageError{fmt.Errorf("unexpected argument %q", fs.Arg(0))}
	}
	return nil
}
