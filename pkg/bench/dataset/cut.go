package dataset

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// errShort says that the text ended before the wanted number of tokens.
var errShort = errors.New("text too short")

// cutter makes texts of exactly n tokens out of longer ones.
type cutter struct {
	counter Counter
	taken   taker // where not nil, a start that had to move avoids the beginnings of others
}

const (
	maxStarts = 40 // starts tried before a text is given up
	maxCounts = 30 // counts for one start
)

// cut returns head plus a part of text that together have exactly n tokens. The part
// begins at a word start and ends at a word end where that is possible, else inside a
// word; it neither begins nor ends with white space, so that chat templates that trim
// change nothing. errShort means that more text may help.
//
// Where no end at this start gives n tokens, words after the first block are left out, one
// more at each try, so that the beginning stays what it is; only where that cannot be (the
// prompt is short, its beginning has a control token) does the start move.
func (c cutter) cut(ctx context.Context, head, text string, n int) (string, error) {
	if n < 1 {
		return "", fmt.Errorf("a prompt of %d tokens cannot be cut", n)
	}
	text = text[nextStart(text, 0):]
	if keep := nextWord(text, min(len(text), blockMost)); n >= keepTokens && c.reserved(text[:keep]) < 0 {
		if cut, err := c.leaveOut(ctx, head, text, keep, n); !errors.Is(err, errNoCut) {
			return cut, err
		}
	}
	return c.move(ctx, head, text, n)
}

// keepTokens is the least prompt in which a beginning of blockMost bytes is kept.
const keepTokens = blockMost

// errNoCut says that all tries were in vain.
var errNoCut = errors.New("no such cut")

// leaveOut cuts text[:keep] and what follows a growing gap.
func (c cutter) leaveOut(ctx context.Context, head, text string, keep, n int) (string, error) {
	from, win := keep, text
	for range maxStarts {
		if from >= len(text) {
			return "", errShort
		}
		if from > keep {
			win = text[:keep] + text[from:]
		}
		if end := c.reserved(win[:min(len(win), 6*n+64)]); end > 0 {
			from += max(1, end-keep)
			from = nextStart(text, nextRune(text, from))
			continue
		}
		end, err := c.fit(ctx, head, win, n)
		if err != nil {
			return "", err
		}
		if end > 0 && c.reserved(win[:end]) < 0 {
			return head + win[:end], nil
		}
		from = nextWord(text, from)
	}
	return "", errNoCut
}

// nextRune is the first byte at or after at that begins a character.
func nextRune(s string, at int) int {
	for at < len(s) && !utf8.RuneStart(s[at]) {
		at++
	}
	return min(at, len(s))
}

// move cuts at one start after the other.
func (c cutter) move(ctx context.Context, head, text string, n int) (string, error) {
	at := 0
	for range maxStarts {
		at = nextStart(text, at)
		if at >= len(text) {
			return "", errShort
		}
		if taken, err := c.isTaken(ctx, text[at:], at > 0); err != nil {
			return "", err
		} else if taken {
			at = nextWord(text, at)
			continue
		}
		if end := c.reserved(text[at:min(len(text), at+6*n+64)]); end > 0 {
			at += end
			continue
		}
		end, err := c.fit(ctx, head, text[at:], n)
		if err != nil {
			return "", err
		}
		if end > 0 && c.reserved(text[at:at+end]) < 0 {
			return head + text[at:at+end], nil
		}
		at = nextWord(text, at)
	}
	if c.taken != nil {
		// A text that repeats itself has no start of its own; any is better than none.
		c.taken = nil
		return c.move(ctx, head, text, n)
	}
	return "", fmt.Errorf("no cut of %d tokens in %d starts of the text %.40q", n, maxStarts, text)
}

func (c cutter) isTaken(ctx context.Context, text string, moved bool) (bool, error) {
	if !moved || c.taken == nil {
		return false, nil
	}
	return c.taken.Taken(ctx, text)
}

func (c cutter) reserved(s string) int {
	if i := strings.IndexAny(s, "\x00\ufffd"); i >= 0 {
		_, size := utf8.DecodeRuneInString(s[i:])
		return i + size
	}
	if r, ok := c.counter.(reserver); ok {
		return r.Reserved(s)
	}
	return -1
}

