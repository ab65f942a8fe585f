package sim

import (
	"math"
	"time"
)

// ghostWork is the work of the requests that are not there: with a stream scale
// of F each request stands for F, and the other F-1 must load the engine without
// arriving all at once. Their tokens enter a reservoir that drips into the steps
// over about two mean gaps between arrivals, so the load is right in the long
// run and smooth, as the sum of F independent streams would be.
type ghostWork struct {
	tokens, reqs, admits float64 // reservoir
	queued, queuedReqs   float64 // dripped, not done yet
	queuedAdmits         float64
	taken                float64 // tokens done since the start
	last                 time.Duration
	lastAdd              time.Duration
	gap                  float64 // smoothed seconds between arrivals
}

// add puts the shares of one arrival into the reservoir: n tokens of reqs
// requests, or n KV caches to take over.
func (g *ghostWork) add(now time.Duration, n, reqs float64, admit bool) {
	if n <= 0 {
		return
	}
	d := (now - g.lastAdd).Seconds()
	g.lastAdd = now
	if g.gap == 0 {
		g.gap = 1
	}
	g.gap += (math.Min(d, 10*g.gap) - g.gap) / 8
	if admit {
		g.admits += n
		return
	}
	g.tokens += n
	g.reqs += reqs
}

// drip moves what is due at time now from the reservoir into the queue.
func (g *ghostWork) drip(now time.Duration) {
	if g.gap == 0 {
		return
	}
	share := 1 - math.Exp(-(now-g.last).Seconds()/math.Max(1e-3, 2*g.gap))
	g.last = now
	move := func(from, to *float64) {
		n := *from * share
		*from -= n
		*to += n
	}
	move(&g.tokens, &g.queued)
	move(&g.reqs, &g.queuedReqs)
	move(&g.admits, &g.queuedAdmits)
}

// take is what the next step has to do of the queue, at most budget tokens.
func (g *ghostWork) take(budget float64) (tokens, reqs, admits float64) {
	admits, g.queuedAdmits = g.queuedAdmits, 0
	if g.queued < 1 || budget < 1 {
		return 0, 0, admits
	}
	tokens = math.Min(g.queued, budget)
	reqs = g.queuedReqs * tokens / g.queued
	g.queued -= tokens
	g.queuedReqs -= reqs
	g.taken += tokens
	return tokens, reqs, admits
}

// wake is when an engine that is otherwise idle should look for ghosts again;
// zero when none are left.
func (g *ghostWork) wake() time.Duration {
	if g.tokens+g.queued < 1 {
		return 0
	}
	return time.Duration(math.Max(1e-3, g.gap/20) * float64(time.Second))
}
