package view

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
)

// FormatVersion is the version of the JSON that this package writes. Readers must
// bear new fields; a change of meaning raises the number before the dot.
const FormatVersion = "1.1"

// PlanJSON writes one document that carries everything that the text shows.
// Secrets are masked: the text "(sensitive value)" stands for them.
func (s Style) PlanJSON(p plan.Plan, about PlanAbout) error {
	if about.Diagnostics == nil {
		about.Diagnostics = json.RawMessage("[]")
	}
	doc := planDoc{
		FormatVersion: FormatVersion, PlanAbout: about, Summary: p.Summary(), HasChanges: p.HasChanges(), Text: Summary(p),
		Plan: p.Masked(), Changes: []changeDoc{}, Problems: []problemDoc{},
	}
	for _, c := range doc.Plan.Changes {
		doc.Changes = append(doc.Changes, changeDoc{c.Address.String(), c.ID.String(), addressText(c.MovedFrom), c})
	}
	for _, q := range p.Problems {
		doc.Problems = append(doc.Problems, problemDoc{q.Address.String(), q.ID.String(), q})
	}
	return encode(s.Out, doc, "  ")
}

// PlanAbout is what the text says around a plan: where it was made and what the checks found.
type PlanAbout struct {
	// Cluster is the one that was looked at, nil for a saved plan.
	Cluster *PlanCluster `json:"cluster,omitempty"`
	// Tool, Created and StateSerial tell of a saved plan which mifbench made it, when (RFC 3339) and from which state.
	Tool        string `json:"tool,omitempty"`
	Created     string `json:"created,omitempty"`
	StateSerial uint64 `json:"stateSerial,omitempty"`
	// Diagnostics is a list in the form of `validate --json`; nil for none.
	Diagnostics json.RawMessage `json:"diagnostics"`
}

// PlanCluster is a cluster and the way to it.
type PlanCluster struct {
	Context string `json:"context"`
	Server  string `json:"server"`
	Version string `json:"version"`
	// UID is that of the namespace kube-system, CA the digest of the cluster's own certificates for
	// a user who may not see that; "" for what was not read.
	UID string `json:"uid"`
	CA  string `json:"ca,omitempty"`
	// Kubeconfig is set when the configuration names no context: the file's current one was taken.
	Kubeconfig string `json:"assumedFrom,omitempty"`
}

// planDoc, changeDoc and problemDoc give addresses and objects as the text does; their fields hide
// the embedded ones of the same JSON name.
type planDoc struct {
	FormatVersion string `json:"formatVersion"`
	PlanAbout
	Summary    plan.Summary `json:"summary"`
	HasChanges bool         `json:"hasChanges"`
	Text       string       `json:"text"`
	plan.Plan
	Changes  []changeDoc  `json:"changes"`
	Problems []problemDoc `json:"problems"`
}

type changeDoc struct {
	Address   string `json:"address"`
	Object    string `json:"object"`
	MovedFrom string `json:"movedFrom,omitempty"`
	plan.Change
}

type problemDoc struct {
	Address string `json:"address"`
	Object  string `json:"object"`
	plan.Problem
}

func addressText(a *resource.Address) string {
	if a == nil {
		return ""
	}
	return a.String()
}

// event is one line of the JSON event stream.
type event struct {
	FormatVersion string          `json:"formatVersion"`
	Time          time.Time       `json:"time"`
	Type          string          `json:"type"`
	Address       string          `json:"address,omitempty"`
	Object        string          `json:"object,omitempty"`
	Action        plan.Action     `json:"action,omitempty"`
	Seconds       float64         `json:"elapsedSeconds,omitempty"`
	Readiness     *plan.Readiness `json:"readiness,omitempty"`
	Error         string          `json:"error,omitempty"`
	Message       string          `json:"message,omitempty"`
	Serial        uint64          `json:"serial,omitempty"`
	Remaining     []remaining     `json:"remaining,omitempty"`
	Verified      *bool           `json:"verified,omitempty"`
	Counts        map[string]int  `json:"counts,omitempty"`
}

type remaining struct {
	Address string `json:"address"`
	Object  string `json:"object"`
	Why     string `json:"why,omitempty"`
}

// JSONEvents returns a receiver that writes one JSON object a line to Style.Out;
// the first write error is returned by the second function.
func (s Style) JSONEvents() (emit func(deploy.Event), failed func() error) {
	var first error
	emit = func(e deploy.Event) {
		if first == nil {
			first = encode(s.Out, lineOf(e, time.Now()), "")
		}
	}
	return emit, func() error { return first }
}

// OutcomeJSON writes the last line of the stream: type "outcome" with counts.
func (s Style) OutcomeJSON(p plan.Plan, out deploy.Outcome) error {
	e := event{
		FormatVersion: FormatVersion, Time: time.Now().UTC(), Type: "outcome", Message: verdict(p, out),
		Serial: out.State.Serial, Remaining: remainingOf(out.Remaining),
		Counts: map[string]int{
			"done": len(out.Done), "failed": len(out.Failed), "skipped": len(out.Skipped),
			"waiting": len(out.Waiting), "remaining": len(out.Remaining),
		},
	}
	if p.Destroy {
		e.Verified = &out.Verified
	}
	return encode(s.Out, e, "")
}

func lineOf(e deploy.Event, now time.Time) event {
	l := event{FormatVersion: FormatVersion, Time: now.UTC()}
	switch e := e.(type) {
	case deploy.Started:
		l.step("started", e.Step, 0)
	case deploy.Progress:
		l.step("progress", e.Step, e.Elapsed)
		l.Readiness = &e.Readiness
	case deploy.Done:
		l.step("done", e.Step, e.Elapsed)
	case deploy.Failed:
		l.step("failed", e.Step, e.Elapsed)
		l.Error = e.Err.Error()
	case deploy.Skipped:
		l.step("skipped", e.Step, 0)
		l.Message = e.Because
	case deploy.Warning:
		l.step("warning", e.Step, 0)
		l.Message = e.Text
	case deploy.Saved:
		l.Type, l.Serial = "saved", e.Serial
	case deploy.Stopping:
		l.Type, l.Message = "stopping", e.Reason
	case deploy.Verified:
		l.Type, l.Remaining = "verified", remainingOf(e.Remaining)
	default:
		panic(fmt.Sprintf("view: no JSON for event %T", e))
	}
	return l
}

func (l *event) step(kind string, s deploy.Step, elapsed time.Duration) {
	l.Type, l.Address, l.Object, l.Action = kind, s.Address.String(), s.ID.String(), s.Action
	l.Seconds = elapsed.Round(time.Millisecond).Seconds()
}

func remainingOf(list []deploy.Remaining) []remaining {
	out := make([]remaining, 0, len(list))
	for _, r := range list {
		out = append(out, remaining{r.Address.String(), r.ID.String(), r.Why})
	}
	return out
}

func encode(w io.Writer, v any, indent string) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	return e.Encode(v)
}
