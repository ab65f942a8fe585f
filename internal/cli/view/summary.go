package view

import (
	"fmt"
	"strings"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/plan"
)

// Summary is the plan's last line.
func Summary(p plan.Plan) string {
	n := p.Summary()
	if !p.HasChanges() {
		return nothing(p)
	}
	parts := []string{
		fmt.Sprintf("%d to add", n.Add), fmt.Sprintf("%d to change", n.Change), fmt.Sprintf("%d to destroy", n.Destroy),
	}
	more := []struct {
		n    int
		word string
	}{{n.Adopt, "to adopt"}, {n.Wait, "to wait for"}, {n.Keep, "to keep"}, {n.Forget, "to forget"}, {n.Move, "moved"}}
	for _, m := range more {
		if m.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", m.n, m.word))
		}
	}
	return "Plan: " + strings.Join(parts, ", ") + "."
}

func nothing(p plan.Plan) string {
	switch {
	case len(p.Problems) > 0:
		return fmt.Sprintf("The plan has %s and cannot be applied.", plural(len(p.Problems), "problem"))
	case p.Destroy:
		return "No changes. No objects of this stack need to be destroyed."
	case p.RefreshOnly && len(p.Drifted()) > 0:
		return "The cluster differs from what was last applied; plan without --refresh-only to see what apply would do."
	case p.RefreshOnly:
		return "No changes. The cluster still matches what was last applied."
	}
	return "No changes. The cluster matches the configuration."
}

// Outcome writes what an apply or destroy did: failures first, then what was not attempted,
// then one line.
func (s Style) Outcome(p plan.Plan, out deploy.Outcome) error {
	w := &writer{to: s.Err}
	for _, f := range out.Failed {
		w.line(s.paint(red, "Error: "), s.paint(bold, fmt.Sprintf("%s: %s of %s failed", f.Address, f.Action, f.ID)))
		for _, l := range strings.Split(f.Err.Error(), "\n") {
			w.line("  ", l)
		}
		w.line()
	}
	s.steps(w, "Not attempted:", out)
	if len(out.Waiting) > 0 {
		w.line("Applied, not ready yet (the next apply waits on):")
		for _, st := range out.Waiting {
			w.line("  ", st.Address.String(), ": ", st.ID.String())
		}
	}
	for _, r := range out.Remaining {
		w.line(s.paint(red, "Remains: "), r.ID.String(), why(r.Why))
	}
	if w.err != nil {
		return w.err
	}
	w = &writer{to: s.Out}
	w.line(s.paint(verdictColor(out), verdict(p, out)))
	return w.err
}

func (s Style) steps(w *writer, title string, out deploy.Outcome) {
	if len(out.Skipped) == 0 {
		return
	}
	w.line(title)
	for _, k := range out.Skipped {
		w.line("  ", k.Address.String(), ": ", k.ID.String(), why(k.Because))
	}
}

func why(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

func verdictColor(out deploy.Outcome) color {
	if len(out.Failed) > 0 || len(out.Remaining) > 0 || out.Interrupted {
		return red
	}
	return green
}

// verdict is the last line of an apply or destroy.
func verdict(p plan.Plan, out deploy.Outcome) string {
	n := plan.Plan{}
	done := map[string]bool{}
	for _, d := range out.Done {
		done[d.ID.Key()] = true
	}
	for _, c := range p.Changes {
		if done[c.ID.Key()] {
			n.Changes = append(n.Changes, c)
		}
	}
	c := n.Summary()
	word := "Apply"
	if p.Destroy {
		word = "Destroy"
	}
	end := "complete"
	switch {
	case out.Interrupted:
		end = "interrupted; the state is saved, the same command goes on from here"
	case len(out.Failed) > 0 || len(out.Remaining) > 0 || p.Destroy && !out.Verified:
		end = "incomplete"
	}
	text := fmt.Sprintf("%s %s! Objects: %d added, %d changed, %d destroyed", word, end, c.Add, c.Change, c.Destroy)
	if end != "complete" {
		text = fmt.Sprintf("%s %s. Objects: %d added, %d changed, %d destroyed", word, end, c.Add, c.Change, c.Destroy)
	}
	if c.Adopt > 0 {
		text += fmt.Sprintf(", %d adopted", c.Adopt)
	}
	switch {
	case p.Destroy && out.Verified:
		return text + fmt.Sprintf(". %s of this stack remain (verified in the cluster).", plural(len(out.Remaining), "object"))
	case p.Destroy:
		return text + ". What remains could not be verified: run destroy again."
	}
	return text + "."
}
