package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mifbench/mifbench/pkg/config/block"
	"github.com/mifbench/mifbench/pkg/config/diagnostic"
)

// Output is an output of the root module.
type Output struct {
	Name, Description string
	Sensitive         bool
	// Value is unmarked, unknown (in whole or part) until apply has told; do not print it
	// when Sensitive.
	Value cty.Value
	Range hcl.Range
}

// outputNode evaluates an output block of any module.
type outputNode struct {
	block  *hclsyntax.Block
	fields outputBlock
}

// readOutput decodes what is constant in an output block.
func readOutput(l *language, b *hclsyntax.Block) (*outputNode, hcl.Diagnostics) {
	r := &outputNode{block: b}
	s := l.root[classOutput].schemas[0]
	_, diags := s.Decode(block.Source{Header: header(b), Range: b.DefRange(), Body: b.Body, Ctx: &hcl.EvalContext{}}, &r.fields)
	return r, constantOnly(diags, "output")
}

func (r *outputNode) run(e *evaluator, n *node) {
	if r.fields.Value == nil || !e.both(n, r.fields.Value) {
		n.bad = true
		return
	}
	if r.fields.Sensitive {
		n.value, n.final = n.value.Mark(diagnostic.Sensitive), n.final.Mark(diagnostic.Sensitive)
	}
	if n.mod.parent != nil {
		return
	}
	if diagnostic.IsSensitive(n.final) && !r.fields.Sensitive {
		e.fail(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Output holds a sensitive value", Subject: r.fields.Value.Range().Ptr(),
			Detail:     "The value comes from something that is marked as sensitive. Add sensitive = true to the output, or nonsensitive(…) if it may be shown.",
			Expression: r.fields.Value, EvalContext: e.scope(n, true)})
		return
	}
	raw, _ := n.final.UnmarkDeep()
	e.config.Outputs = append(e.config.Outputs, Output{
		Name: n.id.name, Description: r.fields.Description, Sensitive: r.fields.Sensitive, Value: raw, Range: r.block.DefRange(),
	})
}
