package sim

import (
	"container/heap"
	"math/rand/v2"
	"time"
)

// Load is what Predict plays against the model: the arrival rules of
// `vllm bench serve` (Poisson arrivals rescaled to end at Requests/Rate, a
// semaphore of Concurrency) and the trimming of the published tool.
type Load struct {
	// Preset names the engine model.
	Preset string
	// Requests, InputTokens and OutputTokens describe the requests; every output
	// has exactly OutputTokens tokens (ignore_eos).
	Requests, InputTokens, OutputTokens int
	// DistinctPrompts is the number of different prompts; 0 means all differ. It
	// matters only with PrefixCaching.
	DistinctPrompts int
	// PrefixCaching switches the engines' prefix cache on.
	PrefixCaching bool
	// Rate is in requests per second; Concurrency caps the requests in flight.
	Rate        float64
	Concurrency int
	// PrefillRanks and DecodeRanks count data-parallel ranks over all instances.
	// With PrefillRanks 0 the decode ranks do both.
	PrefillRanks, DecodeRanks int
	// StreamScale is Config.StreamScale; 0 means 1.
	StreamScale float64
	// Warmup and Cooldown bound the window: it begins Warmup after the first
	// start and ends Cooldown before the last end.
	Warmup, Cooldown time.Duration
	// Seed makes arrivals and jitter reproducible.
	Seed uint64
}

// Predict plays the load against the model in virtual time, with the code that
// the server runs in real time, and returns the row that the published tool
// would print. It needs no sockets; 32,400 requests of 2,000 tokens on 40 ranks
// take about a second. It panics on an unknown preset or a load without ranks.
func Predict(l Load) Row {
	p, ok := PresetByName(l.Preset)
	if !ok || l.DecodeRanks < 1 || l.Requests < 1 || l.Concurrency < 1 {
		panic("sim: Predict needs a known preset, requests, concurrency and decode ranks")
	}
	w := newWorld(l, p)
	w.play()
	return w.row()
}

// world is the virtual client, scheduler and engines of one prediction.
type world struct {
	load    Load
	p       Preset
	prefill []*virtualRank
	decode  []*virtualRank
	events  eventHeap
	order   uint64
	now     time.Duration

	offsets []time.Duration
	next    int // next request to send
	armed   int // the request whose arrival is in events
	flying  int
	reqs    []virtualRequest
	chains  [][]uint64
	gaps    []gapSample
	turns   [2]int // of decode and prefill ranks: where pick looks first
}

type virtualRank struct {
	e        *engine
	active   int
	busy     bool
	streams  bool // its tokens reach the client
	lastStep time.Duration
	wakeAt   time.Duration
}

type virtualRequest struct {
	start, first, end time.Duration
	decode            *virtualRank
	prefill           *virtualRank
}

// gapSample is n inter-token gaps of the same length that ended at the same time.
type gapSample struct {
	at, gap time.Duration
	n       int
	tokens  int // token events at that time, first tokens included
}

type event struct {
	at    time.Duration
	order uint64
	rank  *virtualRank // nil: an arrival is due
	end   bool         // a step ends (else the rank looks for work)
}

type eventHeap []event

