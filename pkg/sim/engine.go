package sim

import (
	"math"
	"math/rand/v2"
	"time"
)

// blockSize is vLLM's default number of tokens in a KV block; only whole
// blocks are found again by the prefix cache.
const blockSize = 16

// seq is one request inside an engine. Times are offsets on the engine's
// (virtual) clock.
type seq struct {
	prompt int
	max    int      // output tokens to produce
	hashes []uint64 // chained hashes of the prompt's whole blocks; nil: not cacheable
	remote bool     // the prompt's KV cache is delivered by a prefill engine
	ready  time.Duration

	left      int // prompt tokens still to compute
	cached    int // prompt tokens found in the prefix cache
	produced  int // tokens produced before the current stay in running
	base      int64
	doneAt    int64
	kv        int // KV tokens held when it joined running (without those produced since)
	idx       int // position in running
	state     seqState
	preempted int

	position float64 // ghost tokens that must be done before (stream scale)

	arrived   time.Duration
	scheduled time.Duration
	first     time.Duration

	owner any // the HTTP stream or the predicted request
}

type seqState uint8

const (
	seqWaiting seqState = iota
	seqPrefilling
	seqStarting
	seqRunning
	seqGone
)

// engine is the model of one data-parallel rank: a waiting queue, a KV cache and
// a batch that advances in lock-step, one token per running sequence and step.
// It has no clock and no goroutine: its owner calls plan, waits for the step's
// duration, then calls commit and reap. The server does so in real time, Predict
// in virtual time. Not safe for concurrent use.
type engine struct {
	p     Preset
	scale float64
	rng   *rand.Rand
	cache *prefixCache // nil: prefix caching off

	waiting  []*seq
	running  []*seq
	starting []*seq
	joined   []*seq // those of starting at the last commit, i.e. first tokens of the step
	done     []*seq
	finish   map[int64][]*seq
	stepNo   int64
	kvUsed   int // by waiting (prefilling), starting and running sequences
	ghosts   ghostWork
	attended float64 // of the latest prompt, in thousands: what ghosts attend to

	preemptions uint64
	queries     uint64
	hits        uint64
}

func newEngine(p Preset, scale float64, caching bool, seed uint64) *engine {
	e := &engine{p: p, scale: scale, finish: map[int64][]*seq{}, rng: rand.New(rand.NewPCG(seed, seed^0x9e3779b97f4a7c15))}
	if caching {
		e.cache = newPrefixCache(p.KVTokens / blockSize)
	}
	return e
}

// submit queues s; now is the engine's time.
func (e *engine) submit(now time.Duration, s *seq) {
	s.arrived, s.state, s.left = now, seqWaiting, s.prompt
	if s.remote {
		s.left = 0
	}
	if e.scale > 1 {
		e.ghosts.drip(now)
		s.position = e.ghosts.taken + e.ghosts.queued
	}
	e.waiting = append(e.waiting, s)
}

// kvCap is the capacity in simulated tokens: one stands for scale real ones.
func (e *engine) kvCap() int { return int(float64(e.p.KVTokens) / e.scale) }

func (e *engine) maxSeqs() int { return max(1, int(float64(e.p.MaxNumSeqs)/e.scale)) }

// kvUsage is the used share of the KV cache, 0 to 1.
func (e *engine) kvUsage() float64 {
	return math.Min(1, float64(e.kvUsed)/float64(max(1, e.kvCap())))
}

// numWaiting and numRunning are what vLLM's gauges count.
func (e *engine) numWaiting() int {
	n := 0
	for _, s := range e.waiting {
		if s.state == seqWaiting {
			n++
		}
	}
	return n
}

func (e *engine) numRunning() int {
	return len(e.running) + len(e.starting) + len(e.waiting) - e.numWaiting()
}

// work is what one step has to do.
type work struct {
	tokens float64 // prompt tokens computed
	reqs   float64 // prompts touched
	pairs  float64 // prompt tokens times the thousands of tokens they attend to
	admits float64 // KV caches taken over
}

