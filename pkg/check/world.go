package check

import (
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/mifbench/mifbench/pkg/resource"
)

// World is what was read of a cluster, once, for all checks.
type World struct {
	Identity
	Now time.Time

	kinds       map[kindName]got[Served]
	objects     map[resource.ID]got[map[string]any]
	nodes       got[[]node]
	pods        got[[]livePod]
	services    got[[]map[string]any]
	deployments got[[]map[string]any]
	refreshers  got[[]map[string]any]
	// templates are those of a namespace, by name.
	templates map[string]got[map[string]map[string]any]
	secrets   map[place]got[*pullContent]
	releases  map[place]got[*Release]
	rights    got[[]verdict]
	// broken are failures other than missing rights: the cluster did not answer.
	broken []string
}

// kindName is a kind in one version.
type kindName struct{ apiVersion, kind string }

func (k kindName) group() string {
	if g, _, ok := strings.Cut(k.apiVersion, "/"); ok {
		return g
	}
	return ""
}

func (k kindName) String() string { return k.apiVersion + " " + k.kind }

// got is something that was asked of the cluster: the answer, or why there is none.
type got[T any] struct {
	is  T
	ok  bool
	why string
}

// missing says why there is no answer.
func (g got[T]) missing() string {
	if g.why == "" {
		return "it was not looked at"
	}
	return g.why
}

// Broken lists the failures, other than missing rights, that kept checks from looking: each
// names what was read.
func (w *World) Broken() []string {
	sort.Strings(w.broken)
	return w.broken
}

// object is a single object that was read.
func (w *World) object(id resource.ID) got[map[string]any] { return w.objects[id] }

// unserved tells that a kind is certainly not there, in no version: MIF102 says so, and what
// depends on it need not be told as well.
func (w *World) unserved(apiVersion, kind string) bool {
	s := w.kinds[kindName{apiVersion, kind}]
	return s.ok && s.is.Resource == ""
}

// Outcome is what one check found out.
type Outcome struct {
	Findings []Finding
	// Seen says what was looked at and is as it should be, one phrase each.
	Seen []string
	// Skipped says what could not be looked at, and why.
	Skipped []string
}

func (o *Outcome) find(f Finding) { o.Findings = append(o.Findings, f) }

func (o *Outcome) seen(format string, args ...any) {
	o.Seen = append(o.Seen, fmt.Sprintf(format, args...))
}

func (o *Outcome) skip(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	for _, s := range o.Skipped {
		if s == text {
			return
		}
	}
	o.Skipped = append(o.Skipped, text)
}

// Status is how a check ended.
type Status string

// The ways in which a check ends.
const (
	Faulty   Status = "error"
	Doubtful Status = "warning"
	Fine     Status = "ok"
	// Partly means that what could be looked at is fine, and some could not be looked at.
	Partly Status = "partly"
	// Skipped means that nothing could be looked at.
	Skipped Status = "skipped"
	// Idle means that the configuration holds nothing for the check to look at.
	Idle Status = "nothing to check"
	// Off means that the configuration switches the check off.
	Off Status = "switched off"
)
