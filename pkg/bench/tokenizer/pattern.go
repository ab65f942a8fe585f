package tokenizer

import (
	"fmt"

	"github.com/dlclark/regexp2/v2"
)

// pattern finds a regular expression that no scanner knows. The library's default mode agrees with Oniguruma
// on everything that tokenizer files use; its RE2 mode does not (\s would be ASCII).
type pattern struct{ re *regexp2.Regexp }

func newPattern(expr string) (finder, error) {
	re, err := regexp2.Compile(expr)
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", expr, err)
	}
	return pattern{re}, nil
}

func (p pattern) each(text string, visit func(from, to int, matched bool) bool) {
	all, err := p.re.FindAllStringIndex(text, -1)
	if err != nil {
		// Only a time limit makes matching fail, and none is set.
		panic(fmt.Sprintf("tokenizer: pattern %s: %v", p.re, err))
	}
	at := 0
	for _, m := range all {
		if m[0] == m[1] {
			continue
		}
		if at < m[0] && !visit(at, m[0], false) {
			return
		}
		if !visit(m[0], m[1], true) {
			return
		}
		at = m[1]
	}
	if at < len(text) {
		visit(at, len(text), false)
	}
}

// gpt2 is ByteLevel's own pattern.
const gpt2 = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

// preTokenizers appends a pre-tokenizer's steps; byteLevel tells whether bytes are mapped.
func (t *Tokenizer) preTokenizers(p *preSpec) (byteLevel bool, err error) {
	if p == nil {
		return false, nil
	}
	switch p.Type {
	case "Sequence":
		for i := range p.PreTokenizers {
			sub, err := t.preTokenizers(&p.PreTokenizers[i])
			if err != nil {
				return false, err
			}
			byteLevel = byteLevel || sub
		}
		return byteLevel, nil
	case "Split":
		return false, t.addSplit(p)
	case "Digits":
		expr := `\p{N}+`
		if p.IndividualDigits {
			expr = `\p{N}`
		}
		return false, t.addPattern(expr, isolated, false)
	case "ByteLevel":
		t.prefixSpace = p.AddPrefixSpace
		if p.UseRegex == nil || *p.UseRegex {
			return true, t.addPattern(gpt2, isolated, false)
		}
		return true, nil
	}
	return false, fmt.Errorf("pre_tokenizer %q is not supported; Sequence, Split, Digits and ByteLevel are", p.Type)
}

func (t *Tokenizer) addSplit(p *preSpec) error {
	rule, ok := behaviours()[p.Behavior]
	if !ok {
		return fmt.Errorf("pre_tokenizer Split with behavior %q is not supported", p.Behavior)
	}
	switch {
	case p.Pattern.Regex != nil:
		return t.addPattern(*p.Pattern.Regex, rule, p.Invert)
	case p.Pattern.String != nil && *p.Pattern.String != "":
		t.splits = append(t.splits, split{literal(*p.Pattern.String), rule, p.Invert})
		return nil
	}
	return fmt.Errorf("pre_tokenizer Split without a pattern")
}

// charClasses makes the table once, when the first scanner needs it.
func (t *Tokenizer) charClasses() classes {
	if t.classes == nil {
		t.classes = newClasses()
	}
	return t.classes
}

// addPattern adds a step: by a scanner of our own where there is one for the expression.
func (t *Tokenizer) addPattern(expr string, rule behaviour, invert bool) error {
	find, known := newScanner(expr, t.charClasses)
	if !known {
		var err error
		if find, err = newPattern(expr); err != nil {
			return err
		}
	}
	t.splits = append(t.splits, split{find, rule, invert})
	return nil
}
