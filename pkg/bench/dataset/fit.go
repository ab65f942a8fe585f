package dataset

import (
	"context"
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"
)

// maxCounts is how often the end is sought for one start.
const maxCounts = 30

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
