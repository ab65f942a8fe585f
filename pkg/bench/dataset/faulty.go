package dataset

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// faulty counts places with bytes that are not UTF-8, or with the characters that stand for
// such (U+FFFD) or end a text in C (NUL). They are left out of prompts.
type faulty struct {
	n     int64
	first string // where the first one is
}

func (f *faulty) found(n int64, where string) {
	if f.n == 0 {
		f.first = where
	}
	f.n += n
}

// warning says what was found, nothing when there is nothing.
func (f *faulty) warning(what string) []string {
	if f.n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d %s with bytes that are not UTF-8, or NUL or U+FFFD, the first: %s; these characters are left out of prompts", f.n, what, f.first)}
}

// cleanText leaves out what is not UTF-8, NUL and U+FFFD.
func cleanText(s string) (text string, clean bool) {
	if utf8.ValidString(s) && badEnd(s) < 0 {
		return s, true
	}
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || r == 0 {
			return -1
		}
		return r
	}, s), false
}

// badEnd is the end in bytes of a NUL or U+FFFD, -1 when there is none. Searching for each
// by itself is ten times as fast as strings.IndexAny.
func badEnd(s string) int {
	if i := strings.IndexByte(s, 0); i >= 0 {
		return i + 1
	}
	if i := strings.Index(s, "\ufffd"); i >= 0 {
		return i + len("\ufffd")
	}
	return -1
}

// utf8Check is an io.Writer that finds the first byte of a file that is not UTF-8.
type utf8Check struct {
	at   int64 // bytes seen, without rest
	rest []byte
	bad  int64 // -1: none so far
}

// Write looks at the next bytes of the file.
func (c *utf8Check) Write(b []byte) (int, error) {
	if c.bad >= 0 {
		return len(b), nil
	}
	n := len(b)
	if len(c.rest) > 0 {
		b = append(c.rest, b...)
		c.rest = nil
	}
	whole := len(b)
	for k := 1; k < utf8.UTFMax && k <= len(b); k++ {
		if i := len(b) - k; utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				whole = i
			}
			break
		}
	}
	if !utf8.Valid(b[:whole]) {
		c.bad = c.at + int64(firstInvalid(b[:whole]))
	}
	c.at += int64(whole)
	c.rest = append([]byte(nil), b[whole:]...)
	return n, nil
}

// end is the offset of the first invalid byte of the whole file, -1 when there is none.
func (c *utf8Check) end() int64 {
	if c.bad < 0 && len(c.rest) > 0 {
		return c.at
	}
	return c.bad
}

func firstInvalid(b []byte) int {
	for i := 0; i < len(b); {
		r, w := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && w == 1 {
			return i
		}
		i += w
	}
	return len(b)
}
