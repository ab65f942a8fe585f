package cli

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/resource"
)

// varFlag collects -var and -var-file in the order given, since later ones win.
type varFlag struct {
	list *[]config.VarArg
	file bool
}

func (v varFlag) String() string { return "" }
func (v varFlag) Type() string {
	if v.file {
		return "FILE"
	}
	return "NAME=VALUE"
}

func (v varFlag) Set(s string) error {
	arg := config.VarArg{Assignment: s}
	if v.file {
		arg = config.VarArg{File: s}
	}
	*v.list = append(*v.list, arg)
	return nil
}

// variableFlags adds -var and -var-file.
func variableFlags(fs *pflag.FlagSet, vars *[]config.VarArg) {
	fs.Var(varFlag{list: vars}, "var", "value of an input variable; repeatable")
	fs.Var(varFlag{list: vars, file: true}, "var-file", "file with values of input variables; repeatable")
}

// addressFlag collects resource addresses.
type addressFlag struct{ list *[]resource.Address }

func (v addressFlag) String() string { return "" }
func (v addressFlag) Type() string   { return "ADDRESS" }

func (v addressFlag) Set(s string) error {
	a, err := resource.ParseAddress(s)
	if err == nil {
		*v.list = append(*v.list, a)
	}
	return err
}

// stackFlags are what every command takes that looks at a stack on a cluster.
type stackFlags struct {
	vars        []config.VarArg
	json        bool
	lockTimeout time.Duration
	parallel    int
}

func (f *stackFlags) bind(fs *pflag.FlagSet) {
	variableFlags(fs, &f.vars)
	fs.BoolVar(&f.json, "json", false, "print for machines; the format is versioned")
	fs.DurationVar(&f.lockTimeout, "lock-timeout", 0, "how long to wait for the state's lock")
	fs.IntVar(&f.parallel, "parallelism", 10, "objects worked on at a time")
	fs.Bool("input", true, "accepted for habit's sake; mifbench asks only for approval")
}

// check refuses values that would do something else than was meant.
func (f *stackFlags) check() error {
	if f.parallel < 1 {
		return fmt.Errorf("--parallelism %d: at least one object must be worked on at a time", f.parallel)
	}
	return nil
}
