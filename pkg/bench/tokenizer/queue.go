package tokenizer

// candidate is a pair that can be merged, unless one of its halves has changed since.
type candidate struct {
	rank, at int32
	a, b, id int32
}

func (x candidate) before(y candidate) bool {
	return x.rank < y.rank || x.rank == y.rank && x.at < y.at
}

// mergeQueue merges s.symbols with a queue and a linked list: n log n for long pieces.
func (m *model) mergeQueue(s *scratch) {
	sym, n := s.symbols, len(s.symbols)
	s.next, s.prev, s.queue = s.next[:0], s.prev[:0], s.queue[:0]
	for i := range n {
		s.next, s.prev = append(s.next, int32(i+1)), append(s.prev, int32(i-1)) //nolint:gosec // pieces are far below 2 GiB
	}
	for i := range n {
		m.offer(s, i, i+1)
	}
	for len(s.queue) > 0 {
		c := s.pop()
		i := int(c.at)
		j := int(s.next[i])
		if sym[i] != c.a || j >= n || sym[j] != c.b {
			continue
		}
		sym[i], sym[j] = c.id, -1
		s.next[i] = s.next[j]
		if k := int(s.next[i]); k < n {
			s.prev[k] = c.at
			m.offer(s, i, k)
		}
		if k := int(s.prev[i]); k >= 0 {
			m.offer(s, k, i)
		}
	}
	for i := 0; i < n; i = int(s.next[i]) {
		s.emit(sym[i])
	}
}

// offer queues the pair at i and j if it can be merged.
func (m *model) offer(s *scratch, i, j int) {
	if j >= len(s.symbols) {
		return
	}
	a, b := s.symbols[i], s.symbols[j]
	if rank, id := m.merges.get(a, b); rank != noRank {
		s.push(candidate{rank, int32(i), a, b, id}) //nolint:gosec // see mergeQueue
	}
}

func (s *scratch) push(c candidate) {
	h := append(s.queue, c)
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !h[i].before(h[up]) {
			break
		}
		h[i], h[up] = h[up], h[i]
		i = up
	}
	s.queue = h
}

func (s *scratch) pop() candidate {
	h := s.queue
	top, last := h[0], len(h)-1
	h[0] = h[last]
	h = h[:last]
	for i := 0; ; {
		c := 2*i + 1
		if c >= last {
			break
		}
		if c+1 < last && h[c+1].before(h[c]) {
			c++
		}
		if !h[c].before(h[i]) {
			break
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
	s.queue = h
	return top
}
