package tokenizer

import (
	"unicode/utf8"
)

// joints says between which characters a merge may reach. A token made across a boundary
// x|y needs a merge whose left part ends with x and whose right part begins with y; where
// the model has none, the text can be cut without changing its ids. That makes words of the
// long texts that models without a pre-tokenizer get, and words can be remembered.
type joints struct {
	ascii [utf8.RuneSelf][2]uint64
	rest  map[uint64]struct{}
	whole bool // cut nowhere
}

// newJoints reads the merges' parts. It gives up on models in which a byte's token takes
// part in a merge or some byte has none: there a character does not say what its symbol is.
func newJoints(pairs [][2]string, vocab map[string]int32, bytes *[256]int32) joints {
	j := joints{rest: map[uint64]struct{}{}}
	isByte := map[int32]bool{}
	for _, id := range bytes {
		j.whole = j.whole || id < 0
		isByte[id] = true
	}
	for _, p := range pairs {
		j.whole = j.whole || isByte[vocab[p[0]]] || isByte[vocab[p[1]]]
		left, _ := utf8.DecodeLastRuneInString(p[0])
		right, _ := utf8.DecodeRuneInString(p[1])
		j.add(left, right)
	}
	return j
}

func (j *joints) add(x, y rune) {
	if x < utf8.RuneSelf && y < utf8.RuneSelf {
		j.ascii[x][y>>6] |= 1 << (y & 63)
		return
	}
	j.rest[pairKey(x, y)] = struct{}{}
}

func (j *joints) joined(x, y rune) bool {
	if x < utf8.RuneSelf && y < utf8.RuneSelf {
		return j.ascii[x][y>>6]>>(y&63)&1 != 0
	}
	_, ok := j.rest[pairKey(x, y)]
	return ok
}

// each calls visit for the parts of text between which nothing merges, until it returns false.
func (j *joints) each(text string, visit func(part string) bool) bool {
	if j.whole || text == "" {
		return visit(text)
	}
	from := 0
	last, at := utf8.DecodeRuneInString(text)
	for at < len(text) {
		r, w := utf8.DecodeRuneInString(text[at:])
		if !j.joined(last, r) {
			if !visit(text[from:at]) {
				return false
			}
			from = at
		}
		last, at = r, at+w
	}
	return visit(text[from:])
}
