package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// shell is a row of the table of shells.
type shell struct {
	name  string
	write func(root *cobra.Command, w io.Writer) error
}

func shells() []shell {
	return []shell{
		{"bash", func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) }},
		{"fish", func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) }},
		{"powershell", (*cobra.Command).GenPowerShellCompletionWithDesc},
		{"zsh", (*cobra.Command).GenZshCompletion},
	}
}

func (a *app) completionCommand() *cobra.Command {
	var names []string
	for _, s := range shells() {
		names = append(names, s.name)
	}
	return &cobra.Command{
		Use:   "completion " + strings.Join(names, "|"),
		Short: "Print a shell's completion script",
		Example: `  source <(mifbench completion bash)
  mifbench completion zsh > "${fpath[1]}/_mifbench"
  mifbench completion fish > ~/.config/fish/completions/mifbench.fish
  mifbench completion powershell | Out-String | Invoke-Expression`,
		Args:      cobra.ExactArgs(1),
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, s := range shells() {
				if s.name == args[0] {
					return s.write(cmd.Root(), a.env.Stdout)
				}
			}
			return fmt.Errorf("there is no completion for %q; there is %s", args[0], strings.Join(names, ", "))
		},
	}
}
