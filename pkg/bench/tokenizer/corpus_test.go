package tokenizer

import (
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// document is a piece of test text and where it comes from.
type document struct{ corpus, text string }

// nastyCorpus is about size bytes of text from every source at hand, cut at random places
// into documents of 1 to 9,000 characters. It is the same for the same files.
func nastyCorpus(t *testing.T, dir string, tk *Tokenizer, size int) []document {
	t.Helper()
	rng := rand.New(rand.NewPCG(42, 7))
	data := filepath.Join(dir, "node_modules", "@stdlib")
	english := readTree(t, filepath.Join(data, "datasets-sotu", "data"), size/4, ".txt") + readTree(t, filepath.Join(data, "datasets-moby-dick", "data"), size/16, ".txt")
	sources := []struct{ name, text string }{
		{"english", english},
		{"go", readTree(t, goSource(t), size/12, ".go")},
		{"javascript", readTree(t, filepath.Join(dir, "node_modules", "@stdlib"), size/16, ".js")},
		{"json", readTree(t, filepath.Join(dir, "node_modules", "@stdlib"), size/32, ".json")},
		{"chinese and japanese", readTree(t, filepath.Join(dir, "texts"), size/4, ".txt")},
		{"vocabulary", vocabularyText(tk, rng, size/6)},
		{"assigned", assignedText(rng, size/48)},
		{"random code points", randomRunes(rng, size/40)},
		{"decomposed", norm.NFD.String(vocabularyText(tk, rng, size/24))},
	}
	for _, g := range generators() {
		sources = append(sources, struct{ name, text string }{g.name, g.make(tk, rng, size/g.share)})
	}
	var docs []document
	for _, s := range sources {
		docs = append(docs, chop(s.name, s.text, rng)...)
	}
	return docs
}

func goSource(t *testing.T) string {
	t.Helper()
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(strings.TrimSpace(string(root)), "src", "net")
}

func chop(name, text string, rng *rand.Rand) (docs []document) {
	text = strings.ToValidUTF8(text, "\ufffd")
	for text != "" {
		n := 1 + rng.IntN(9000)
		if rng.IntN(4) == 0 {
			n = 1 + rng.IntN(40)
		}
		end := min(n, len(text))
		for end < len(text) && !utf8.RuneStart(text[end]) {
			end++
		}
		docs = append(docs, document{name, text[:end]})
		text = text[end:]
	}
	return docs
}

// readTree concatenates up to size bytes of the files with one of the endings.
func readTree(t *testing.T, dir string, size int, endings ...string) string {
	t.Helper()
	var b strings.Builder
	if dir == "" {
		return ""
	}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || b.Len() >= size {
			return err
		}
		for _, e := range endings {
			if strings.HasSuffix(p, e) {
				return appendFile(&b, p, size)
			}
		}
		return nil
	})
	if err != nil {
		t.Logf("%s: %v", dir, err)
	}
	return b.String()[:min(size, b.Len())]
}

func appendFile(b *strings.Builder, path string, size int) error {
	f, err := os.Open(path)
	if err != nil {
		return nil //nolint:nilerr // a dangling link
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return nil //nolint:nilerr // not what its name says
		}
	}
	_, err = io.CopyN(b, r, int64(min(size-b.Len(), 256<<10)))
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return err
}

// vocabularyText strings random tokens together: all languages and scripts of the model.
func vocabularyText(tk *Tokenizer, rng *rand.Rand, size int) string {
	var b strings.Builder
	for b.Len() < size {
		if id := int32(rng.IntN(tk.Size())); !tk.Special(id) {
			b.WriteString(tk.texts[id])
		}
		if rng.IntN(3) == 0 {
			b.WriteByte(' ')
		}
	}
	return strings.ToValidUTF8(b.String(), "")
}

func assignedText(rng *rand.Rand, size int) string {
	var all []rune
	for r := rune(1); r <= unicode.MaxRune; r++ {
		if assigned(r) && !unicode.Is(unicode.Co, r) {
			all = append(all, r)
		}
	}
	var b strings.Builder
	for b.Len() < size {
		b.WriteRune(all[rng.IntN(len(all))])
	}
	return b.String()
}

func assigned(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs)
}

func randomRunes(rng *rand.Rand, size int) string {
	var b strings.Builder
	for b.Len() < size {
		limit := []int{0x80, 0x250, 0x3000, 0xffff, unicode.MaxRune}[rng.IntN(5)]
		if r := rune(1 + rng.IntN(limit)); utf8.ValidRune(r) {
			b.WriteRune(r)
		}
	}
	return b.String()
}

type generator struct {
	name  string
	share int
	make  func(*Tokenizer, *rand.Rand, int) string
}

func generators() []generator {
	pick := func(units ...string) func(*Tokenizer, *rand.Rand, int) string {
		return func(_ *Tokenizer, rng *rand.Rand, size int) string {
			var b strings.Builder
			for b.Len() < size {
				b.WriteString(strings.Repeat(units[rng.IntN(len(units))], 1+rng.IntN(3)))
			}
			return b.String()
		}
	}
	return []generator{
		{"white space", 32, pick(" ", "  ", "\n", "\r\n", "\t", "\u00a0", "\u2003", "\u3000", "\v", "\u0085", "a", "word", ".", "1")},
		{"digits", 64, pick("0", "1", "42", "2024", "٣", "४", "七", "９", "½", "Ⅷ", " ", ",", ".", "a")},
		{"punctuation", 40, pick("!", "...", "—", "“", "”", "'s", "'S", "'ll", "'ſ", "K", "//", "/", "{", "})", "\n", " ", "_", "a", "É", "ß")},
		{"emoji", 32, pick("👩‍👩‍👧‍👦", "🇰🇷", "👍🏽", "❤️", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "😀", " ", "ok", "1️⃣")},
		{"long runs", 40, longRuns},
		{"added tokens", 160, addedText},
		{"replaced", 64, func(tk *Tokenizer, rng *rand.Rand, size int) string {
			b := []byte(vocabularyText(tk, rng, size))
			for range len(b) / 20 {
				b[rng.IntN(len(b))] ^= byte(1 << rng.IntN(8))
			}
			return validUTF8(string(b))
		}},
	}
}

func longRuns(_ *Tokenizer, rng *rand.Rand, size int) string {
	var b strings.Builder
	for b.Len() < size {
		unit := []string{"a", "ab", " ", "\n", "=", "-", "7", "好", "é", "の", "ha", "\t"}[rng.IntN(12)]
		b.WriteString(strings.Repeat(unit, 1+rng.IntN(3000)))
	}
	return b.String()
}

func addedText(tk *Tokenizer, rng *rand.Rand, size int) string {
	var all []string
	for _, m := range []*matcher{&tk.raw, &tk.normed} {
		for _, list := range m.byFirst {
			for _, a := range list {
				all = append(all, a.Content)
			}
		}
	}
	var b strings.Builder
	for b.Len() < size && len(all) > 0 {
		s := all[rng.IntN(len(all))]
		b.WriteString(s[:len(s)-rng.IntN(2)*(len(s)/3)])
		b.WriteString([]string{"", " ", "x", "\n", "  y"}[rng.IntN(5)])
	}
	return b.String()
}
