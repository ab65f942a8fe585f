package dataplane

import "sync"

// Picker chooses ranks by the number of requests in flight, as heimdall's active-request-scorer with max-score-picker
// does: fewest wins, equals take turns. Ranks are named by host:port. The zero value is ready.
type Picker struct {
	mu     sync.Mutex
	active map[string]int
	turn   int
}

// Acquire returns one of the ranks and counts a request on it until Release; "" when there are none.
func (p *Picker) Acquire(ranks []string) string {
	if len(ranks) == 0 {
		return ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.active == nil {
		p.active = map[string]int{}
	}
	p.turn++
	best, least := "", 0
	for i := range ranks {
		r := ranks[(p.turn+i)%len(ranks)]
		if n := p.active[r]; best == "" || n < least {
			best, least = r, n
		}
	}
	p.active[best]++
	return best
}

// Release ends a request on a rank that Acquire returned.
func (p *Picker) Release(rank string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.active[rank]--; p.active[rank] <= 0 {
		delete(p.active, rank)
	}
}

// Active returns the number of requests in flight on a rank.
func (p *Picker) Active(rank string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.active[rank]
}
