package config

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// operatorsPerDepth is how many operators may follow each other on one level for each level
// of nesting allowed: evaluation recurses over them.
const operatorsPerDepth = 10

// checkDepth bounds the nesting before the recursive parser sees the text: the lexer works
// without recursion, the parser and the evaluation of what it returns do not.
func checkDepth(src []byte, filename string, limit int) *hcl.Diagnostic {
	tokens, _ := hclsyntax.LexConfig(src, filename, hcl.InitialPos)
	d := depth{open: []level{{statement: true}}, limit: limit}
	for _, t := range tokens {
		if d.token(t); d.exceeded() {
			return &hcl.Diagnostic{
				Severity: hcl.DiagError, Summary: "Nesting too deep", Subject: t.Range.Ptr(),
				Detail: fmt.Sprintf("Brackets, blocks and templates may be nested %d deep, and %d operators may follow each other; this goes beyond. Use locals for the parts.", limit, limit*operatorsPerDepth),
			}
		}
	}
	return nil
}

// level is one open bracket.
type level struct {
	// statement is true where a newline ends what came before: in bodies and objects.
	statement bool
	operators int
}

type depth struct {
	open    []level
	limit   int
	control bool // the token before was %{
	nested  int  // template directives that are open
}

func (d *depth) exceeded() bool {
	top := d.open[len(d.open)-1]
	return len(d.open) > d.limit || d.nested > d.limit || top.operators > d.limit*operatorsPerDepth
}

func (d *depth) token(t hclsyntax.Token) {
	top := &d.open[len(d.open)-1]
	switch t.Type {
	case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenTemplateInterp,
		hclsyntax.TokenTemplateControl, hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc:
		top.operators++
		d.open = append(d.open, level{statement: t.Type == hclsyntax.TokenOBrace})
		d.control = t.Type == hclsyntax.TokenTemplateControl
	case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenTemplateSeqEnd,
		hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc:
		if len(d.open) > 1 {
			d.open = d.open[:len(d.open)-1]
		}
	case hclsyntax.TokenComma:
		top.operators = 0
	case hclsyntax.TokenNewline:
		if top.statement {
			top.operators = 0
		}
	case hclsyntax.TokenIdent:
		d.ident(string(t.Bytes))
	case hclsyntax.TokenNumberLit, hclsyntax.TokenQuotedLit, hclsyntax.TokenStringLit, hclsyntax.TokenEqual, hclsyntax.TokenComment:
	default:
		top.operators++
	}
}

func (d *depth) ident(name string) {
	if !d.control {
		return
	}
	d.control = false
	switch name {
	case "if", "for":
		d.nested++
	case "endif", "endfor":
		d.nested--
	}
}
