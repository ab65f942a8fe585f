package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxElement bounds one element of a JSON array, bytes.
const maxElement = 64 << 20

// splitter cuts a JSON array, or a file with one value a line, into its elements without
// decoding them. It holds one element at a time.
type splitter struct {
	r     io.Reader
	buf   []byte
	from  int   // first byte of buf not given out yet
	base  int64 // offset in the file of buf[0]
	eof   bool
	array bool
	count int // elements given out
	ended bool
}

// newSplitter looks at the first character to tell an array from lines.
func newSplitter(r io.Reader) (*splitter, error) {
	s := &splitter{r: r, buf: make([]byte, 0, 256<<10)}
	const bom = "\xef\xbb\xbf"
	for len(s.buf) < len(bom) && !s.eof {
		if err := s.more(); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
	}
	if bytes.HasPrefix(s.buf, []byte(bom)) {
		s.from = len(bom)
	}
	c, err := s.skip()
	switch {
	case errors.Is(err, io.EOF):
		return nil, errors.New("the file is empty")
	case err != nil:
		return nil, err
	case c == '[':
		s.array = true
		s.from++
	case c != '{':
		return nil, fmt.Errorf("the file begins with %q; want a JSON array or one object a line", c)
	}
	return s, nil
}

// next returns the next element and its offset, valid until the next call; io.EOF after the
// last one.
func (s *splitter) next() (raw []byte, off int64, err error) {
	if s.ended {
		return nil, 0, io.EOF
	}
	c, err := s.skip()
	if errors.Is(err, io.EOF) && !s.array {
		return nil, 0, io.EOF
	}
	if err == nil && s.array && c != ']' && s.count > 0 {
		if c != ',' {
			return nil, 0, fmt.Errorf("byte %d: %q between two entries; want a comma or the array's end", s.offset(), c)
		}
		s.from++
		c, err = s.skip()
	} else if err == nil && s.array && c == ']' {
		s.from++
		return nil, 0, s.end()
	}
	if err == nil {
		raw, err = s.element(c)
	}
	off = s.offset() - int64(len(raw))
	switch {
	case errors.Is(err, io.EOF):
		return nil, 0, fmt.Errorf("the file ends in the middle of entry %d, which begins at byte %d; it is truncated", s.count, s.offset())
	case err != nil:
		return nil, 0, fmt.Errorf("entry %d at byte %d: %w", s.count, s.offset(), err)
	}
	s.count++
	return raw, off, nil
}

// end reads what follows the array: white space, or it is no array.
func (s *splitter) end() error {
	s.ended = true
	c, err := s.skip()
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	if err == nil {
		err = fmt.Errorf("byte %d: %q after the array's end", s.offset(), c)
	}
	return err
}

func (s *splitter) offset() int64 { return s.base + int64(s.from) }

// skip goes to the next character that is not white space and returns it.
func (s *splitter) skip() (byte, error) {
	for {
		for ; s.from < len(s.buf); s.from++ {
			if c := s.buf[s.from]; c != ' ' && c != '\n' && c != '\r' && c != '\t' {
				return c, nil
			}
		}
		if err := s.more(); err != nil {
			return 0, err
		}
	}
}

// element takes the value that begins with c.
func (s *splitter) element(c byte) ([]byte, error) {
	var v valueScan
	for n := 0; ; {
		end, done := v.scan(s.buf[s.from:], n)
		if done {
			raw := s.buf[s.from : s.from+end]
			s.from += end
			return raw, nil
		}
		n = end
		if n > maxElement {
			return nil, fmt.Errorf("more than %d MiB before its end", maxElement>>20)
		}
		err := s.more()
		if errors.Is(err, io.EOF) && c != '{' && c != '[' && c != '"' {
			return s.buf[s.from:], nil // a number at the end of a file
		}
		if err != nil {
			return nil, err
		}
	}
}

// more reads on, after making room.
func (s *splitter) more() error {
	if s.eof {
		return io.EOF
	}
	if s.from > 0 {
		s.base += int64(s.from)
		s.buf = s.buf[:copy(s.buf, s.buf[s.from:])]
		s.from = 0
	}
	if len(s.buf) == cap(s.buf) {
		s.buf = append(make([]byte, 0, 2*cap(s.buf)), s.buf...)
	}
	n, err := s.r.Read(s.buf[len(s.buf):cap(s.buf)])
	s.buf = s.buf[:len(s.buf)+n]
	if errors.Is(err, io.EOF) {
		s.eof = true
		if n > 0 {
			err = nil
		}
	}
	return err
}

// valueScan finds the end of a JSON value that arrives in parts.
type valueScan struct {
	depth    int
	inString bool
}

// scan goes on at byte at of b. It returns the value's end, or how far it came.
func (v *valueScan) scan(b []byte, at int) (end int, done bool) {
	for at < len(b) {
		if v.inString {
			if at = v.text(b, at); v.inString {
				return at, false
			}
			if v.depth == 0 {
				return at, true
			}
			continue
		}
		switch b[at] {
		case '"':
			v.inString = true
		case '{', '[':
			v.depth++
		case '}', ']':
			if v.depth == 0 {
				return at, true
			}
			if v.depth--; v.depth == 0 {
				return at + 1, true
			}
		case ',', ' ', '\n', '\r', '\t':
			if v.depth == 0 && at > 0 {
				return at, true
			}
		}
		at++
	}
	return at, false
}

// text goes on inside a string to the byte after its end. What is before at is there, too, so
// that a quotation mark's backslashes can be counted.
func (v *valueScan) text(b []byte, at int) int {
	for {
		i := bytes.IndexByte(b[at:], '"')
		if i < 0 {
			return len(b)
		}
		at += i + 1
		slashes := 0
		for k := at - 2; k >= 0 && b[k] == '\\'; k-- {
			slashes++
		}
		if slashes%2 == 0 {
			v.inString = false
			return at
		}
	}
}
