package dataset

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// elements decodes the elements of a JSON array, or of a file with one value a line.
type elements struct {
	*json.Decoder
	array bool
}

// talkDecoder looks at the first character to tell an array from lines.
func talkDecoder(r *bufio.Reader) (elements, error) {
	for n := 1; ; n++ {
		b, err := r.Peek(n)
		if err != nil {
			return elements{}, errors.New("the file is empty")
		}
		switch c := b[n-1]; c {
		case ' ', '\t', '\r', '\n', 0xef, 0xbb, 0xbf:
			if n < r.Size() {
				continue
			}
			return elements{}, errors.New("the file begins with white space only")
		case '[':
			d := json.NewDecoder(r)
			_, err := d.Token()
			return elements{d, true}, err
		case '{':
			return elements{json.NewDecoder(r), false}, nil
		default:
			return elements{}, fmt.Errorf("the file begins with %q; want a JSON array or one object a line", c)
		}
	}
}

// InputOffset is where the next element begins, a comma and white space before it included.
func (e elements) InputOffset() int64 { return e.Decoder.InputOffset() }

// end checks that the array is closed.
func (e elements) end() error {
	if !e.array {
		return nil
	}
	t, err := e.Token()
	if err != nil {
		return io.ErrUnexpectedEOF
	}
	if t != json.Delim(']') {
		return fmt.Errorf("%v instead of the array's end", t)
	}
	return nil
}
