package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mifbench/mifbench/pkg/config"
)

// graphFormat is a row of the table of formats.
type graphFormat struct {
	name   string
	render func(config.GraphView) string
}

func graphFormats() []graphFormat {
	return []graphFormat{{"dot", dot}, {"mermaid", mermaid}}
}

func (a *app) graphCommand() *cobra.Command {
	var vars []config.VarArg
	var format string
	cmd := &cobra.Command{
		Use:   "graph",
		Short: "Draw which block refers to which",
		Long: `Prints the reference graph of the configuration: an arrow leads from a block to what it
refers to, so apply works against the arrows. Values do not appear.`,
		Example: `  mifbench graph | dot -Tsvg > graph.svg
  mifbench graph --format mermaid`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			var names []string
			for _, f := range graphFormats() {
				names = append(names, f.name)
				if f.name != format {
					continue
				}
				cfg, err := a.load(vars, nil)
				if err != nil {
					return err
				}
				_, err = io.WriteString(a.env.Stdout, f.render(config.Graph(cfg)))
				return err
			}
			return fmt.Errorf("--format %s: there are %s", format, strings.Join(names, " and "))
		},
	}
	variableFlags(cmd.Flags(), &vars)
	cmd.Flags().StringVar(&format, "format", "dot", "dot or mermaid")
	return cmd
}

func dot(g config.GraphView) string {
	var b strings.Builder
	b.WriteString("digraph {\n  rankdir = \"RL\"\n  node [shape = \"rect\", fontname = \"sans-serif\"]\n")
	for _, n := range g.Nodes {
		style := ""
		if !n.Resource {
			style = " [style = \"rounded\"]"
		}
		fmt.Fprintf(&b, "  %q%s\n", n.ID, style)
	}
	for _, e := range g.Edges {
		fmt.Fprintf(&b, "  %q -> %q\n", e.From, e.To)
	}
	b.WriteString("}\n")
	return b.String()
}

func mermaid(g config.GraphView) string {
	var b strings.Builder
	b.WriteString("flowchart RL\n")
	var ids []string
	for _, n := range g.Nodes {
		left, right := "[", "]"
		if !n.Resource {
			left, right = "(", ")"
		}
		fmt.Fprintf(&b, "  n%d%s\"%s\"%s\n", len(ids), left, strings.ReplaceAll(n.ID, `"`, "#quot;"), right)
		ids = append(ids, n.ID)
	}
	for _, e := range g.Edges {
		fmt.Fprintf(&b, "  n%d --> n%d\n", slices.Index(ids, e.From), slices.Index(ids, e.To))
	}
	return b.String()
}
