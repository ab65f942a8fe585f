package sim

// prefixCache remembers which KV blocks were computed, by chained hash, and
// forgets the least recently used ones about when the KV cache would be full.
// Two generations stand in for an exact LRU list: cheap, and deterministic.
type prefixCache struct {
	limit int
	young map[uint64]struct{}
	old   map[uint64]struct{}
}

func newPrefixCache(blocks int) *prefixCache {
	return &prefixCache{limit: max(1, min(blocks, 1<<20)/2), young: map[uint64]struct{}{}, old: map[uint64]struct{}{}}
}

// match is the number of leading blocks of the chain that are known.
func (c *prefixCache) match(chain []uint64) int {
	for i, h := range chain {
		if _, ok := c.young[h]; ok {
			continue
		}
		if _, ok := c.old[h]; !ok {
			return i
		}
	}
	return len(chain)
}

// put makes all blocks of the chain recently used.
func (c *prefixCache) put(chain []uint64) {
	for _, h := range chain {
		c.young[h] = struct{}{}
	}
	if len(c.young) >= c.limit {
		c.old, c.young = c.young, map[uint64]struct{}{}
	}
}
