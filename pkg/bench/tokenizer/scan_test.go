package tokenizer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// parts lists what a finder finds, with * for a match.
func parts(f finder, text string) (out []string) {
	f.each(text, func(from, to int, matched bool) bool {
		s := text[from:to]
		if matched {
			s = "*" + s
		}
		out = append(out, s)
		return true
	})
	return out
}

type pair struct {
	name            string
	scanner, engine finder
}

func pairs(tb testing.TB) (all []pair) {
	c := newClasses()
	for _, k := range knownPatterns() {
		engine, err := newPattern(k.expr)
		if err != nil {
			tb.Fatal(err)
		}
		s, ok := newScanner(k.expr, func() classes { return c })
		if !ok {
			tb.Fatalf("%s: no scanner", k.name)
		}
		all = append(all, pair{k.name, s, engine})
	}
	return all
}

func (p pair) check(tb testing.TB, text string) {
	tb.Helper()
	if a, b := parts(p.scanner, text), parts(p.engine, text); !slices.Equal(a, b) {
		tb.Errorf("%s: %q: scanner %q, engine %q", p.name, text, a, b)
	}
}

// Random strings of characters that the expressions tell apart, and of any characters.
func TestScannersAgree(t *testing.T) {
	alphabet := []string{
		"a", "B", "s", "'", "'", "S", "t", "T", "re", "VE", "ll", "m", "d", "ſ", "K", " ", " ", "  ", "\n", "\r", "\r\n", "\t", "\v", "\u0085", "\u00a0", "\u2028", "\u3000",
		"1", "23", "٣", "Ⅷ", "½", ".", "!", "/", "$", "+", "—", "€", "é", "É", "ß", "ǅ", "ʰ", "東", "の", "ー", "龥", "龦", "\u303f", "\u0301", "\u0903", "\u200d", "\x00", "\x7f", "\U000e0041", "\ufffd", "👍", "ª",
	}
	n := 60_000
	if testing.Short() {
		n = 6_000
	}
	for _, p := range pairs(t) {
		t.Run(p.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			for range n {
				var b strings.Builder
				for range 1 + rng.IntN(12) {
					if rng.IntN(20) > 0 {
						b.WriteString(alphabet[rng.IntN(len(alphabet))])
					} else if r := rune(rng.IntN(unicode.MaxRune + 1)); utf8.ValidRune(r) {
						b.WriteRune(r)
					}
				}
				if p.check(t, b.String()); t.Failed() {
					return
				}
			}
		})
	}
}

// Every code point, beside a letter, a mark, a digit, a space and itself.
func TestScannersKnowEveryCharacter(t *testing.T) {
	step := rune(1)
	if testing.Short() {
		step = 17
	}
	for _, p := range pairs(t) {
		t.Run(p.name, func(t *testing.T) {
			for r := rune(0); r <= unicode.MaxRune && !t.Failed(); r += step {
				if r < 0x3100 || utf8.ValidRune(r) && r%step == 0 {
					p.check(t, fmt.Sprintf("%cx%c%c 'x%c1 %c\n'%c", r, r, r, r, r, r))
				}
			}
		})
	}
}

func FuzzScanners(f *testing.F) {
	for _, s := range []string{"Hello, world! It's 2024.", "  \n\t x", "'ſ东京タワー", "ǅAbc'LL//\r\n", "e\u0301E\u0301"} {
		f.Add(s)
	}
	all := pairs(f)
	f.Fuzz(func(t *testing.T, text string) {
		text = validUTF8(text)
		for _, p := range all {
			p.check(t, text)
		}
	})
}

func TestUnknownExpressionsTakeTheEngine(t *testing.T) {
	tk := &Tokenizer{}
	if err := tk.addPattern(`\p{L}+x`, isolated, false); err != nil {
		t.Fatal(err)
	}
	if _, ok := tk.splits[0].find.(pattern); !ok {
		t.Errorf("%T", tk.splits[0].find)
	}
}
