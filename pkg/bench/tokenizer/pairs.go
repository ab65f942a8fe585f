package tokenizer

import "math/bits"

// pairTable maps a pair of ids to the rank and id of what they merge to. It is a table with
// open addressing, written once: looking up is most of the work of encoding a new word, and
// a map takes three times as long.
type pairTable struct {
	slots []pairSlot
	shift uint
}

// pairSlot holds a<<32|b and rank<<32|id; noPair marks a free one.
type pairSlot struct{ key, value uint64 }

const noPair = ^uint64(0)

func newPairTable(n int) pairTable {
	size := bits.Len(uint(max(8, 2*n) - 1))                                  //nolint:gosec // a count
	t := pairTable{slots: make([]pairSlot, 1<<size), shift: uint(64 - size)} //nolint:gosec // at most 64
	for i := range t.slots {
		t.slots[i].key = noPair
	}
	return t
}

// slot is where the key is, or the free place where it would be.
func (t *pairTable) slot(key uint64) *pairSlot {
	i := int(key * 0x9e3779b97f4a7c15 >> t.shift) //nolint:gosec // below the table's size
	for {
		s := &t.slots[i]
		if s.key == key || s.key == noPair {
			return s
		}
		i = (i + 1) & (len(t.slots) - 1)
	}
}

func (t *pairTable) set(a, b, rank, id int32) {
	key := pairKey(a, b)
	*t.slot(key) = pairSlot{key, uint64(uint32(rank))<<32 | uint64(uint32(id))} //nolint:gosec // halves of a word
}

// get returns noRank for a pair that does not merge.
func (t *pairTable) get(a, b int32) (rank, id int32) {
	s := t.slot(pairKey(a, b))
	if s.key == noPair {
		return noRank, 0
	}
	return int32(s.value >> 32), int32(uint32(s.value)) //nolint:gosec // two halves that were put in as int32
}

func pairKey(a, b int32) uint64 { return uint64(uint32(a))<<32 | uint64(uint32(b)) } //nolint:gosec // halves of a word
