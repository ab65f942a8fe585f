//go:build linux

package main

import (
	"fmt"
	"strings"
	"time"
)

// table is the rows as Markdown.
func table(rows []row) string {
	var b strings.Builder
	b.WriteString("| load | tool | held | tok/s | CPU s per M tok | × mifbench | cores | memory MB | offered load | stamp error p50 / p99 | ITL error p50 / p99 / p99.9 | note |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	ours := map[string]float64{}
	for _, r := range rows {
		if r.Tool == "mifbench" {
			ours[r.Load.String()] = r.CPU
		}
	}
	for _, r := range rows {
		ratio := "n/a"
		if base := ours[r.Load.String()]; base > 0 && r.CPU > 0 {
			ratio = fmt.Sprintf("%.1f", r.CPU/base)
		}
		fmt.Fprintf(&b, "| %s | %s | %.0f | %.0f | %.1f | %s | %.2f | %d | %s | %s | %s | %s |\n", r.Load, r.Tool, r.Held, r.TokensPerSecond, r.CPU, ratio, r.Cores,
			r.Memory>>20, r.offered(), errorText(r.Stamp.P50, r.Stamp.P99), errorText(r.Gap.P50, r.Gap.P99, r.Gap.P999), strings.TrimSpace(r.Note))
	}
	return b.String()
}

// inTime is the p99 error under which a tool counts as having held a load.
const inTime = 20 * time.Millisecond

// timed tells whether r's load was held in time: nearly all its streams at once, and the
// times of token events right. known is false when the tool left no times.
func (r row) timed() (ok, known bool) {
	off := r.Gap.P99
	if off == 0 {
		off = r.Stamp.P99 // a tool without times of every token
	}
	return off > 0 && off < inTime && r.Held >= 0.95*float64(r.Load.Streams), off > 0
}

// largest is the largest load that each tool held in time, as Markdown.
func largest(rows []row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| tool | largest load held with a p99 error under %v | tok/s |\n|---|---|---|\n", inTime)
	for _, name := range toolNames() {
		text, most, known, ran := "none of these", 0.0, false, false
		for _, r := range rows {
			if r.Tool != name {
				continue
			}
			ok, k := r.timed()
			known, ran = known || k, true
			if ok && r.TokensPerSecond > most {
				text, most = r.Load.String(), r.TokensPerSecond
			}
		}
		switch {
		case !ran:
			continue
		case !known:
			text = "not known: it left no times of token events"
		}
		fmt.Fprintf(&b, "| %s | %s | %.0f |\n", name, text, most)
	}
	return b.String()
}

func (r row) offered() string {
	if r.Offered == -1 {
		return "n/a"
	}
	return fmt.Sprintf("%+.2f %%", 100*r.Offered)
}

func errorText(d ...time.Duration) string {
	if d[len(d)-1] == 0 {
		return "n/a"
	}
	var parts []string
	for _, v := range d {
		unit, scale := "µs", time.Microsecond
		if v >= 1000*time.Microsecond {
			unit, scale = "ms", time.Millisecond
		}
		parts = append(parts, fmt.Sprintf("%.3g %s", float64(v)/float64(scale), unit))
	}
	return strings.Join(parts, " / ")
}

// line is a row for the conversation.
func (r row) line() string {
	return fmt.Sprintf("%-15s %-16s held %.0f, %.0f tok/s, %.1f CPU-s/M, offered %s, stamp error %s, ITL error %s over %d events %s",
		r.Tool, r.Load, r.Held, r.TokensPerSecond, r.CPU, r.offered(), errorText(r.Stamp.P50, r.Stamp.P99), errorText(r.Gap.P50, r.Gap.P99), r.Events, r.Note)
}
