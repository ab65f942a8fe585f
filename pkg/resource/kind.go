package resource

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// Kind is one resource block type: one file and one row in the kinds table.
// It is pure: the same options give the same objects.
type Kind struct {
	// Name is the block type.
	Name string
	// Doc is one sentence for the reference page.
	Doc string
	// New returns a pointer to a fresh options struct with `hcl:"…"` tags (gohcl) and, beside
	// them, `doc:"…"`, `enum:"a,b"` and `default:"…"` tags for diagnostics, docs and the schema.
	New func() any
	// Expand turns decoded options (what New returned) into objects and attributes.
	Expand func(s Scope, options any) (Expansion, hcl.Diagnostics)
}

// Scope is what a block instance may know about its surroundings.
type Scope struct {
	Address Address
	// Stack is the stack's name, used in labels.
	Stack string
	// Dir is the directory that relative paths of the block are relative to.
	Dir string
	// Block is the range of the block's header.
	Block hcl.Range
	// At gives the range of an attribute or nested block by dotted path
	// ("namespace", "listener.http.port"), the nearest known parent otherwise.
	At func(path string) hcl.Range
}

// Expansion is what a block instance stands for.
type Expansion struct {
	// Objects in the order of creation; the config adds the edges between blocks and,
	// within the block, from each object to the one before it.
	Objects []Object
	// Attrs is what other blocks may refer to as kind.name.attr. A value known only after
	// apply is cty.UnknownVal: legal in outputs and scenario targets only.
	Attrs map[string]cty.Value
}

// Error is a diagnostic for one attribute of the scope's block.
func (s Scope) Error(path, summary, detail string) *hcl.Diagnostic {
	return s.diagnostic(hcl.DiagError, path, summary, detail)
}

// Warning is Error with a lower severity.
func (s Scope) Warning(path, summary, detail string) *hcl.Diagnostic {
	return s.diagnostic(hcl.DiagWarning, path, summary, detail)
}

func (s Scope) diagnostic(sev hcl.DiagnosticSeverity, path, summary, detail string) *hcl.Diagnostic {
	rng := s.Block
	if s.At != nil {
		rng = s.At(path)
	}
	block := s.Block
	return &hcl.Diagnostic{Severity: sev, Summary: summary, Detail: detail, Subject: &rng, Context: &block}
}
