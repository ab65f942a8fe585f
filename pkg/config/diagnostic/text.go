package diagnostic

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
)

// Style is how WriteText writes.
type Style struct {
	// Width in columns for wrapping; 0 means 78.
	Width int
	Color bool
}

const defaultWidth = 78

// WriteText writes diagnostics for people, each in a box as Terraform does: severity and
// summary, the place, the source with the spot underlined, the values of the variables
// involved, what is allowed.
func WriteText(w io.Writer, files map[string]*hcl.File, diags hcl.Diagnostics, style Style) error {
	for _, d := range diags {
		if _, err := io.WriteString(w, Text(files, d, style)); err != nil {
			return fmt.Errorf("writing diagnostics: %w", err)
		}
	}
	return nil
}

// Text is one diagnostic as WriteText writes it.
func Text(files map[string]*hcl.File, d *hcl.Diagnostic, style Style) string {
	if style.Width == 0 {
		style.Width = defaultWidth
	}
	p := paint{on: style.Color, code: "31"}
	word := "Error"
	if d.Severity == hcl.DiagWarning {
		word, p.code = "Warning", "33"
	}
	lines := []string{p.bold(p.colour(word+":") + " " + d.Summary)}
	lines = append(lines, placeLines(files, d, p)...)
	if d.Detail != "" {
		lines = append(lines, "")
		lines = append(lines, wrap(d.Detail, style.Width-2)...)
	}
	var b strings.Builder
	b.WriteString(p.colour("╷") + "\n")
	for _, l := range lines {
		b.WriteString(strings.TrimRight(p.colour("│")+" "+l, " ") + "\n")
	}
	b.WriteString(p.colour("╵") + "\n")
	return b.String()
}

// paint adds terminal colours when they are on.
type paint struct {
	on   bool
	code string
}

func (p paint) wrap(code, s string) string {
	if !p.on {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p paint) colour(s string) string { return p.wrap(p.code, s) }

func (p paint) bold(s string) string { return p.wrap("1", s) }

func placeLines(files map[string]*hcl.File, d *hcl.Diagnostic, p paint) []string {
	if d.Subject == nil {
		return nil
	}
	place := fmt.Sprintf("  on %s line %d", d.Subject.Filename, d.Subject.Start.Line)
	s := snippetOf(files, d)
	switch {
	case d.Extra == HideSource:
		return []string{"", place + " (not shown: it holds a sensitive value)"}
	case s == nil:
		return []string{"", place + fmt.Sprintf(", column %d", d.Subject.Start.Column)}
	case s.context != "":
		place += ", in " + s.context
	}
	return append(append([]string{"", place + ":"}, sourceLines(s, p)...), valueLines(s)...)
}

// sourceLines are the numbered lines of a snippet, the subject underlined.
func sourceLines(s *snippet, p paint) []string {
	var out []string
	offset := 0
	for i, line := range strings.Split(s.code, "\n") {
		if len(line) > maxLine {
			return append(out, longLine(s, i, line, p)...)
		}
		out = append(out, strings.TrimRight(fmt.Sprintf("%4d: %s", s.startLine+i, expandTabs(line)), " "))
		from, to := max(s.from-offset, 0), min(s.to-offset, len(line))
		if to < from {
			to = from
		}
		offset += len(line) + 1
		blank := len(line) - len(strings.TrimLeft(line, " \t"))
		if i > 0 {
			from = max(from, blank)
		}
		if from > len(line) || i > 0 && to <= from {
			continue
		}
		width := max(utf8.RuneCountInString(expandTabs(line[from:to])), 1)
		pad := utf8.RuneCountInString(expandTabs(line[:from]))
		out = append(out, strings.Repeat(" ", 6+pad)+p.colour(strings.Repeat("^", width)))
	}
	return out
}

// maxLine is the longest line that is shown whole; around the spot it is this much less.
const (
	maxLine   = 240
	aroundPos = 40
)

// longLine shows the neighbourhood of the spot.
func longLine(s *snippet, i int, line string, p paint) []string {
	from := min(s.from, len(line))
	if i > 0 {
		from = 0
	}
	runes := []rune(expandTabs(strings.ToValidUTF8(line[max(from-aroundPos, 0):min(from+aroundPos, len(line))], "?")))
	pad := utf8.RuneCountInString(expandTabs(strings.ToValidUTF8(line[max(from-aroundPos, 0):from], "?")))
	return []string{
		fmt.Sprintf("%4d: …%s…", s.startLine+i, string(runes)),
		strings.Repeat(" ", 7+pad) + p.colour("^"),
	}
}

func expandTabs(s string) string { return strings.ReplaceAll(s, "\t", "    ") }

func valueLines(s *snippet) []string {
	if len(s.values) == 0 && s.call == "" {
		return nil
	}
	out := []string{"    ├────────────────"}
	if s.call != "" {
		out = append(out, "    │ while calling "+s.call)
	}
	for _, v := range s.values {
		out = append(out, "    │ "+v.traversal+" "+v.statement)
	}
	return out
}

// wrap breaks paragraphs at words; lines that begin with a space are kept as they are.
func wrap(text string, width int) []string {
	var out []string
	for _, para := range strings.Split(text, "\n") {
		if strings.HasPrefix(para, " ") || utf8.RuneCountInString(para) <= width {
			out = append(out, para)
			continue
		}
		line := ""
		for _, word := range strings.Fields(para) {
			switch {
			case line == "":
				line = word
			case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width:
				out = append(out, line)
				line = word
			default:
				line += " " + word
			}
		}
		out = append(out, line)
	}
	return out
}
