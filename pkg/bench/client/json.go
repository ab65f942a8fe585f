package client

import "bytes"

// maxDepth bounds nesting, so that hostile input cannot exhaust the stack.
const maxDepth = 100

// walker reads JSON text in place: it finds values without building them, so that a
// chunk costs no allocation. Structure is checked; numbers and escapes loosely. After
// bad is set every method returns at once and results mean nothing.
type walker struct {
	b     []byte
	i     int
	depth int
	bad   bool
}

// peek skips white space and returns the next byte, 0 at the end.
func (w *walker) peek() byte {
	for w.i < len(w.b) {
		switch c := w.b[w.i]; c {
		case ' ', '\t', '\r', '\n':
			w.i++
		default:
			return c
		}
	}
	return 0
}

// got consumes c if it is next.
func (w *walker) got(c byte) bool {
	if w.peek() != c {
		return false
	}
	w.i++
	return true
}

func (w *walker) want(c byte) {
	if !w.got(c) {
		w.bad = true
	}
}

// object opens an object; each key is then had from key until it returns false.
func (w *walker) open(c byte) {
	w.want(c)
	if w.depth++; w.depth > maxDepth {
		w.bad = true
	}
}

// key returns the next key of an object that open('{') began (first tells the first
// call) and stands before its value; false at the object's end.
func (w *walker) key(first bool) ([]byte, bool) {
	if w.bad || !w.more('}', first) {
		return nil, false
	}
	k := w.str()
	w.want(':')
	return k, !w.bad
}

// more tells whether another member follows and stands before it.
func (w *walker) more(end byte, first bool) bool {
	if w.bad {
		return false
	}
	if w.got(end) {
		w.depth--
		return false
	}
	if !first {
		w.want(',')
	}
	return !w.bad
}

// str consumes a string and returns its raw bytes between the quotes, escapes kept.
func (w *walker) str() []byte {
	w.want('"')
	if w.bad {
		return nil
	}
	start := w.i
	for {
		n := bytes.IndexByte(w.b[w.i:], '"')
		if n < 0 {
			w.bad = true
			return nil
		}
		esc := bytes.IndexByte(w.b[w.i:w.i+n], '\\')
		if esc < 0 {
			w.i += n + 1
			return w.b[start : w.i-1]
		}
		if w.i += esc + 2; w.i > len(w.b) {
			w.bad = true
			return nil
		}
	}
}

// num consumes a value and returns it when it is a whole number of at most 9 digits.
func (w *walker) num() (int32, bool) {
	w.peek()
	start := w.i
	w.skip()
	if w.bad || w.i == start || w.i-start > 9 {
		return 0, false
	}
	v := int32(0)
	for _, c := range w.b[start:w.i] {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = v*10 + int32(c-'0')
	}
	return v, true
}

// skip consumes one value of any kind.
func (w *walker) skip() {
	switch w.peek() {
	case '{':
		w.open('{')
		for first := true; ; first = false {
			if _, ok := w.key(first); !ok {
				return
			}
			w.skip()
		}
	case '[':
		w.open('[')
		for first := true; w.more(']', first); first = false {
			w.skip()
		}
	case '"':
		w.str()
	default:
		w.literal()
	}
}

// literal consumes a number, true, false or null.
func (w *walker) literal() {
	start := w.i
	for w.i < len(w.b) && isLiteral(w.b[w.i]) {
		w.i++
	}
	if w.i == start {
		w.bad = true
	}
}

func isLiteral(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c == '-' || c == '+' || c == '.' || c == 'E'
}
