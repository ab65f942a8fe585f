package tokenizer

import (
	"hash/maphash"
	"math"
	"strings"
	"unicode/utf8"
)

// model is byte-pair encoding.
type model struct {
	vocab        map[string]int32 // raw bytes (byte-level) or characters to id
	merges       pairTable
	seed         maphash.Seed // of the memory of words
	bytes        [256]int32   // id of each byte, -1 when it has none
	ignoreMerges bool
	// chars: symbols start as characters, with bytes for those not in the vocabulary.
	chars   bool
	joints  joints // of a model whose symbols start as characters
	unk     int32  // -1 when there is none
	fuseUnk bool
}

// scanMax is up to how many symbols scanning for the best pair beats a queue.
const scanMax = 48

const noRank = math.MaxInt32

// encode appends the ids of one piece.
func (m *model) encode(s *scratch, piece string) {
	switch {
	case len(piece) == 1 && !m.chars:
		s.emit(m.bytes[piece[0]])
	case len(piece) <= wordMax:
		m.word(s, piece)
	default:
		m.merge(s, piece)
	}
}

// word is merge with a memory of recent words.
func (m *model) word(s *scratch, piece string) {
	if s.words == nil {
		s.words = make([]wordEntry, wordSlots)
	}
	h := maphash.String(m.seed, piece)
	e := &s.words[h%wordSlots]
	if e.hash == h && e.word == piece {
		s.out = append(s.out, e.ids...)
		return
	}
	n := len(s.out)
	m.merge(s, piece)
	e.hash, e.word, e.ids = h, strings.Clone(piece), append([]int32(nil), s.out[n:]...)
}

// merge is the model itself.
func (m *model) merge(s *scratch, piece string) {
	if m.ignoreMerges {
		if id, ok := m.vocab[piece]; ok {
			s.emit(id)
			return
		}
	}
	if m.chars {
		m.characters(s, piece)
	} else {
		s.symbols = s.symbols[:0]
		for i := range len(piece) {
			s.symbols = append(s.symbols, m.bytes[piece[i]])
		}
	}
	if len(s.symbols) > scanMax {
		m.mergeQueue(s)
	} else {
		m.mergeScan(s)
	}
}

// mergeScan merges s.symbols, always the leftmost pair of the best rank.
func (m *model) mergeScan(s *scratch) {
	sym, rank, id := s.symbols, s.ranks[:0], s.merged[:0]
	for i := range sym {
		r, k := int32(noRank), int32(0)
		if i+1 < len(sym) {
			r, k = m.merges.get(sym[i], sym[i+1])
		}
		rank, id = append(rank, r), append(id, k)
	}
	for {
		best, at := int32(noRank), -1
		for i, r := range rank {
			if r < best {
				best, at = r, i
			}
		}
		if at < 0 {
			break
		}
		sym[at] = id[at]
		n := len(sym) - 1
		copy(sym[at+1:], sym[at+2:])
		copy(rank[at+1:], rank[at+2:])
		copy(id[at+1:], id[at+2:])
		sym, rank, id = sym[:n], rank[:n], id[:n]
		rank[at] = noRank
		if at+1 < n {
			rank[at], id[at] = m.merges.get(sym[at], sym[at+1])
		}
		if at > 0 {
			rank[at-1], id[at-1] = m.merges.get(sym[at-1], sym[at])
		}
	}
	s.symbols, s.ranks, s.merged = sym, rank, id
	s.out = append(s.out, sym...)
}

// characters sets s.symbols to the piece's characters, or their bytes.
func (m *model) characters(s *scratch, piece string) {
	s.symbols = s.symbols[:0]
	unknown := false
	for i, w := 0, 0; i < len(piece); i += w {
		_, w = utf8.DecodeRuneInString(piece[i:])
		if id, ok := m.vocab[piece[i:i+w]]; ok {
			s.symbols = append(s.symbols, id)
			unknown = false
			continue
		}
		if m.hasBytes(piece[i : i+w]) {
			for k := i; k < i+w; k++ {
				s.symbols = append(s.symbols, m.bytes[piece[k]])
			}
			unknown = false
			continue
		}
		if m.unk >= 0 && !(unknown && m.fuseUnk) {
			s.symbols = append(s.symbols, m.unk)
		}
		unknown = true
	}
}

func (m *model) hasBytes(char string) bool {
	for i := range len(char) {
		if m.bytes[char[i]] < 0 {
			return false
		}
	}
	return true
}
