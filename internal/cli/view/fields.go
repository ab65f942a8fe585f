package view

import (
	"strings"
	"unicode/utf8"

	"github.com/mifbench/mifbench/pkg/plan"
)

// fields writes field differences with their values in one column.
func (w *planWriter) fields(fields []plan.FieldDiff, indent string) {
	column := 0
	for _, f := range fields {
		if n := utf8.RuneCountInString(pathText(f.Path)); n > column && n <= 60 {
			column = n
		}
	}
	for _, f := range fields {
		w.field(f, indent, column)
	}
}

func (w *planWriter) field(f plan.FieldDiff, indent string, column int) {
	path := pathText(f.Path)
	l := fieldLook(f.Op)
	forces := ""
	if f.ForcesReplacement {
		forces = w.paint(red, " # forces replacement")
	}
	gap := strings.Repeat(" ", max(0, column-utf8.RuneCountInString(path)))
	head := indent + w.paint(l.color, l.symbol) + " " + path
	if multiline(f) {
		w.line(head, gap, " = <<text", forces)
		w.text(f, indent+"    ")
		return
	}
	before, after := sides(f)
	switch f.Op {
	case plan.Added:
		w.line(head, gap, " = ", after, forces)
	case plan.Removed:
		w.line(head, gap, " = ", before, forces)
	case plan.Changed:
		if f.Sensitive {
			w.line(head, gap, " = ", after, w.paint(dim, " # changes"), forces)
			return
		}
		w.line(head, gap, " = ", before, " -> ", after, forces)
	}
}

func fieldLook(o plan.Op) look {
	switch o {
	case plan.Added:
		return look{symbol: "+", color: green}
	case plan.Removed:
		return look{symbol: "-", color: red}
	case plan.Changed:
	}
	return look{symbol: "~", color: yellow}
}

// text writes a multi-line string by its lines.
func (w *planWriter) text(f plan.FieldDiff, indent string) {
	before, after := textOr(f.Before), textOr(f.After)
	for _, e := range near(diffLines(before, after), 3) {
		w.edit(e, indent)
	}
}

// textOr is a string as it is and any other value as JSON: a number that became a text.
func textOr(v any) string {
	switch t := v.(type) {
	case nil:
		return ""
	case string:
		return t
	}
	return valueText(v)
}

func (w *planWriter) edit(e edit, indent string) {
	switch e.sign {
	case '+':
		w.line(indent, w.paint(green, "+ "+e.text))
	case '-':
		w.line(indent, w.paint(red, "- "+e.text))
	case '~':
		w.line(indent, w.paint(dim, "# ("+e.text+")"))
	default:
		w.line(indent, "  ", e.text)
	}
}