// bracket is the state of the search for the end: lo has too few tokens, hi too many.
type bracket struct {
	lo, hi   int // bytes
	loN, hiN int // tokens; hiN is -1 before anything was too long
}

// fit finds the end in bytes of the prefix of win that makes head+prefix n tokens; 0
// when there is none at this start.
func (c cutter) fit(ctx context.Context, head, win string, n int) (int, error) {
	b := bracket{hi: len(win) + 1, hiN: -1}
	if head != "" {
		k, err := c.counter.Count(ctx, head)
		if err != nil || k >= n {
			return 0, errors.Join(err, tooLongHead(k, n))
		}
		b.loN = k
	}
	at, exactWord := b.first(c.counter, win, n)
	for range maxCounts {
		end := at
		if !exactWord {
			end = b.pick(win, at)
		}
		exactWord = false
		switch {
		case end <= 0 && b.hiN < 0:
			return 0, errShort
		case end <= 0:
			return 0, nil
		}
		k, err := c.counter.Count(ctx, head+win[:end])
		switch {
		case err != nil:
			return 0, err
		case k == n:
			return end, nil
		case k < n && end == len(win):
			return 0, errShort
		case k < n:
			b.lo, b.loN = end, k
		default:
			b.hi, b.hiN = end, k
		}
		at = b.interpolate(n)
	}
	return 0, nil
}

func tooLongHead(k, n int) error {
	if k < n {
		return nil
	}
	return fmt.Errorf("the shared beginning of a prompt has %d tokens, the whole prompt is to have %d", k, n)
}

// first is where to begin: the counter's own guess or 4.2 bytes a token.
func (b *bracket) first(c Counter, win string, n int) (at int, exact bool) {
	if g, ok := c.(guesser); ok {
		if end := g.Guess(win, n-b.loN); end > 0 {
			return end, endsWord(win, end)
		}
	}
	return min(len(win), max(1, (n-b.loN)*42/10)), false
}

// interpolate is where n tokens should be reached by the counts so far.
func (b *bracket) interpolate(n int) int {
	if b.hiN < 0 {
		per := 4.2
		if b.loN > 0 && b.lo > 0 {
			per = float64(b.lo) / float64(b.loN)
		}
		return b.lo + max(1, int(float64(n-b.loN)*per))
	}
	return b.lo + int(float64(b.hi-b.lo)*float64(n-b.loN)/float64(max(1, b.hiN-b.loN)))
}

// pick is the word end between lo and hi nearest to at, or a character's end when the
// bracket lies in one word; 0 when nothing is left.
func (b *bracket) pick(win string, at int) int {
	at = max(b.lo+1, min(at, b.hi-1, len(win)))
	for end := at; end < b.hi && end <= len(win); end++ {
		if endsWord(win, end) {
			return end
		}
	}
	for end := at - 1; end > b.lo; end-- {
		if endsWord(win, end) {
			return end
		}
	}
	for end := at; end < b.hi && end <= len(win); end++ {
		if endsRune(win, end) {
			return end
		}
	}
	for end := at - 1; end > b.lo; end-- {
		if endsRune(win, end) {
			return end
		}
	}
	return 0
}

// endsWord tells whether a word of s ends at byte end.
func endsWord(s string, end int) bool {
	if !endsRune(s, end) {
		return false
	}
	next, _ := utf8.DecodeRuneInString(s[end:])
	return end == len(s) || unicode.IsSpace(next)
}

// endsRune tells whether a character that is not white space ends at byte end.
func endsRune(s string, end int) bool {
	if end < len(s) && !utf8.RuneStart(s[end]) {
		return false
	}
	r, _ := utf8.DecodeLastRuneInString(s[:end])
	return !unicode.IsSpace(r)
}

// nextStart is the first byte at or after at that begins a character other than space.
func nextStart(s string, at int) int {
	for at < len(s) {
		r, size := utf8.DecodeRuneInString(s[at:])
		if !unicode.IsSpace(r) && (r != utf8.RuneError || size > 1) {
			return at
		}
		at += size
	}
	return at
}

// nextWord is the start of the word after the one at at. Where words have no spaces
// between them it is some characters on.
func nextWord(s string, at int) int {
	const far = 6
	for n := 0; at < len(s); n++ {
		r, size := utf8.DecodeRuneInString(s[at:])
		at += size
		if unicode.IsSpace(r) || n >= far {
			return nextStart(s, at)
		}
	}
	return at
}
