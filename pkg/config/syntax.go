package config

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// explainSyntax adds to the parser's diagnostics where the bracket, quote or heredoc that
// was never closed begins; the parser itself notices at the end of the file, far away. When
// there is one, only the parser's errors before it are kept: those behind it follow from it.
func explainSyntax(src []byte, filename string, diags hcl.Diagnostics) hcl.Diagnostics {
	opener := unclosed(src, filename)
	var out hcl.Diagnostics
	last := -1
	for _, d := range diags {
		at := -1
		if d.Subject != nil {
			at = d.Subject.Start.Byte
		}
		repeats := at >= 0 && at == last
		if opener != nil {
			repeats = repeats || at >= opener.Subject.Start.Byte || strings.HasPrefix(d.Summary, "Un") // unclosed, unterminated
		}
		if repeats {
			continue
		}
		last = at
		out = append(out, d)
	}
	if opener != nil {
		out = append(out, opener)
	}
	for _, d := range out {
		if d.Summary == "Invalid block definition" {
			d.Detail += " If an argument was meant, put an equals sign behind its name."
		}
		d.Extra = syntaxError
	}
	return out
}

// origin marks, in a diagnostic's Extra, where it comes from.
type origin string

const syntaxError = origin("syntax")

// opener is a token that wants to be closed.
type opener struct {
	token  hclsyntax.Token
	indent int // of the line it stands on
}

// unclosed finds the opener without a closer. Where every later block would be swallowed,
// indentation tells the guilty one: a closer that stands further left than its opener's
// line belongs to an outer opener.
func unclosed(src []byte, filename string) *hcl.Diagnostic {
	tokens, _ := hclsyntax.LexConfig(src, filename, hcl.InitialPos)
	lines := strings.Split(string(src), "\n")
	var stack []opener
	var suspect *opener
	for _, t := range tokens {
		switch {
		case t.Type == hclsyntax.TokenQuotedNewline && len(stack) > 0:
			return unclosedDiagnostic(brokenQuote(stack))
		case isOpener(t.Type):
			stack = append(stack, opener{t, indentOf(lines, t.Range.Start.Line)})
		case isCloser(t.Type):
			if len(stack) == 0 {
				return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Unexpected closing bracket", Subject: t.Range.Ptr(),
					Detail: fmt.Sprintf("This %s closes nothing: there is one more of them than was opened. Remove it, or look for a block above that ends too early.", strings.TrimSpace(string(t.Bytes)))}
			}
			top := stack[len(stack)-1]
			if !matches(top.token.Type, t.Type) {
				return unclosedDiagnostic(top.token)
			}
			if suspect == nil && startsLine(lines, t) && indentOf(lines, t.Range.Start.Line) < top.indent {
				suspect = &top
			}
			stack = stack[:len(stack)-1]
		}
	}
	if len(stack) == 0 {
		return nil
	}
	if suspect != nil {
		return unclosedDiagnostic(suspect.token)
	}
	return unclosedDiagnostic(blockStart(stack, lines))
}

// brokenQuote is the opener to blame for a text that goes over the end of its line: the
// quote, or the template expression on the same line that took the closing quote for the
// start of another text.
func brokenQuote(stack []opener) hclsyntax.Token {
	top := stack[len(stack)-1].token
	for i := len(stack) - 2; i >= 0; i-- {
		o := stack[i].token
		isTemplate := o.Type == hclsyntax.TokenTemplateInterp || o.Type == hclsyntax.TokenTemplateControl
		if isTemplate && o.Range.Start.Line == top.Range.Start.Line {
			return o
		}
	}
	return top
}

// blockStart is the innermost opener, unless the file's blocks show that an earlier one is
// guilty: a top-level block's opener at indent 0 inside another one.
func blockStart(stack []opener, lines []string) hclsyntax.Token {
	for i := 1; i < len(stack); i++ {
		if stack[i].token.Type == hclsyntax.TokenOBrace && stack[i].indent == 0 && stack[i-1].indent == 0 &&
			stack[i].token.Range.Start.Line > stack[i-1].token.Range.Start.Line {
			return stack[i-1].token
		}
	}
	if first := stack[0]; len(stack) == 1 && first.token.Type == hclsyntax.TokenOBrace {
		return first.token
	}
	return stack[len(stack)-1].token
}

func indentOf(lines []string, line int) int {
	if line < 1 || line > len(lines) {
		return 0
	}
	l := lines[line-1]
	return len(l) - len(strings.TrimLeft(l, " \t"))
}

func startsLine(lines []string, t hclsyntax.Token) bool {
	line := t.Range.Start.Line
	return line <= len(lines) && strings.HasPrefix(strings.TrimLeft(lines[line-1], " \t"), string(t.Bytes))
}

func isOpener(t hclsyntax.TokenType) bool {
	return closerOf(t) != hclsyntax.TokenNil
}

func isCloser(t hclsyntax.TokenType) bool {
	switch t {
	case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc, hclsyntax.TokenTemplateSeqEnd:
		return true
	}
	return false
}

func matches(open, closed hclsyntax.TokenType) bool { return closerOf(open) == closed }

func closerOf(t hclsyntax.TokenType) hclsyntax.TokenType {
	switch t {
	case hclsyntax.TokenOBrace:
		return hclsyntax.TokenCBrace
	case hclsyntax.TokenOBrack:
		return hclsyntax.TokenCBrack
	case hclsyntax.TokenOParen:
		return hclsyntax.TokenCParen
	case hclsyntax.TokenOQuote:
		return hclsyntax.TokenCQuote
	case hclsyntax.TokenOHeredoc:
		return hclsyntax.TokenCHeredoc
	case hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
		return hclsyntax.TokenTemplateSeqEnd
	}
	return hclsyntax.TokenNil
}

func unclosedDiagnostic(t hclsyntax.Token) *hcl.Diagnostic {
	text := strings.TrimSpace(string(t.Bytes))
	d := &hcl.Diagnostic{Severity: hcl.DiagError, Subject: t.Range.Ptr()}
	switch t.Type {
	case hclsyntax.TokenOQuote:
		d.Summary = "Unclosed quote"
		d.Detail = "The text that begins here has no closing quote on its line. Close it with \", write a quote inside it as \\\", or use a heredoc (<<EOT) for text of several lines."
	case hclsyntax.TokenOHeredoc:
		marker := strings.TrimLeft(text, "<-")
		d.Summary = "Unclosed heredoc"
		d.Detail = fmt.Sprintf("The text that begins here needs a line that holds only %s. Nothing may stand before it but spaces, nor behind it.", marker)
	case hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
		d.Summary = "Unclosed template expression"
		d.Detail = fmt.Sprintf("The %s that begins here has no closing }. To have these characters in the text, double the first: $${ or %%%%{.", text)
	default:
		closers := map[hclsyntax.TokenType]string{hclsyntax.TokenOBrace: "}", hclsyntax.TokenOBrack: "]", hclsyntax.TokenOParen: ")"}
		d.Summary = "Unclosed " + map[hclsyntax.TokenType]string{hclsyntax.TokenOBrace: "brace", hclsyntax.TokenOBrack: "bracket", hclsyntax.TokenOParen: "parenthesis"}[t.Type]
		d.Detail = fmt.Sprintf("The %s that is opened here is never closed by %s.", text, closers[t.Type])
	}
	return d
}
