package view

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/plan"
)

// every is how often a plain log repeats that an object is still waited for.
const every = 10 * time.Second

// maxStatus bounds the status block of a terminal.
const maxStatus = 12

// Progress shows the events of an apply on Style.Err: on a terminal a block with
// what is in flight and why it is not ready, redrawn at each event; elsewhere
// plain lines, at most one an object every ten seconds. It is for one goroutine
// at a time, as the engine calls it.
type Progress struct {
	style Style
	w     writer
	open  []*inFlight
	drawn int
}

// inFlight is an object that is being worked on.
type inFlight struct {
	step    deploy.Step
	reason  plan.Readiness
	elapsed time.Duration
	printed time.Duration
}

// NewProgress starts with an empty block.
func (s Style) NewProgress() *Progress {
	return &Progress{style: s, w: writer{to: s.Err}}
}

// Event shows one event; pass it as deploy.Run.Emit.
func (p *Progress) Event(e deploy.Event) {
	p.erase()
	switch e := e.(type) {
	case deploy.Started:
		p.open = append(p.open, &inFlight{step: e.Step})
		p.say(e.Step, verb(e.Action).doing+"... ("+e.ID.String()+")")
	case deploy.Progress:
		p.progress(e)
	case deploy.Done:
		p.drop(e.Step)
		p.say(e.Step, p.style.paint(green, verb(e.Action).done)+" after "+round(e.Elapsed))
	case deploy.Failed:
		p.drop(e.Step)
		p.say(e.Step, p.style.paint(red, "failed")+" after "+round(e.Elapsed)+": "+firstLine(e.Err))
	case deploy.Skipped:
		p.say(e.Step, p.style.paint(dim, "not attempted: "+e.Because))
	case deploy.Warning:
		if e.Step == (deploy.Step{}) { // of the look at the whole
			p.w.line(p.style.paint(yellow, "Warning: "), e.Text)
			break
		}
		p.say(e.Step, p.style.paint(yellow, "warning: ")+e.Text)
	case deploy.Stopping:
		p.w.line(p.style.paint(yellow, "Stopping ("+e.Reason+"): finishing what is in flight; interrupt again to stop at once."))
	case deploy.Verified, deploy.Saved: // the outcome says it
	}
	p.draw()
}

// Close removes the block; the error is the writer's first.
func (p *Progress) Close() error {
	p.erase()
	return p.w.err
}

func (p *Progress) say(s deploy.Step, text string) {
	p.w.line(p.style.paint(bold, s.Address.String()), ": ", text)
}

func (p *Progress) progress(e deploy.Progress) {
	for _, f := range p.open {
		if f.step.ID != e.ID {
			continue
		}
		f.reason, f.elapsed = e.Readiness, e.Elapsed
		if !p.style.TTY && e.Elapsed-f.printed >= every {
			f.printed = e.Elapsed.Truncate(every)
			p.say(e.Step, "Still "+strings.ToLower(verb(e.Action).doing)+"... ["+round(e.Elapsed)+" elapsed] "+e.Readiness.Reason)
			for _, l := range e.Readiness.Detail {
				p.w.line("    ", l)
			}
		}
	}
}

func (p *Progress) drop(s deploy.Step) {
	for i, f := range p.open {
		if f.step.ID == s.ID {
			p.open = append(p.open[:i:i], p.open[i+1:]...)
			return
		}
	}
}

// draw writes the status block under the lines that stay.
func (p *Progress) draw() {
	if !p.style.TTY {
		return
	}
	var block []string
	for i, f := range p.open {
		if i == maxStatus {
			block = append(block, fmt.Sprintf("  and %d more", len(p.open)-i))
			break
		}
		block = append(block, f.status())
		for _, l := range f.reason.Detail {
			block = append(block, "      "+l)
		}
	}
	for _, l := range block {
		p.w.line(p.style.paint(cyan, p.style.clip(l)))
	}
	p.drawn = len(block)
}

func (f *inFlight) status() string {
	line := fmt.Sprintf("  %s %s [%s]", verb(f.step.Action).doing, f.step.ID, round(f.elapsed))
	if f.reason.Reason != "" {
		line += " " + f.reason.Reason
	}
	return line
}

// erase moves up over the block and clears it.
func (p *Progress) erase() {
	if p.drawn > 0 && p.w.err == nil {
		_, p.w.err = fmt.Fprintf(p.w.to, "\x1b[%dA\x1b[J", p.drawn)
	}
	p.drawn = 0
}

// words are how an action is spoken of.
type words struct{ doing, done string }

func verb(a plan.Action) words {
	switch a {
	case plan.Create:
		return words{"Creating", "Creation complete"}
	case plan.Update:
		return words{"Modifying", "Modifications complete"}
	case plan.Replace:
		return words{"Replacing", "Replacement complete"}
	case plan.Delete:
		return words{"Destroying", "Destruction complete"}
	case plan.Wait:
		return words{"Waiting", "Ready"}
	case plan.Adopt:
		return words{"Adopting", "Adoption complete"}
	case plan.Recover:
		return words{"Recovering", "Recovery complete"}
	case plan.Renew:
		return words{"Renewing", "Renewal complete"}
	case plan.Forget, plan.Keep:
		return words{"Forgetting", "Forgotten"}
	case plan.NoOp:
	}
	return words{"Checking", "Unchanged"}
}

// round writes a duration as people read it: whole seconds.
func round(d time.Duration) string { return d.Truncate(time.Second).String() }

func firstLine(err error) string {
	if err == nil {
		err = errors.New("unknown error")
	}
	text, rest, more := strings.Cut(err.Error(), "\n")
	if more && rest != "" {
		return text + " …"
	}
	return text
}
