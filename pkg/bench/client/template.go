package client

import "bytes"

// template recognizes chunks that differ from an earlier one only in their text, as nearly
// all of a stream do: id, model and the empty members repeat. What such a chunk says is
// then known without reading its JSON again, which saves most of what a token costs
// beside the system call.
type template struct {
	b    []byte // what stood before the text and after it
	head int    // length of the part before
	// chunk is what the chunk said, without its text; its slices are empty.
	chunk chunk
	ready bool
}

func (t *template) reset() { *t = template{b: t.b[:0]} }

// learn keeps the shape of a chunk that was read from data. Chunks that carry more than
// text are rare or count (usage), so they are not kept.
func (t *template) learn(data []byte, c *chunk) {
	if len(c.text) == 0 || c.usage || c.fail || len(c.finish) > 0 || len(c.failText) > 0 {
		return
	}
	at := cap(data) - cap(c.text) // text is a part of data
	t.head = at
	t.b = append(append(t.b[:0], data[:at]...), data[at+len(c.text):]...)
	t.chunk, t.ready = *c, true
	t.chunk.text = nil
}

// match tells what data says when it has the shape that was learned. The text must end
// where it seems to: one with a quote or an escape is left to the parser.
func (t *template) match(data []byte, c *chunk) bool {
	n := len(data) - len(t.b)
	if !t.ready || n <= 0 || !bytes.Equal(data[:t.head], t.b[:t.head]) || !bytes.Equal(data[t.head+n:], t.b[t.head:]) {
		return false
	}
	text := data[t.head : t.head+n]
	if bytes.IndexByte(text, '"') >= 0 || bytes.IndexByte(text, '\\') >= 0 {
		return false
	}
	*c = t.chunk
	c.text = text
	return true
}
