package view

import (
	"fmt"
	"strings"

	"github.com/mifbench/mifbench/pkg/check"
)

// Checks writes what became of each check: those that found nothing with what they saw, those
// that could not look with the reason, and the counts. The findings themselves are diagnostics
// and stand elsewhere.
func (s Style) Checks(results []check.Result, header []string) error {
	w := &writer{to: s.Out}
	for _, h := range header {
		w.line(h)
	}
	w.line("")
	offline := 0
	for _, r := range results {
		switch {
		case !r.Cluster && r.Status == check.Fine:
			offline++
		case !r.Cluster && r.Status == check.Off:
		case !r.Cluster:
			s.checkLine(w, r, r.Title)
		}
	}
	w.line(s.paint(green, statusWord("ok")), counted(offline, "offline check"))
	if n, why := unreached(results); n > 0 {
		w.line(s.paint(yellow, statusWord("skipped")), fmt.Sprintf("%s of the cluster: %s", counted(n, "check"), why))
	} else {
		for _, r := range results {
			if r.Cluster {
				s.checkLine(w, r, r.About)
			}
		}
	}
	w.line("")
	w.line(countChecks(results))
	return w.err
}

// unreached counts the cluster's checks when all of them were skipped for one reason.
func unreached(results []check.Result) (n int, why string) {
	for _, r := range results {
		switch {
		case !r.Cluster || r.Status == check.Off:
		case r.Status != check.Skipped || len(r.Skipped) != 1 || n > 0 && r.Skipped[0] != why:
			return 0, ""
		default:
			n, why = n+1, r.Skipped[0]
		}
	}
	return n, why
}

func statusWord(status string) string { return fmt.Sprintf("%-9s", status) }

func (s Style) checkLine(w *writer, r check.Result, about string) {
	status := string(r.Status)
	if r.Status == check.Idle || r.Status == check.Off {
		status = "-"
	}
	text := r.Code + "  " + about
	switch {
	case len(r.Diagnostics) > 0:
		text += fmt.Sprintf(": %s, see above", counted(len(r.Diagnostics), "finding"))
	case len(r.Seen) > 0:
		text += ": " + strings.Join(shorten(r.Seen), "; ")
	case status == "-":
		text += ": " + string(r.Status)
	}
	w.line(s.paint(statusColor(r.Status), statusWord(status)), text)
	for _, why := range r.Skipped {
		w.line(strings.Repeat(" ", 17), "skipped: ", why)
	}
}

func statusColor(s check.Status) color {
	switch s {
	case check.Faulty:
		return red
	case check.Doubtful, check.Skipped, check.Partly:
		return yellow
	case check.Fine:
		return green
	case check.Idle, check.Off:
		return dim
	}
	return plain
}

// shorten keeps a line readable; --json has everything.
func shorten(list []string) []string {
	const most = 5
	if len(list) <= most {
		return list
	}
	return append(append([]string{}, list[:most]...), fmt.Sprintf("and %d more", len(list)-most))
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// countChecks is "57 checks: 50 ok, 1 error, 2 skipped."
func countChecks(results []check.Result) string {
	n := map[check.Status]int{}
	for _, r := range results {
		n[r.Status]++
	}
	var parts []string
	for _, s := range []check.Status{check.Faulty, check.Doubtful, check.Skipped, check.Partly, check.Fine, check.Idle, check.Off} {
		if n[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[s], s))
		}
	}
	return fmt.Sprintf("%s: %s.", counted(len(results), "check"), strings.Join(parts, ", "))
}
