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
	// Title is the summary of the diagnostic.
	Title string
	// Severity is hcl.DiagError where apply or the run cannot succeed, hcl.DiagWarning where
	// it may succeed and mislead.
	Severity hcl.DiagnosticSeverity
	// Why says in one sentence why it will hurt, Fix in one how to put it right.
	Why, Fix string
	// Run finds the faults of a configuration that has loaded without errors.
	Run func(*Model) []Finding
}

// Finding is one fault.
type Finding struct {
	// At is the offending attribute, Block the header of its block.
	At, Block hcl.Range
	// Detail says what is wrong here, in sentences.
	Detail string
}

// Run executes every check that the configuration has not switched off. The configuration
// must have loaded without errors.
func Run(c *config.Config) hcl.Diagnostics {
	var out hcl.Diagnostics
	table, m := All(), New(c)
	for _, k := range table {
		if slices.Contains(c.DisabledChecks, k.Code) {
			continue
		}
		for _, f := range k.Run(m) {
			out = append(out, k.diagnostic(f))
		}
	}
	return append(mask(c, out), unknownCodes(c.DisabledChecks, table)...)
}

func (k Check) diagnostic(f Finding) *hcl.Diagnostic {
	return &hcl.Diagnostic{
		Severity: k.Severity,
		Summary:  fmt.Sprintf("%s (%s)", k.Title, k.Code),
		Detail:   strings.Join([]string{f.Detail, k.Why, k.Fix}, " "),
		Subject:  &f.At,
		Context:  &f.Block,
		Extra:    Code(k.Code),
	}
}

// Code is the extra information of a check's diagnostic, found by hcl.DiagnosticExtra.
type Code string

// unknownCodes warns about codes that switch off nothing.
func unknownCodes(disabled []string, table []Check) hcl.Diagnostics {
	var codes []string
	for _, k := range table {
		codes = append(codes, k.Code)
	}
	var out hcl.Diagnostics
	for _, code := range disabled {
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