func (h eventHeap) Len() int { return len(h) }
func (h eventHeap) Less(i, j int) bool {
	if h[i].at != h[j].at {
		return h[i].at < h[j].at
	}
	return h[i].order < h[j].order
}
func (h eventHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push is container/heap's.
func (h *eventHeap) Push(x any) { *h = append(*h, x.(event)) }

// Pop is container/heap's.
func (h *eventHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

func newWorld(l Load, p Preset) *world {
	w := &world{load: l, p: p, reqs: make([]virtualRequest, l.Requests), offsets: poisson(l.Requests, l.Rate, l.Seed)}
	scale := max(1, l.StreamScale)
	ranks := func(n int, base uint64) []*virtualRank {
		rs := make([]*virtualRank, n)
		for i := range rs {
			rs[i] = &virtualRank{e: newEngine(p, scale, l.PrefixCaching, l.Seed+base+uint64(i))}
		}
		return rs
	}
	w.prefill, w.decode = ranks(l.PrefillRanks, 1000), ranks(l.DecodeRanks, 2000)
	for _, r := range w.decode {
		r.streams = true
	}
	if l.PrefixCaching {
		w.chains = promptChains(l.DistinctPrompts, l.Requests, l.InputTokens)
	}
	return w
}

// poisson draws offsets whose last one is exactly n/rate.
func poisson(n int, rate float64, seed uint64) []time.Duration {
	rng := rand.New(rand.NewPCG(seed, 1))
	at, sum := make([]float64, n), 0.0
	for i := range at {
		sum += rng.ExpFloat64()
		at[i] = sum
	}
	out := make([]time.Duration, n)
	for i := range out {
		out[i] = time.Duration(at[i] / sum * float64(n) / rate * float64(time.Second))
	}
	return out
}

func promptChains(distinct, requests, tokens int) [][]uint64 {
	if distinct == 0 {
		distinct = requests
	}
	chains := make([][]uint64, distinct)
	for i := range chains {
		chains[i] = make([]uint64, tokens/blockSize)
		for j := range chains[i] {
			chains[i][j] = uint64(i)<<32 | uint64(j)
		}
	}
	return chains
}

func (w *world) schedule(at time.Duration, r *virtualRank, end bool) {
	w.order++
	heap.Push(&w.events, event{at: at, order: w.order, rank: r, end: end})
}

func (w *world) play() {
	w.schedule(w.offsets[0], nil, false)
	for w.events.Len() > 0 {
		ev := heap.Pop(&w.events).(event)
		w.now = ev.at
		switch {
		case ev.rank == nil:
			w.arrive()
		case ev.end:
			w.stepEnd(ev.rank)
		case !ev.rank.busy && ev.at == ev.rank.wakeAt:
			w.step(ev.rank)
		}
	}
}

// arrive sends every request that is due while slots are free.
func (w *world) arrive() {
	for w.next < len(w.offsets) && w.flying < w.load.Concurrency && w.offsets[w.next] <= w.now {
		w.send(w.next)
		w.next++
	}
	if w.next < len(w.offsets) && w.flying < w.load.Concurrency && w.armed < w.next {
		w.armed = w.next // one event for each request that is waited for
		w.schedule(w.offsets[w.next], nil, false)
	}
}

func (w *world) send(i int) {
	w.flying++
	r := &w.reqs[i]
	r.start, r.decode = w.now, w.pick(w.decode, &w.turns[0])
	s := &seq{prompt: w.load.InputTokens, max: w.load.OutputTokens, owner: r}
	if w.chains != nil {
		s.hashes = w.chains[i%len(w.chains)]
	}
	rank := r.decode
	if len(w.prefill) > 0 {
		r.prefill = w.pick(w.prefill, &w.turns[1])
		rank, s.max = r.prefill, 1
	}
	rank.e.submit(w.now, s)
	w.poke(rank)
}

// pick is the active-request scorer: the rank with the fewest requests that it
// was given and that are not finished; ties go round.
func (w *world) pick(ranks []*virtualRank, turn *int) *virtualRank {
	*turn++
	best := ranks[*turn%len(ranks)]
	for i := range ranks {
		if r := ranks[(*turn+i)%len(ranks)]; r.active < best.active {
			best = r
		}
	}
	best.active++
	return best
}

func (w *world) poke(r *virtualRank) {
	if !r.busy {
		w.step(r)
	}
}

func (w *world) step(r *virtualRank) {
	dur, wake, ok := r.e.plan(w.now)
	switch {
	case ok:
		r.busy = true
		w.schedule(w.now+dur, r, true)
	case wake > 0:
		r.wakeAt = w.now + wake
		w.schedule(r.wakeAt, r, false)
	}
}

func (w *world) stepEnd(r *virtualRank) {
	r.busy = false
	e := r.e
	had := len(e.running)
	e.commit(w.now)
	if r.streams {
		w.sample(r, had)
	}
	for _, s := range e.done {
		w.finish(s)
	}
	e.reap()
	r.lastStep = w.now
	w.step(r)
	w.arrive()
}

// sample notes the gaps of the sequences that ran before this step and of those
// that came back after a preemption, and the first tokens.
func (w *world) sample(r *virtualRank, had int) {
	if had > 0 {
		w.gaps = append(w.gaps, gapSample{at: w.now, gap: w.now - r.lastStep, n: had, tokens: had})
	}
	for _, s := range r.e.joined {
		if s.state != seqRunning {
			continue
		}
		req := s.owner.(*virtualRequest)
		if s.preempted == 0 {
			req.first = w.now
		}
		w.gaps = append(w.gaps, gapSample{at: w.now, tokens: 1})
	}
}

// finish moves a request on: from prefill to decode, or out.
func (w *world) finish(s *seq) {
	r := s.owner.(*virtualRequest)
	if r.prefill != nil && s.max == 1 && !s.remote {
		ready := w.now + w.p.Transfer + w.p.TransferPerToken*time.Duration(s.prompt)
		r.decode.e.submit(w.now, &seq{prompt: s.prompt, max: w.load.OutputTokens, remote: true, ready: ready, owner: r})
		r.prefill.active--
		w.poke(r.decode)
		return
	}
	r.end = w.now
	r.decode.active--
	w.flying--
}
