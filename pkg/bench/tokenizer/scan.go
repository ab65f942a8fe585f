package tokenizer

import (
	"strings"
	"unicode/utf8"
)

// scanner finds what one known regular expression matches, by hand: several times faster
// than a general engine, and checked against it by TestScannersAgree and FuzzScanners.
// match returns the end of the match that begins at byte i of s, -1 when none begins there.
type scanner struct {
	expr    string
	classes classes
	match   func(c classes, s string, i int) int
}

// newScanner returns the scanner of an expression; false when there is none for it.
func newScanner(expr string, c func() classes) (finder, bool) {
	// Files write line ends as themselves or as escapes.
	expr = strings.NewReplacer("\r", `\r`, "\n", `\n`).Replace(expr)
	for _, k := range knownPatterns() {
		if k.expr == expr {
			return &scanner{expr, c(), k.match}, true
		}
	}
	return nil, false
}

// knownPattern is a row of the table of expressions with a scanner.
type knownPattern struct {
	name, expr string
	match      func(c classes, s string, i int) int
}

// knownPatterns is the table. Line ends are written as escapes.
func knownPatterns() []knownPattern {
	const tail = `|\s*[\r\n]+|\s+(?!\S)|\s+`
	const endings = `(?i:'s|'t|'re|'ve|'m|'ll|'d)`
	const up, low = `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`, `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`
	const before = `[^\r\n\p{L}\p{N}]?`
	cl100k := func(digits string) string {
		return endings + `|` + before + `\p{L}+|` + digits + `| ?[^\s\p{L}\p{N}]+[\r\n]*` + tail
	}
	o200k := func(ending, digits string) string {
		return before + up + `*` + low + `+` + ending + `|` + before + up + `+` + low + `*` + ending + `|` + digits + `| ?[^\s\p{L}\p{N}]+[\r\n/]*` + tail
	}
	return []knownPattern{
		{"digits by three", `\p{N}{1,3}`, func(c classes, s string, i int) int { return digits(c, s, i, 3) }},
		{"digits one by one", `\p{N}`, func(c classes, s string, i int) int { return digits(c, s, i, 1) }},
		{"digits", `\p{N}+`, func(c classes, s string, i int) int { return digits(c, s, i, len(s)) }},
		{"DeepSeek's Han and kana", `[一-龥぀-ゟ゠-ヿ]+`, scanHanKana},
		{"DeepSeek", "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*" + tail, scanDeepSeek},
		{"GPT-2", gpt2, scanGPT2},
		{"Llama 3", cl100k(`\p{N}{1,3}`), func(c classes, s string, i int) int { return scanCL100K(c, s, i, 3) }},
		{"Qwen", cl100k(`\p{N}`), func(c classes, s string, i int) int { return scanCL100K(c, s, i, 1) }},
		{"gpt-oss", o200k(endings+`?`, `\p{N}{1,3}`), func(c classes, s string, i int) int { return scanO200K(c, s, i, 3, true) }},
		{"Mistral", o200k("", `\p{N}`), func(c classes, s string, i int) int { return scanO200K(c, s, i, 1, false) }},
	}
}

func (sc *scanner) each(text string, visit func(from, to int, matched bool) bool) {
	from := 0 // of what did not match
	for i := 0; i < len(text); {
		end := sc.match(sc.classes, text, i)
		if end < 0 {
			i += width(text, i)
			continue
		}
		if from < i && !visit(from, i, false) {
			return
		}
		if !visit(i, end, true) {
			return
		}
		i, from = end, end
	}
	if from < len(text) {
		visit(from, len(text), false)
	}
}

func width(s string, i int) int {
	if s[i] < utf8.RuneSelf {
		return 1
	}
	_, w := utf8.DecodeRuneInString(s[i:])
	return w
}

// at is the class and width of the character at byte i; nothing and 0 at the end.
func (c classes) at(s string, i int) (class, int) {
	if i >= len(s) {
		return 0, 0
	}
	if b := s[i]; b < utf8.RuneSelf {
		return c[b], 1
	}
	r, w := utf8.DecodeRuneInString(s[i:])
	return c[r], w
}

// run is the end of the characters from byte i on that have one of the properties.
func (c classes) run(s string, i int, any class) int {
	for {
		k, w := c.at(s, i)
		if k&any == 0 {
			return i
		}
		i += w
	}
}

// runNot is the end of the characters from byte i on that have none of the properties.
func (c classes) runNot(s string, i int, any class) int {
	for {
		k, w := c.at(s, i)
		if w == 0 || k&any != 0 {
			return i
		}
		i += w
	}
}
