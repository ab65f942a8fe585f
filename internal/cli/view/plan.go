package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mifbench/mifbench/pkg/plan"
)

// PlanOptions are choices of presentation.
type PlanOptions struct {
	// Expand shows every field of the objects behind a release; without it additions and
	// removals there are one line each.
	Expand bool
	// Header lines come first: cluster context, server, stack.
	Header []string
}

// Plan writes a plan as Terraform users expect it: what drifted, what will happen
// object by object, problems and warnings, one summary line.
func (s Style) Plan(p plan.Plan, o PlanOptions) error {
	w := &planWriter{Style: s, writer: &writer{to: s.Out}, PlanOptions: o}
	for _, h := range o.Header {
		w.line(s.paint(dim, h))
	}
	w.drift(p)
	w.changes(p)
	w.unchanged(p)
	w.remarks(p)
	w.line(s.paint(bold, Summary(p)))
	return w.err
}

type planWriter struct {
	Style
	*writer
	PlanOptions
}

// look is how an action is shown.
type look struct {
	symbol string
	color  color
	words  string
}

func lookOf(a plan.Action) look {
	switch a {
	case plan.Create:
		return look{"+", green, "will be created"}
	case plan.Update:
		return look{"~", yellow, "will be updated in-place"}
	case plan.Replace:
		return look{"-/+", red, "must be replaced"}
	case plan.Delete:
		return look{"-", red, "will be destroyed"}
	case plan.Wait:
		return look{"…", cyan, "is applied and not ready; will be waited for"}
	case plan.Adopt:
		return look{"=", cyan, "will be adopted"}
	case plan.Recover:
		return look{"!", yellow, "will be recovered"}
	case plan.Renew:
		return look{"↻", yellow, "will be renewed"}
	case plan.Forget:
		return look{".", dim, "will be dropped from the state"}
	case plan.Keep:
		return look{"#", dim, "will stay and be dropped from the state"}
	case plan.NoOp:
	}
	return look{" ", plain, "stays as it is"}
}

func (w *planWriter) drift(p plan.Plan) {
	drifted := p.Drifted()
	if len(drifted) == 0 {
		return
	}
	w.line(w.paint(bold, "Note: objects were changed outside of mifbench since the last apply:"))
	w.line()
	for _, c := range drifted {
		if c.Gone {
			w.line("  ", w.paint(bold, "# "+c.Address.String()+" has been deleted"))
			w.line("  ", w.paint(red, "- "), c.ID.String())
			w.line()
			continue
		}
		w.line("  ", w.paint(bold, "# "+c.Address.String()+" has changed"))
		w.line("  ", w.paint(yellow, "~ "), c.ID.String())
		w.fields(c.Drift, "      ")
		w.line()
	}
	if !p.RefreshOnly {
		w.line(w.paint(dim, "The following undoes these changes unless the file or ignore_changes says otherwise."))
		w.line()
	}
}

func (w *planWriter) changes(p plan.Plan) {
	if !p.HasChanges() {
		return
	}
	w.line("mifbench will perform the following actions:")
	w.line()
	for _, c := range p.Changes {
		if c.Pending() {
			w.change(c)
		}
	}
}

// unchanged writes what there is to know of objects that stay as they are: when a token is renewed.
func (w *planWriter) unchanged(p plan.Plan) {
	said := false
	for _, c := range p.Changes {
		if c.Pending() {
			continue
		}
		for _, n := range c.Notes {
			w.line(w.paint(dim, "# "+c.Address.String()+" stays as it is: "+n))
			said = true
		}
	}
	if said {
		w.line()
	}
}

func (w *planWriter) change(c plan.Change) {
	l := lookOf(c.Action)
	words := l.words
	if c.Action == plan.NoOp {
		words = "has moved"
	}
	w.line("  ", w.paint(bold, "# "+c.Address.String()+" "+words))
	w.because(c)
	w.line(pad(l.symbol), w.paint(l.color, l.symbol), " ", c.ID.String())
	w.fields(telling(c.Action, c.Fields), "      ")
	if c.Unchanged > 0 && len(c.Fields) > 0 {
		w.hidden(c.Unchanged, "      ")
	}
	for _, child := range c.Children {
		w.child(child)
	}
	if c.Offline != "" && c.Action == plan.Create {
		w.line("      ", w.paint(dim, "# not checked by the server: "+c.Offline))
	}
	w.line()
}

// telling leaves out what the object's own line says already when it appears or goes as a whole.
func telling(a plan.Action, fields []plan.FieldDiff) []plan.FieldDiff {
	if a != plan.Create && a != plan.Delete {
		return fields
	}
	return slices.DeleteFunc(slices.Clone(fields), func(f plan.FieldDiff) bool {
		return f.Path == "/kind" || f.Path == "/metadata/name" || f.Path == "/metadata/namespace"
	})
}

// because writes the comment lines under the header.
func (w *planWriter) because(c plan.Change) {
	if c.MovedFrom != nil {
		w.line("  ", w.paint(dim, "# (moved from "+c.MovedFrom.String()+")"))
	}
	if c.Reason != "" {
		w.line("  ", w.paint(dim, "# ("+c.Reason+")"))
	}
	if c.Interrupts != "" {
		w.line("  ", w.paint(yellow, "# interrupts: "+c.Interrupts))
	}
	for _, n := range c.Notes {
		w.line("  ", w.paint(dim, "# "+n))
	}
	for _, k := range c.Conflicts {
		w.line("  ", w.paint(red, "# conflict: "+k.Field+" → "+k.Manager))
	}
}

// child writes one object of a release; additions and removals are one line unless expanded.
func (w *planWriter) child(c plan.Child) {
	l := lookOf(c.Action)
	count := ""
	collapsed := !w.Expand && (c.Action == plan.Create || c.Action == plan.Delete)
	if collapsed && len(c.Fields) > 0 {
		count = w.paint(dim, fmt.Sprintf(" # (%s hidden)", plural(len(c.Fields), "attribute")))
	}
	w.line("      ", w.paint(l.color, l.symbol), " ", c.ID.String(), count)
	if collapsed {
		return
	}
	w.fields(telling(c.Action, c.Fields), "          ")
	if c.Unchanged > 0 {
		w.hidden(c.Unchanged, "          ")
	}
}

func (w *planWriter) hidden(n int, indent string) {
	w.line(indent, w.paint(dim, fmt.Sprintf("# (%s hidden)", plural(n, "unchanged attribute"))))
}

// remarks writes warnings, then the problems that stop the plan.
func (w *planWriter) remarks(p plan.Plan) {
	for _, c := range p.Changes {
		for _, text := range c.Warnings {
			w.line(w.paint(yellow, "Warning: "), c.Address.String(), ": ", text)
		}
	}
	for _, q := range p.Problems {
		w.line(w.paint(red, "Error: "), w.paint(bold, q.Summary))
		w.line("  on ", q.Address.String())
		for _, l := range strings.Split(q.Detail, "\n") {
			w.line("  ", l)
		}
		w.line()
	}
}

func pad(symbol string) string {
	return strings.Repeat(" ", max(0, 3-len([]rune(symbol))))
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
