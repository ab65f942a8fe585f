package tokenizer

// scratch is what one goroutine needs while it encodes.
type scratch struct {
	out, own []int32
	// limit, when above 0, ends the work after the piece that reaches it; end is the byte
	// where the last piece within the limit ended.
	limit, end int
	symbols    []int32
	ranks      []int32
	merged     []int32
	next, prev []int32
	queue      []candidate
	words      []wordEntry
}

func (s *scratch) emit(id int32) { s.out = append(s.out, id) }

// wordEntry remembers a word's ids. The table is direct-mapped: a word replaces the one
// that hashes alike, so memory is bounded and nothing is ever evicted by a sweep.
type wordEntry struct {
	hash uint64
	word string
	ids  []int32
}

const (
	wordSlots = 1 << 15
	wordMax   = 40 // longer words are rarely seen twice
)
