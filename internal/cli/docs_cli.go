package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// cliPage describes every command, from the commands themselves.
func (a *app) cliPage() string {
	root := a.root()
	var b strings.Builder
	b.WriteString("# Commands\n\n" + generated)
	b.WriteString(`Flags are ` + "`--long`" + `; Terraform's habit of a single dash (` + "`-auto-approve`" + `) works, too. The result goes
to stdout, the conversation to stderr; colour only on a terminal, and never with ` + "`NO_COLOR`" + ` or
` + "`--no-color`" + `.

| Exit code | Meaning |
|---|---|
| 0 | done |
| 1 | failed |
| 2 | changes are pending (` + "`plan --detailed-exitcode`" + `) |
| 3 | a threshold, SLO or reference was missed (` + "`run`, `compare`" + `) |
| 130 | interrupted; state and records are saved |

Every command takes:

`)
	writeFlags(&b, root.PersistentFlags())
	eachCommand(root, func(c *cobra.Command) { writeCommand(&b, c) })
	return b.String()
}

// eachCommand visits the commands that users see, in the order of the help page.
func eachCommand(c *cobra.Command, visit func(*cobra.Command)) {
	for _, sub := range c.Commands() {
		if !sub.IsAvailableCommand() || sub.Name() == "help" {
			continue
		}
		visit(sub)
		eachCommand(sub, visit)
	}
}

func writeCommand(b *strings.Builder, c *cobra.Command) {
	fmt.Fprintf(b, "\n## %s\n\n```text\n%s\n```\n\n%s.\n", c.CommandPath(), c.UseLine(), strings.TrimSuffix(c.Short, "."))
	if c.Long != "" {
		fmt.Fprintf(b, "\n%s\n", strings.TrimSpace(c.Long))
	}
	if c.HasAvailableLocalFlags() {
		b.WriteString("\n")
		writeFlags(b, c.LocalFlags())
	}
	if c.Example != "" {
		fmt.Fprintf(b, "\n```sh\n%s\n```\n", unindent(c.Example))
	}
}

func writeFlags(b *strings.Builder, fs *pflag.FlagSet) {
	b.WriteString("| Flag | Meaning |\n|---|---|\n")
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		name, usage := pflag.UnquoteUsage(f)
		if name != "" {
			name = " " + name
		}
		if d := f.DefValue; d != "" && d != "false" && d != "[]" && d != "0" && d != "0s" {
			usage += fmt.Sprintf(" (default `%s`)", d)
		}
		fmt.Fprintf(b, "| `--%s%s` | %s |\n", f.Name, name, strings.ReplaceAll(usage, "|", "\\|"))
	})
}

func unindent(s string) string {
	lines := strings.Split(strings.Trim(s, "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimPrefix(l, "  ")
	}
	return strings.Join(lines, "\n")
}
