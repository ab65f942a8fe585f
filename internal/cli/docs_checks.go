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
	b.WriteString(`What is wrong with a stack that loads, told without a cluster: ` + "`mifbench validate`" + ` and
` + "`mifbench plan`" + ` run these checks. An error stops plan and apply; a warning is printed and stops
nothing. A check that does not fit your site is switched off by its code:

` + "```hcl\nmifbench {\n  disabled_checks = [\"MIF029\"]\n}\n```" + `

| Code | Severity | What |
|---|---|---|
`)
	table := check.All()
	for _, k := range table {
		fmt.Fprintf(&b, "| [%s](#%s) | %s | %s |\n", k.Code, strings.ToLower(k.Code), severity(k.Severity), k.Title)
	}
	for _, k := range table {
		fmt.Fprintf(&b, "\n## %s\n\n**%s** (%s). %s\n\n%s\n", k.Code, k.Title, severity(k.Severity), k.Why, k.Fix)
	}
	return b.String()
}

func severity(s hcl.DiagnosticSeverity) string {
	if s == hcl.DiagWarning {
		return "warning"
	}
	return "error"
}