// plan schedules the next step at time now and returns its duration. When there
// is nothing to do ok is false and, if a KV transfer is under way, wake is the
// time until it is complete (else 0: wait for submit).
func (e *engine) plan(now time.Duration) (dur, wake time.Duration, ok bool) {
	e.makeRoom()
	w := work{}
	budget := float64(e.p.MaxBatchedTokens) - float64(len(e.running))*e.scale
	if e.scale > 1 {
		e.ghosts.drip(now)
		w.tokens, w.reqs, w.admits = e.ghosts.take(budget - e.foreground(budget))
		w.pairs = w.tokens * e.attended
		budget -= w.tokens
	}
	wake = e.admit(now, budget, &w)
	if len(e.running)+len(e.starting) == 0 && w.tokens == 0 {
		return 0, sooner(wake, e.ghosts.wake()), false
	}
	return e.cost(w), 0, true
}

// foreground is how many tokens of the budget belong to waiting sequences whose
// turn comes before the ghosts queued behind them.
func (e *engine) foreground(budget float64) float64 {
	sum := 0.0
	for _, s := range e.waiting {
		if !s.remote && s.position <= e.ghosts.taken+budget {
			sum += float64(s.left)
		}
	}
	return math.Min(sum, budget)
}

// admit moves waiting sequences into the step, first come first served, as long
// as tokens, sequence slots and KV memory last.
func (e *engine) admit(now time.Duration, budget float64, w *work) (wake time.Duration) {
	keep := e.waiting[:0]
	slots := e.maxSeqs() - len(e.running) - len(e.starting)
	blocked := false
	for _, s := range e.waiting {
		if s.state == seqGone {
			continue
		}
		if s.remote && s.ready > now && s.state == seqWaiting {
			keep = append(keep, s)
			wake = sooner(wake, s.ready-now)
			continue
		}
		take, ok := 0.0, false
		if !blocked && slots > 0 {
			take, ok = e.start(now, s, budget, w)
		}
		if ok {
			slots--
			budget -= take
		}
		if !ok || s.left > 0 { // a chunked prefill goes on in the next step
			blocked = true
			keep = append(keep, s)
			continue
		}
		s.state = seqStarting
		e.starting = append(e.starting, s)
	}
	clear(e.waiting[len(keep):])
	e.waiting = keep
	return wake
}

// sooner is the smaller of two delays of which zero means none.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || (b > 0 && b < a) {
		return b
	}
	return a
}

// start computes as much of s's prompt as the budget allows and returns how
// much; false when s cannot be scheduled in this step.
func (e *engine) start(now time.Duration, s *seq, budget float64, w *work) (float64, bool) {
	if !s.remote && (budget < 1 || s.position > e.ghosts.taken+1) {
		return 0, false
	}
	if s.state == seqWaiting {
		if e.kvUsed > 0 && e.kvUsed+s.prompt+s.produced+1 > e.kvCap() {
			return 0, false
		}
		e.reserve(now, s)
	}
	if s.remote {
		w.admits++
		e.ghosts.add(now, e.scale-1, 0, true)
		return 0, true
	}
	take := math.Floor(math.Min(float64(s.left), budget))
	s.left -= int(take)
	e.attended = (float64(s.kv-s.left) - take/2) / 1000
	w.tokens += take
	w.pairs += take * e.attended
	w.reqs++
	return take, true
}

// reserve takes KV memory for the prompt and looks it up in the prefix cache.
func (e *engine) reserve(now time.Duration, s *seq) {
	s.kv = s.prompt + s.produced
	e.kvUsed += s.kv
	s.state = seqPrefilling
	if s.preempted == 0 {
		s.scheduled = now
	}
	if s.remote {
		return
	}
	if e.cache != nil && s.hashes != nil {
		s.cached = min(e.cache.match(s.hashes)*blockSize, (s.prompt-1)/blockSize*blockSize)
		e.cache.put(s.hashes)
		e.queries += uint64(s.prompt)
		e.hits += uint64(s.cached)
	}
	s.left = s.kv - s.cached
	ghost := s.left
	if e.cache != nil && s.hashes != nil { // the others have the same prompt and find it in the cache
		ghost = s.kv - (s.prompt-1)/blockSize*blockSize
	}
	e.ghosts.add(now, (e.scale-1)*float64(ghost), e.scale-1, false)
}

