package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"
	"unicode/utf8"
)

// corpus is a text with numbered places where prompts may start. Places are in the
// seed's order, so that prompt i is simply place i.
type corpus interface {
	// Places is how many places have first words of their own.
	Places() int64
	// Text is at least want bytes from place i on, fewer when the corpus ends.
	Text(ctx context.Context, i int64, want int) (string, error)
}

// minStride is the least distance of two places, bytes: more than a cache block of a
// server (16 tokens).
const minStride = 256

// body is a document's text in a file.
type body struct {
	path      string
	off, size int64
}

// stream is a corpus of documents laid end to end. Places are stride apart; when more
// are needed than that gives, those half-way between follow, then quarters, and so on.
// Prompts then share text, but never their beginning.
type stream struct {
	bodies []body
	starts []int64 // offset of each body in the whole
	total  int64   // bytes in which places may lie
	stride int64
	seed   int64
	places int64
	levels []level
	at     io.ReaderAt // holds all bodies; nil when each is in its own file
}

type level struct {
	first, step, offset int64
	order               order
	n                   int64
}

// newStream lays out bodies for prompts of about need bytes.
func newStream(bodies []body, need int, seed int64) *stream {
	s := &stream{bodies: bodies, stride: max(int64(need), minStride), seed: seed}
	for _, b := range bodies {
		s.starts = append(s.starts, s.total)
		s.total += b.size
	}
	s.total -= int64(need)
	for step, k := s.stride, 0; step >= minStride && s.total > 0; step, k = step/2, k+1 {
		l := level{first: s.places, step: step, n: s.total/step + 1}
		if k > 0 {
			l.step, l.offset = 2*step, step
			l.n = max(0, (s.total-step)/(2*step)+1)
		}
		if l.n <= 0 {
			break
		}
		l.order = newOrder(l.n, seed, k)
		s.places += l.n
		s.levels = append(s.levels, l)
	}
	return s
}

// Places counts all levels.
func (s *stream) Places() int64 { return s.places }

// separate is how many prompts have text of their own.
func (s *stream) separate() int64 {
	if len(s.levels) == 0 {
		return 0
	}
	return s.levels[0].n
}

// Text reads on from place i, across documents.
func (s *stream) Text(ctx context.Context, i int64, want int) (string, error) {
	k := sort.Search(len(s.levels), func(k int) bool { return s.levels[k].first > i }) - 1
	l := s.levels[k]
	return s.read(ctx, l.offset+l.step*l.order.at(i-l.first), want)
}

func (s *stream) read(ctx context.Context, at int64, want int) (string, error) {
	k := sort.Search(len(s.starts), func(k int) bool { return s.starts[k] > at }) - 1
	var out strings.Builder
	for in := at - s.starts[k]; k < len(s.bodies) && out.Len() < want; k, in = k+1, 0 {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		b := s.bodies[k]
		if out.Len() > 0 {
			out.WriteString("\n\n")
		}
		part, err := s.part(b, in, min(b.size-in, int64(max(0, want-out.Len()))))
		if err != nil {
			return "", err
		}
		out.Write(part)
	}
	text, _ := cleanText(wholeRunes(out.String()))
	return firstWord(text, at == 0), nil
}

// wholeRunes drops what is left of characters that the ends of a part cut through.
func wholeRunes(s string) string {
	for n := 0; n < utf8.UTFMax-1 && s != "" && !utf8.RuneStart(s[0]); n++ {
		s = s[1:]
	}
	for n := 1; n < utf8.UTFMax && n <= len(s); n++ {
		if k := len(s) - n; utf8.RuneStart(s[k]) {
			if !utf8.FullRuneInString(s[k:]) {
				s = s[:k]
			}
			break
		}
	}
	return s
}

// firstWord drops the rest of a word that the place cut through.
func firstWord(text string, whole bool) string {
	if whole {
		return text
	}
	return text[nextWord(text, 0):]
}

// part reads size bytes of a body from off on.
func (s *stream) part(b body, off, size int64) ([]byte, error) {
	if s.at == nil {
		return readAt(b.path, b.off+off, size)
	}
	out := make([]byte, size)
	_, err := s.at.ReadAt(out, b.off+off)
	return out, err
}

func readAt(path string, off, size int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	b := make([]byte, size)
	if _, err := f.ReadAt(b, off); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("%s at byte %d: %w; the file has changed since it was opened", path, off, err)
	}
	return b, nil
}
