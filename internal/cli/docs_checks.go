package cli

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/mifbench/mifbench/pkg/check"
)

const generated = "<!-- Made by scripts/generate.sh; edit the tables in the code instead. -->\n\n"

func checksPage() string {
	var b strings.Builder
	b.WriteString("# Domain checks\n\n" + generated)
	b.WriteString(`What is wrong with a stack that loads. ` + "`mifbench validate`" + ` runs the offline checks, from the
configuration alone; ` + "`mifbench check`" + ` those and the ones that read the cluster; ` + "`mifbench plan`" + ` and
` + "`mifbench apply`" + ` run all of them, too. An error stops plan and apply; a warning is printed and stops
nothing. A check that may not read what it needs, or whose object comes with the same plan, says that it was
skipped, and why; it never passes in silence. None of them changes anything.

Whether the API server accepts each object is no check of this table: ` + "`mifbench plan`" + ` asks it, by a
server-side dry-run of every object whose namespace and kind exist.

A check that does not fit your site is switched off by its code:

` + "```hcl\nmifbench {\n  disabled_checks = [\"MIF029\"]\n}\n```" + `

| Code | Severity | Needs | What |
|---|---|---|---|
`)
	table := check.All()
	for _, k := range table {
		needs := "configuration"
		if k.Look != nil {
			needs = "cluster"
		}
		fmt.Fprintf(&b, "| [%s](#%s) | %s | %s | %s |\n", k.Code, strings.ToLower(k.Code), severity(k.Severity), needs, k.Title)
	}
	for _, k := range table {
		fmt.Fprintf(&b, "\n## %s\n\n**%s** (%s). %s\n\n%s\n", k.Code, k.Title, severity(k.Severity), k.Why, k.Fix)
		if k.Writes {
			b.WriteString("\nA mere plan, which changes nothing, is only warned of it.\n")
		}
		if k.Measures {
			b.WriteString("\nrun looks once more before it sends load, and warns.\n")
		}
		if k.Planned {
			b.WriteString("\nplan and apply tell this in their own words, object by object; only check runs this row.\n")
		}
	}
	return b.String()
}

func severity(s hcl.DiagnosticSeverity) string {
	if s == hcl.DiagWarning {
		return "warning"
	}
	return "error"
}