// makeRoom preempts the youngest sequences until each running one can store one
// more token, as vLLM's recompute preemption does.
func (e *engine) makeRoom() {
	for len(e.running) > 1 && e.kvUsed+len(e.running) > e.kvCap() {
		victim := e.running[0]
		for _, s := range e.running {
			if s.scheduled >= victim.scheduled {
				victim = s
			}
		}
		victim.produced = e.producedBy(victim)
		e.release(victim)
		victim.state, victim.remote = seqWaiting, false
		victim.left = victim.prompt + victim.produced
		victim.preempted++
		e.preemptions++
		e.waiting = append([]*seq{victim}, e.waiting...)
	}
}

// producedBy is the number of tokens s has produced so far.
func (e *engine) producedBy(s *seq) int {
	if s.state == seqRunning {
		return int(e.stepNo - s.base)
	}
	return s.produced
}

// release takes s out of the batch and frees its memory.
func (e *engine) release(s *seq) {
	switch s.state {
	case seqRunning:
		e.kvUsed -= s.prompt + e.producedBy(s)
		last := len(e.running) - 1
		e.running[s.idx] = e.running[last]
		e.running[s.idx].idx = s.idx
		e.running[last] = nil
		e.running = e.running[:last]
	case seqPrefilling, seqStarting:
		e.kvUsed -= s.kv
	case seqWaiting, seqGone:
	}
	s.state = seqGone
}

// cost is the formula in Preset's comment.
func (e *engine) cost(w work) time.Duration {
	var t time.Duration
	decoding := len(e.running)
	for _, s := range e.starting {
		if s.remote {
			decoding++
		}
	}
	add := func(per time.Duration, n float64) { t += time.Duration(float64(per) * n) }
	if decoding > 0 {
		t = e.p.StepBase
		ctx := float64(e.kvUsed) * e.scale / 1e6
		add(e.p.PerSeq, float64(decoding)*e.scale)
		add(e.p.PerMctx, ctx)
		add(e.p.PerMctx2, ctx*ctx)
		add(e.p.PerAdmit, w.admits)
	}
	if w.tokens > 0 {
		t += max(0, e.p.PrefillBase-t)
		add(e.p.PerPrefillToken, w.tokens)
		add(e.p.PerPrefillPair, w.pairs)
		add(e.p.PerPrefillReq, w.reqs)
	}
	if e.p.Jitter > 0 {
		t = time.Duration(float64(t) * math.Exp(e.p.Jitter*e.rng.NormFloat64()-e.p.Jitter*e.p.Jitter/2))
	}
	return max(t, time.Microsecond)
}

// commit ends the step at time now: every running sequence, those that joined
// included, has one token more. Until reap, running still holds those that are
// done and joined those whose first token (or first after a preemption) this was.
func (e *engine) commit(now time.Duration) {
	e.stepNo++
	e.joined, e.starting = e.starting, e.joined[:0]
	for _, s := range e.joined {
		if s.state == seqGone {
			continue
		}
		s.state, s.idx, s.base = seqRunning, len(e.running), e.stepNo-1-int64(s.produced)
		e.running = append(e.running, s)
		if s.first == 0 {
			s.first = now
		}
		s.doneAt = s.base + int64(s.max)
		e.finish[s.doneAt] = append(e.finish[s.doneAt], s)
	}
	e.kvUsed += len(e.running)
	e.done = e.done[:0]
	for _, s := range e.finish[e.stepNo] {
		if s.state == seqRunning && s.doneAt == e.stepNo {
			e.done = append(e.done, s)
		}
	}
	delete(e.finish, e.stepNo)
}

// reap removes the sequences that the last commit completed.
func (e *engine) reap() {
	for _, s := range e.done {
		if s.state == seqRunning {
			e.release(s)
			s.produced = s.max
		}
	}
}

// cancel removes s wherever it is (the client went away).
func (e *engine) cancel(s *seq) {
	s.produced = e.producedBy(s)
	e.release(s)
}
