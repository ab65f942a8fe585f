package cli

import (
	"fmt"
	"strings"

	"github.com/mifbench/mifbench/pkg/bench/dataset"
)

// printPrompts prints what inspect and verify found.
func (a *app) printPrompts(r dataset.Report, asJSON bool) error {
	if asJSON {
		return a.printJSON(r)
	}
	var b strings.Builder
	row := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-16s %s\n", name, fmt.Sprintf(format, args...))
	}
	row("dataset", "%s", strings.TrimSpace(r.Info.Kind+" "+r.Info.Path))
	if r.Info.Hash != "" {
		row("sha256", "%s", r.Info.Hash)
	}
	row("different", "%s", distinctText(r.Info.Distinct))
	row("lengths", "%s", r.Info.LengthRule)
	row("counted", "%d prompts, %d with another length than they say", r.Checked, r.Wrong)
	for _, w := range r.WrongExamples {
		row("", "%s", w)
	}
	row("tokens", "%d to %d, mean %.1f", r.MinTokens, r.MaxTokens, r.MeanTokens)
	row("text", "%.0f bytes a prompt, %.2f a token", r.MeanBytes, r.MeanBytes/max(1, r.MeanTokens))
	row("begin alike", "%d prompts begin like an earlier one", r.SameBeginning)
	histogram(row, r.Histogram)
	for _, w := range r.Info.Warnings {
		row("warning", "%s", w)
	}
	for i, s := range r.Samples {
		row(fmt.Sprintf("prompt %d", i), "%q …", s)
	}
	_, err := fmt.Fprint(a.env.Stdout, b.String())
	return err
}

func distinctText(n int64) string {
	if n < 0 {
		return "as many prompts as are wanted"
	}
	return fmt.Sprintf("%d prompts", n)
}

// histogram draws a bar for each power of two that has prompts.
func histogram(row func(name, format string, args ...any), counts []int64) {
	most := int64(1)
	for _, n := range counts {
		most = max(most, n)
	}
	const width = 40
	name := "histogram"
	for k, n := range counts {
		if n == 0 {
			continue
		}
		span := fmt.Sprintf("%d–%d", 1<<k, 1<<(k+1)-1)
		row(name, "%-13s %8d %s", span, n, strings.Repeat("█", int(max(1, n*width/most))))
		name = ""
	}
}
