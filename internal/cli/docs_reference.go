package cli

import (
	"fmt"
	"strings"

	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/resource/kinds"
)

// referencePage describes the language, from the tables that read it.
func referencePage() string {
	dump := config.Schema(kinds.All())
	var b strings.Builder
	b.WriteString("# The configuration language\n\n" + generated)
	b.WriteString("Every `*.mif.hcl` file of a directory is read as one configuration, in HCL's native syntax.\n`mifbench schema --json` prints this page as data.\n\n")
	writeIndex(&b, "Resource kinds", dump.Blocks, true)
	writeIndex(&b, "Other blocks", dump.Blocks, false)
	for _, block := range dump.Blocks {
		fmt.Fprintf(&b, "\n## %s\n\n", block.Type)
		writeBlock(&b, block, header(block))
	}
	b.WriteString("\n## Functions\n\n| Function | What it gives |\n|---|---|\n")
	for _, f := range dump.Functions {
		fmt.Fprintf(&b, "| `%s` | %s |\n", signature(f), cell(f.Description))
	}
	return b.String()
}

func writeIndex(b *strings.Builder, title string, blocks []config.SchemaBlock, resources bool) {
	fmt.Fprintf(b, "%s: ", title)
	var names []string
	for _, block := range blocks {
		if block.Resource == resources {
			names = append(names, fmt.Sprintf("[`%s`](#%s)", block.Type, block.Type))
		}
	}
	b.WriteString(strings.Join(names, ", ") + ".\n\n")
}

func header(block config.SchemaBlock) string {
	out := block.Type
	for _, l := range block.Labels {
		out += fmt.Sprintf(" \"<%s>\"", l.Name)
	}
	return out
}

func writeBlock(b *strings.Builder, block config.SchemaBlock, path string) {
	fmt.Fprintf(b, "`%s { … }`", path)
	if d := block.Description; d != "" {
		b.WriteString(": " + d)
	}
	b.WriteString("\n")
	for _, l := range block.Labels {
		fmt.Fprintf(b, "\nLabel `%s`: %s%s\n", l.Name, l.Description, oneOf(l.Enum))
	}
	if block.OpenNames {
		b.WriteString("\nAny attribute name is legal here.\n")
	}
	if len(block.Attributes) > 0 {
		b.WriteString("\n| Attribute | Type | |\n|---|---|---|\n")
	}
	for _, a := range block.Attributes {
		writeAttribute(b, a)
	}
	for _, n := range block.Blocks {
		below := path + " → " + header(n)
		fmt.Fprintf(b, "\n### %s\n\n%s. ", below, howMany(n))
		writeBlock(b, n, header(n))
	}
}

func writeAttribute(b *strings.Builder, a config.SchemaAttribute) {
	name, kind := "`"+a.Name+"`", a.Type
	if a.Required {
		name += ", required"
	}
	if a.Format != "" {
		kind = a.Format
	}
	text := a.Description + oneOf(a.Enum)
	if a.Default != nil {
		text += fmt.Sprintf(" Default: `%s`.", *a.Default)
	}
	if a.Sensitive {
		text += " Sensitive."
	}
	fmt.Fprintf(b, "| %s | %s | %s |\n", name, cell(kind), cell(text))
}

func oneOf(enum []string) string {
	if len(enum) == 0 {
		return ""
	}
	return " One of `" + strings.Join(enum, "`, `") + "`."
}

func howMany(b config.SchemaBlock) string {
	switch {
	case b.MinItems == 1 && b.MaxItems == 1:
		return "Exactly one"
	case b.MaxItems == 1:
		return "At most one"
	}
	return "Any number"
}

func signature(f config.SchemaFunction) string {
	params := append([]string(nil), f.Parameters...)
	if f.Variadic != "" {
		params = append(params, f.Variadic+"…")
	}
	return f.Name + "(" + strings.Join(params, ", ") + ")"
}

// cell makes a text fit for a table.
func cell(s string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ", "<", "&lt;", ">", "&gt;").Replace(s)
}
