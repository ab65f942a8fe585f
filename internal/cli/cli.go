package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"
)

// Run executes one command line and returns the exit code.
func Run(ctx context.Context, env Env) int {
	soft, hard, stop := interruptible(ctx, env)
	defer stop()
	a := &app{env: env, soft: soft}
	root := a.root()
	root.SetArgs(longFlags(root, env.Args))
	err := root.ExecuteContext(hard)
	a.explain(err)
	return codeOf(err)
}

// app is what the commands share: the process and the global flags.
type app struct {
	env     Env
	soft    context.Context // ends at the first interrupt; the command's own context at the second
	chdir   string
	noColor bool
	// found is what diagnose has told, for output that machines read.
	found hcl.Diagnostics
	files map[string]*hcl.File
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "mifbench",
		Short:         "One file for a distributed inference stack and the benchmark that judges it",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE:          unknownCommand,
	}
	root.SetIn(a.env.Stdin)
	root.SetOut(a.env.Stdout)
	root.SetErr(a.env.Stderr)
	root.PersistentFlags().StringVar(&a.chdir, "chdir", ".", "directory of the configuration")
	root.PersistentFlags().BoolVar(&a.noColor, "no-color", false, "no colour (NO_COLOR is obeyed, too)")
	root.CompletionOptions.HiddenDefaultCmd = true
	for _, c := range commands() {
		cmd := c.build(a)
		cmd.GroupID = c.group
		root.AddCommand(cmd)
	}
	for _, g := range groups() {
		root.AddGroup(g)
	}
	root.SetHelpCommandGroupID(groupOther)
	return root
}

// unknownCommand prints the help for no argument and suggests names for a wrong one.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	msg := fmt.Sprintf("there is no command %q", args[0])
	cmd.SuggestionsMinimumDistance = 2
	if s := cmd.SuggestionsFor(args[0]); len(s) > 0 {
		msg += "; did you mean " + strings.Join(s, " or ") + "?"
	}
	return errors.New(msg + "\nmifbench --help lists the commands")
}

// explain prints an error that no command has printed yet.
func (a *app) explain(err error) {
	if err == nil {
		return
	}
	var e *exitError
	if errors.As(err, &e) && e.cause == nil {
		return
	}
	fmt.Fprintf(a.env.Stderr, "error: %v\n", err)
}
