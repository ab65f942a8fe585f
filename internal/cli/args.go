package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// longFlags lets Terraform's habit through: a single dash before a long flag's name
// (-auto-approve, -var 'a=b') means the long flag. Arguments after -- are left alone.
func longFlags(root *cobra.Command, args []string) []string {
	known := map[string]bool{"help": true, "version": true}
	collect(root, known)
	out := make([]string, len(args))
	for i, arg := range args {
		out[i] = arg
		if arg == "--" {
			copy(out[i:], args[i:])
			break
		}
		if len(arg) < 3 || arg[0] != '-' || arg[1] == '-' {
			continue
		}
		name, _, _ := strings.Cut(arg[1:], "=")
		if known[name] {
			out[i] = "-" + arg
		}
	}
	return out
}

func collect(cmd *cobra.Command, known map[string]bool) {
	add := func(f *pflag.Flag) { known[f.Name] = true }
	cmd.Flags().VisitAll(add)
	cmd.PersistentFlags().VisitAll(add)
	for _, c := range cmd.Commands() {
		collect(c, known)
	}
}
