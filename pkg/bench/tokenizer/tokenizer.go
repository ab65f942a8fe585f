package tokenizer

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// Tokenizer is a loaded tokenizer.json. It is safe for concurrent use.
type Tokenizer struct {
	path, hash string
	model      model
	normal     []normalizer
	splits     []split
	classes    classes // nil when no step needs it
	// prefixSpace puts a space before a text that has none, as ByteLevel may ask.
	prefixSpace bool
	raw, normed matcher // added tokens sought before and after normalization
	control     matcher // those that no ordinary text should hold
	texts       []string
	special     map[int32]bool
	facts       Facts
	scratch     sync.Pool // *scratch
}

// Facts are what a server is likely to add to a prompt.
type Facts struct {
	// BOS is the token at the beginning of a prompt; -1 when the files say there is none.
	BOS int32
	// Added is how many special tokens one encoded text gets: what vLLM adds to the prompt
	// of a completion.
	Added int
	// ChatTemplate is tokenizer_config.json's template, "" when there is none.
	ChatTemplate string
}

// Hash is the SHA-256 of tokenizer.json, hex.
func (t *Tokenizer) Hash() string { return t.hash }

// Path is the file's path.
func (t *Tokenizer) Path() string { return t.path }

// Size is one more than the greatest id.
func (t *Tokenizer) Size() int { return len(t.texts) }

// Facts tells about BOS and the chat template.
func (t *Tokenizer) Facts() Facts { return t.facts }

// Special tells whether an id is one of the special added tokens, or stands for nothing.
func (t *Tokenizer) Special(id int32) bool {
	return id < 0 || int(id) >= len(t.texts) || t.special[id] || t.texts[id] == ""
}

// Encode returns the text's ids without special tokens of its own. Added tokens that are
// written out in the text become their ids, as they do in a server.
func (t *Tokenizer) Encode(text string) []int32 {
	return t.AppendEncode(make([]int32, 0, len(text)/4+1), text)
}

// AppendEncode appends the text's ids to dst.
func (t *Tokenizer) AppendEncode(dst []int32, text string) []int32 {
	s := t.borrow()
	defer t.scratch.Put(s)
	s.out = dst
	t.encode(s, text)
	dst, s.out = s.out, nil
	return dst
}

// Count is len(Encode(text)).
func (t *Tokenizer) Count(text string) int {
	s := t.borrow()
	defer t.scratch.Put(s)
	s.out = s.own[:0]
	t.encode(s, text)
	n := len(s.out)
	s.own, s.out = s.out, nil
	return n
}

// Prefix returns the end in bytes of the longest prefix of text that consists of whole
// pieces and has at most n tokens. It knows nothing of added tokens, so it is a good guess
// and no promise; 0 says that there is none.
func (t *Tokenizer) Prefix(text string, n int) int {
	if len(t.splits) == 0 && !t.model.chars || t.prefixSpace || !utf8.ValidString(text) {
		return 0
	}
	normal := t.normalized(text)
	s := t.borrow()
	defer t.scratch.Put(s)
	s.out = s.own[:0]
	s.end, s.limit = 0, n
	t.splitFrom(s, normal, 0)
	s.own, s.out, s.limit = s.out, nil, 0
	if normal == text {
		return s.end
	}
	end := min(len(text), t.original(normal[:s.end]))
	for end > 0 && end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}
	return end
}

// Reserved returns the end in bytes of the first control token written out in text, -1
// when there is none. Control tokens are those marked special and those written with bars
// (DeepSeek does not mark <｜User｜>); other added tokens, such as Gemma's for runs of white
// space, are ordinary text.
func (t *Tokenizer) Reserved(text string) int {
	_, end, _, ok := t.control.find(text, 0)
	if !ok {
		return -1
	}
	return end
}

// Decode returns the ids' bytes as text, with U+FFFD for what is not UTF-8. Special tokens
// come out as they are written. It undoes byte-level encodings; for byte-fallback ones it
// maps ▁ to a space and leaves the first one in place.
func (t *Tokenizer) Decode(ids []int32) string {
	var b strings.Builder
	for _, id := range ids {
		if id >= 0 && int(id) < len(t.texts) {
			b.WriteString(t.texts[id])
		}
	}
	return strings.ToValidUTF8(b.String(), "\ufffd")
}

func (t *Tokenizer) encode(s *scratch, text string) {
	if !utf8.ValidString(text) {
		text = validUTF8(text)
	}
	t.raw.each(text, s.emit, func(part string) {
		part = t.normalized(part)
		t.normed.each(part, s.emit, func(piece string) {
			if t.prefixSpace && piece != "" && piece[0] != ' ' {
				piece = " " + piece
			}
			t.splitFrom(s, piece, 0)
		})
	})
}

// validUTF8 replaces each maximal invalid part by U+FFFD.
func validUTF8(text string) string {
	var b strings.Builder
	for _, r := range text {
		b.WriteRune(r)
	}
	return b.String()
}

func (t *Tokenizer) normalized(text string) string {
	for _, n := range t.normal {
		text = n.apply(text)
	}
	return text
}

func (t *Tokenizer) borrow() *scratch {
	if s, ok := t.scratch.Get().(*scratch); ok {
		return s
	}
	return &scratch{}
}
