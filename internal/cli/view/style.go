// Package view renders plans, progress and results, for people or as JSON. It
// decides nothing: what it shows is in the values it is given. It writes results
// to Style.Out and the conversation to Style.Err. Secrets are masked before they
// get here; it masks again what is marked sensitive. Its only errors are those of
// the writers.
package view

import (
	"io"
	"strings"
)

// Style is where and how to write. The command fills it in from the process:
// Color and TTY are true on a terminal without --no-color and NO_COLOR.
type Style struct {
	Out, Err io.Writer
	// Color switches ANSI colours on.
	Color bool
	// TTY allows a status block that is redrawn.
	TTY bool
	// Width is the number of columns; 0 means 80.
	Width int
}

// ColorWanted decides about colour by the usual rules: a terminal, no --no-color, NO_COLOR unset
// or empty (no-color.org), TERM not "dumb".
func ColorWanted(terminal, noColorFlag bool, env func(string) string) bool {
	return terminal && !noColorFlag && env("NO_COLOR") == "" && env("TERM") != "dumb"
}

// color is an ANSI attribute.
type color string

const (
	plain  color = ""
	bold   color = "1"
	dim    color = "2"
	red    color = "31"
	green  color = "32"
	yellow color = "33"
	cyan   color = "36"
)

// paint wraps text in a colour when colours are on.
func (s Style) paint(c color, text string) string {
	if !s.Color || c == plain || text == "" {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

func (s Style) width() int {
	if s.Width <= 0 {
		return 80
	}
	return s.Width
}

// clip shortens a line to the width, so that a status block does not wrap.
func (s Style) clip(line string) string {
	r := []rune(line)
	if len(r) <= s.width() {
		return line
	}
	return string(r[:max(s.width()-1, 0)]) + "…"
}

// writer collects lines and keeps the first error, so that rendering code needs no checks.
type writer struct {
	to  io.Writer
	err error
}

func (w *writer) line(parts ...string) {
	if w.err == nil {
		_, w.err = io.WriteString(w.to, strings.Join(parts, "")+"\n")
	}
}
