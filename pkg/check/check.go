package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/config/diagnostic"
)

// Check is one row of the table.
type Check struct {
	// Code is stable: MIF and three digits. A code is never given to another check.
	Code string
	// Title is the summary of the diagnostic; About is what a check of the cluster looks at, for
	// the list of what is as it should be.
	Title, About string
	// Severity is hcl.DiagError where apply or the run cannot succeed, hcl.DiagWarning where
	// it may succeed and mislead.
	Severity hcl.DiagnosticSeverity
	// Why says in one sentence why it will hurt, Fix in one how to put it right.
	Why, Fix string
	// Run finds the faults of a configuration that has loaded without errors; nil for a check
	// that needs the cluster.
	Run func(*Model) []Finding
	// Look judges the configuration against what was read of the cluster; nil for an offline
	// check. What it could not judge for want of a reading it says, in Outcome.Skipped.
	Look func(*Model, *World) Outcome
	// Writes marks what hurts only those who change the cluster: a mere plan is warned.
	Writes bool
	// Measures marks what spoils a measurement on a stack that stands: run warns of it.
	Measures bool
	// Planned marks what a plan says by itself, of the same object and in more detail: only the
	// command check runs it.
	Planned bool
}

// Finding is one fault.
type Finding struct {
	// At is the offending attribute, Block the header of its block; both are empty where the
	// configuration has no such block.
	At, Block hcl.Range
	// Detail says what is wrong here, in sentences; where it ends with a list, each line of it
	// begins with a space and ends with a newline.
	Detail string
}

// Run executes every offline check that the configuration has not switched off. The
// configuration must have loaded without errors.
func Run(c *config.Config) hcl.Diagnostics {
	return append(Diagnostics(Offline(New(c))), UnknownCodes(c)...)
}

func (k Check) diagnostic(f Finding) *hcl.Diagnostic {
	gap := " "
	if strings.HasSuffix(f.Detail, "\n") {
		gap = ""
	}
	d := &hcl.Diagnostic{
		Severity: k.Severity,
		Summary:  fmt.Sprintf("%s (%s)", k.Title, k.Code),
		Detail:   f.Detail + gap + k.Why + " " + k.Fix,
		Extra:    Code(k.Code),
	}
	if f.At.Filename != "" {
		d.Subject, d.Context = &f.At, &f.Block
	}
	return d
}

// Code is the extra information of a check's diagnostic, found by hcl.DiagnosticExtra.
type Code string

// UnknownCodes warns about disabled_checks that switch off nothing.
func UnknownCodes(c *config.Config) hcl.Diagnostics {
	var codes []string
	for _, k := range All() {
		codes = append(codes, k.Code)
	}
	var out hcl.Diagnostics
	for _, code := range c.DisabledChecks {
		if !slices.Contains(codes, code) {
			out = append(out, &hcl.Diagnostic{
				Severity: hcl.DiagWarning, Summary: "Unknown check",
				Detail: fmt.Sprintf("disabled_checks names %q, but there is no such check.%s Codes run from %s to %s; docs/checks.md lists them.",
					code, diagnostic.DidYouMean(code, codes), codes[0], codes[len(codes)-1]),
			})
		}
	}
	return out
}
