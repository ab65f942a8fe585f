package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"unicode/utf8"
)

// charsPerToken is the approximation's one parameter: English under the tokenizers of
// large models has about four characters a token.
const charsPerToken = 4

// maxText bounds how much of a source is held in memory, bytes.
const maxText = 256 << 20

// TextOptions describe an approximate text source.
type TextOptions struct {
	// Path is a .txt file or a directory of them, searched recursively.
	Path string
	// Tokens is the prompt length aimed at.
	Tokens int
	// Prompts bounds the number of different prompts; prompt i repeats prompt i mod Prompts.
	// 0 means no bound.
	Prompts int64
	Seed    int64
}

// Text cuts prompts from text files to approximately the wanted length. It knows no
// tokenizer and says so in Info.
type Text struct {
	o    TextOptions
	text string
	hash string
}

var _ Source = (*Text)(nil)

// NewText reads the source. It fails when there is less text than one prompt needs.
func NewText(o TextOptions) (*Text, error) {
	if o.Tokens < 1 {
		return nil, fmt.Errorf("dataset %s: a prompt of %d tokens cannot be cut", o.Path, o.Tokens)
	}
	text, err := readText(o.Path)
	if err != nil {
		return nil, err
	}
	if need := (o.Tokens + 8) * charsPerToken; len(text) < 2*need {
		return nil, fmt.Errorf("dataset %s: %d bytes of text are too few for prompts of %d tokens; at least %d are needed", o.Path, len(text), o.Tokens, 2*need)
	}
	sum := sha256.Sum256([]byte(text))
	return &Text{o: o, text: text, hash: hex.EncodeToString(sum[:])}, nil
}

// Prompt cuts prompt i at a word boundary near its pseudo-random place.
func (t *Text) Prompt(_ context.Context, i int64) (Prompt, error) {
	if t.o.Prompts > 0 {
		i %= t.o.Prompts
	}
	size := t.o.Tokens * charsPerToken
	start := wordStart(t.text, int(place(t.o.Seed, i)%uint64(len(t.text)-size-64))) //nolint:gosec // len is far below 1<<63
	end := start + size
	for end < len(t.text) && !utf8.RuneStart(t.text[end]) {
		end++
	}
	return Prompt{Text: strings.TrimSpace(t.text[start:min(end, len(t.text))]), Tokens: t.o.Tokens, OffsetNS: -1}, nil
}

// Info says that the lengths are approximate.
func (t *Text) Info() Info {
	info := Info{Kind: "text", Path: t.o.Path, Hash: t.hash, LengthRule: fmt.Sprintf("approximate: %d characters a token", charsPerToken), Distinct: -1}
	if t.o.Prompts > 0 {
		info.Distinct = t.o.Prompts
	}
	return info
}

// place spreads prompts over the text, by seed and index only.
func place(seed, i int64) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d/%d", seed, i)
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return x
}

func wordStart(text string, at int) int {
	for i := at; i < len(text) && i < at+64; i++ {
		if text[i] == ' ' || text[i] == '\n' {
			return i + 1
		}
	}
	for !utf8.RuneStart(text[at]) {
		at++
	}
	return at
}

func readText(path string) (string, error) {
	files, err := textFiles(path)
	if err != nil {
		return "", fmt.Errorf("dataset %s: %w", path, err)
	}
	var b strings.Builder
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			return "", fmt.Errorf("dataset %s: %w", path, err)
		}
		if b.Len()+len(src) > maxText {
			break
		}
		b.Write(src)
		b.WriteString("\n")
	}
	return strings.ToValidUTF8(b.String(), " "), nil
}

func textFiles(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{path}, err
	}
	var files []string
	err = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(p, ".txt") {
			files = append(files, p)
		}
		return err
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("no .txt file in the directory")
	}
	sort.Strings(files)
	return files, err
}
