package cli

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

// page is one generated page of docs/.
type page struct {
	name   string
	render func(*app) string
}

// pages is the table of generated pages.
func pages() []page {
	return []page{
		{"checks.md", func(*app) string { return checksPage() }},
		{"cli.md", (*app).cliPage},
		{"reference.md", func(*app) string { return referencePage() }},
	}
}

// docsCommand is for the project itself: scripts/generate.sh calls it.
func (a *app) docsCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "docs DIRECTORY",
		Short:   "Write the generated pages of the documentation",
		Example: "  mifbench docs docs",
		Hidden:  true,
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			for _, p := range pages() {
				if err := os.WriteFile(filepath.Join(args[0], p.name), []byte(p.render(a)), 0o644); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
