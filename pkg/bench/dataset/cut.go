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

// errNoCut says that all tries were in vain.
var errNoCut = errors.New("no such cut")

// maxStarts is how many starts are tried before a text is given up.
const maxStarts = 40

// cutter makes texts of exactly n tokens out of longer ones.
type cutter struct {
	counter Counter
}

// cut returns head plus a part of text that together have exactly n tokens. The part
// begins at a word start and ends at a word end where that is possible, else inside a
// word; it neither begins nor ends with white space, so that chat templates that trim
// change nothing. errShort means that more text may help.
//
// Where no end at this start gives n tokens, words after the first block are left out, one
// more at each try, so that the beginning stays what it is. Where that cannot be (the
// prompt is short, its beginning has a control token) the start moves, and lead, which no
// other prompt has, goes before it.
func (c cutter) cut(ctx context.Context, head, lead, text string, n int) (string, error) {
	if n < 1 {
		return "", fmt.Errorf("a prompt of %d tokens cannot be cut", n)
	}
	text = text[nextStart(text, 0):]
	cut, err := c.leaveOut(ctx, head, text, n)
	if err == nil {
		var same bool
		if same, err = c.sameBlock(ctx, cut[len(head):], text, n); err == nil && !same {
			err = errNoCut
		}
	}
	if !errors.Is(err, errNoCut) {
		return cut, err
	}
	return c.move(ctx, head+lead, text, n)
}

// leaveOut cuts text, or its beginning and what follows a growing gap.
func (c cutter) leaveOut(ctx context.Context, head, text string, n int) (string, error) {
	keep, from, win := 0, 0, text
	for range maxStarts {
		if from > 0 {
			win = text[:keep] + text[from:]
		}
		control := c.reserved(win[:min(len(win), 6*n+64)])
		if control < 0 {
			end, err := c.fit(ctx, head, win, n)
			if err != nil {
				return "", err
			}
			if end > 0 && c.reserved(win[:end]) < 0 {
				return head + win[:end], nil
			}
		}
		if from == 0 {
			var err error
			if keep, err = c.keep(ctx, text, n); err != nil {
				return "", err
			}
			if keep == 0 {
				return "", errNoCut
			}
			from = keep
		}
		if from = c.after(text, from, keep, control); from >= len(text) {
			return "", errShort
		}
	}
	return "", errNoCut
}

// after is where a longer gap ends: behind the control token that ends at byte control of the
// text with the gap, or a word on.
func (c cutter) after(text string, from, keep, control int) int {
	if control < 0 {
		return nextWord(text, from)
	}
	from += max(1, control-keep)
	return nextStart(text, nextRune(text, from))
}

// keep is the end in bytes of a beginning that makes out a prompt's first block, with which
// there is still something to be left out; 0 when there is none.
func (c cutter) keep(ctx context.Context, text string, n int) (int, error) {
	for size := blockMost; size >= 4*blockTokens; size /= 2 {
		end := nextWord(text, min(len(text), size))
		if c.reserved(text[:end]) >= 0 {
			continue
		}
		if n >= blockMost {
			return end, nil
		}
		k, err := c.counter.Count(ctx, text[:end])
		if err != nil || k <= n/2 {
			return end, err
		}
	}
	return 0, nil
}

// sameBlock tells whether a cut begins as its place does. Prompts of less than a block share
// none.
func (c cutter) sameBlock(ctx context.Context, cut, text string, n int) (bool, error) {
	if n < blockTokens || len(cut) >= blockMost && cut[:blockMost] == text[:min(len(text), blockMost)] {
		return true, nil
	}
	is, err := firstBlock(ctx, c.counter, cut)
	if err != nil {
		return false, err
	}
	want, err := firstBlock(ctx, c.counter, text)
	return is == want, err
}

// nextRune is the first byte at or after at that begins a character.
func nextRune(s string, at int) int {
	for at < len(s) && !utf8.RuneStart(s[at]) {
		at++
	}
	return min(at, len(s))
}

// move cuts at one start after the other. Where the ends of all lie in long runs of white
// space, these are shortened.
func (c cutter) move(ctx context.Context, head, text string, n int) (string, error) {
	cut, err := c.anyStart(ctx, head, text, n)
	if !errors.Is(err, errNoCut) {
		return cut, err
	}
	if short := shortGaps(text); len(short) < len(text) {
		cut, err = c.anyStart(ctx, head, short, n)
	}
	if errors.Is(err, errNoCut) {
		err = fmt.Errorf("no cut of %d tokens in %d starts of the text %.40q", n, maxStarts, text)
	}
	return cut, err
}

// longGap is how much white space in a row is left as it is, bytes.
const longGap = 64

// shortGaps puts an empty line in the place of long runs of white space.
func shortGaps(text string) string {
	var b strings.Builder
	for text != "" {
		word := strings.IndexFunc(text, unicode.IsSpace)
		if word < 0 {
			word = len(text)
		}
		b.WriteString(text[:word])
		text = text[word:]
		gap := nextStart(text, 0)
		if gap > longGap {
			b.WriteString("\n\n")
		} else {
			b.WriteString(text[:gap])
		}
		text = text[gap:]
	}
	return b.String()
}

func (c cutter) anyStart(ctx context.Context, head, text string, n int) (string, error) {
	at := 0
	for range maxStarts {
		at = nextStart(text, at)
		if at >= len(text) {
			return "", errShort
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
	return "", errNoCut
}

func (c cutter) reserved(s string) int {
	if end := badEnd(s); end >= 0 {
		return end
	}
	if r, ok := c.counter.(reserver); ok {
		return r.Reserved(s)
	}
	return -1
}
