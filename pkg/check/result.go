package check

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// Result is what one check of the table came to.
type Result struct {
	Code, Title string
	// About is what a check of the cluster looks at.
	About string
	// Cluster tells a check that needs the cluster from an offline one.
	Cluster bool
	Status  Status
	// Seen and Skipped are those of the check's Outcome.
	Seen, Skipped []string
	Diagnostics   hcl.Diagnostics
}

// Purpose is what the cluster is looked at for.
type Purpose int

// The purposes.
const (
	// ToCheck is the command check: every row.
	ToCheck Purpose = iota
	// ToPlan leaves out what the plan says itself and only warns of what hinders an apply.
	ToPlan
	// ToApply leaves out what the plan says itself.
	ToApply
	// ToRun takes only what spoils a measurement, and only warns.
	ToRun
)

// Judge runs the cluster's checks over what was read. The model must be the one that the
// world was read for.
func Judge(m *Model, w *World, p Purpose) []Result {
	var out []Result
	hide := newMasker(m.Config)
	for _, k := range All() {
		if k.Look == nil || k.Planned && p != ToCheck || p == ToRun && !k.Measures {
			continue
		}
		if p == ToRun || k.Writes && p == ToPlan {
			k.Severity = doubt
		}
		r := Result{Code: k.Code, Title: k.Title, About: k.About, Cluster: true, Status: Off}
		if !slices.Contains(m.DisabledChecks, k.Code) {
			o := k.Look(m, w)
			r.Seen, r.Skipped = o.Seen, o.Skipped
			hide.texts(r.Seen)
			hide.texts(r.Skipped)
			r.conclude(hide, k, o.Findings)
		}
		out = append(out, r)
	}
	return out
}

// Unreached are the results of the cluster's checks when the cluster could not be reached.
func Unreached(m *Model, why string) []Result {
	var out []Result
	for _, k := range All() {
		if k.Look != nil {
			r := Result{Code: k.Code, Title: k.Title, About: k.About, Cluster: true, Status: Skipped, Skipped: []string{why}}
			if slices.Contains(m.DisabledChecks, k.Code) {
				r.Status, r.Skipped = Off, nil
			}
			out = append(out, r)
		}
	}
	return out
}

// Offline is Run with a result for each row.
func Offline(m *Model) []Result {
	var out []Result
	hide := newMasker(m.Config)
	for _, k := range All() {
		if k.Run == nil {
			continue
		}
		r := Result{Code: k.Code, Title: k.Title, Status: Off}
		if !slices.Contains(m.DisabledChecks, k.Code) {
			r.conclude(hide, k, k.Run(m))
			if r.Status == Idle {
				r.Status = Fine
			}
		}
		out = append(out, r)
	}
	return out
}

func (r *Result) conclude(hide masker, k Check, findings []Finding) {
	for _, f := range findings {
		r.Diagnostics = append(r.Diagnostics, k.diagnostic(f))
	}
	hide.diagnostics(r.Diagnostics)
	switch {
	case r.Diagnostics.HasErrors():
		r.Status = Faulty
	case len(r.Diagnostics) > 0:
		r.Status = Doubtful
	case len(r.Skipped) > 0 && len(r.Seen) > 0:
		r.Status = Partly
	case len(r.Skipped) > 0:
		r.Status = Skipped
	case len(r.Seen) > 0:
		r.Status = Fine
	default:
		r.Status = Idle
	}
}

// Diagnostics are those of all results, in their order.
func Diagnostics(results []Result) hcl.Diagnostics {
	var out hcl.Diagnostics
	for _, r := range results {
		out = append(out, r.Diagnostics...)
	}
	return out
}
