package metrics

import (
	"fmt"
	"math"
)

// The codes of warnings.
const (
	WarnPartial      = "partial"
	WarnFailures     = "failures"
	WarnNoTokens     = "no-samples"
	WarnShortWindow  = "short-window"
	WarnMultiToken   = "multi-token-chunks"
	WarnUsageMissing = "usage-missing"
	WarnTokenCounts  = "token-count-mismatch"
	WarnPromptLength = "prompt-length-mismatch"
	WarnShortOutputs = "short-outputs"
	WarnLittle       = "littles-law"
	WarnRate         = "rate-not-reached"
	WarnDropped      = "dropped"
	WarnOverCap      = "over-the-cap"
	WarnCache        = "prefix-cache"
	WarnCoalesced    = "coalesced"
	WarnMixedBasis   = "mixed-basis"
	WarnUntrimmed    = "untrimmed"
	WarnClientQueue  = "queued-in-client"
)

// warnings are the doubts a reader must see, as data. A rule is one entry.
func (s *Survey) warnings(sum Summary, a *account, opt Options) []Warning {
	list := []Warning{}
	add := func(on bool, code, format string, args ...any) {
		if on {
			list = append(list, Warning{code, fmt.Sprintf(format, args...)})
		}
	}
	r, l, u := sum.Requests, sum.Load, sum.Usage
	add(s.Damage != nil, WarnPartial, "the records are incomplete, figures cover what could be read: %v", s.Damage)
	add(r.Failed > 0, WarnFailures, "%d of %d requests failed; their tokens count only in the mifbench view", r.Failed, r.Sent)
	add(r.Dropped > 0, WarnDropped, "%d of %d scheduled requests were never sent", r.Dropped, r.Scheduled)
	add(a.doneCount == 0, WarnNoTokens, "no request completed in the window: TPOT, E2EL and Little's law are n/a")
	if p := sum.Window.Precision; p != nil {
		add(p.Sure == SureLow, WarnShortWindow, "confidence is low: %s", p.Why)
	}
	add(a.perToken != nil, WarnMultiToken, "chunks carry several tokens: ITL is the gap between chunks, per-token latency is the separate metric%s", chunkCounting(sum.View))
	add(u.Successful > u.WithUsage, WarnUsageMissing, "%d of %d successful requests came without usage: their tokens are counted as chunks", u.Successful-u.WithUsage, u.Successful)
	add(u.OutputMismatch > 0.01, WarnTokenCounts, "the client counted %d output tokens, the server reports %d (%.1f %% apart)", u.Counted, u.Reported, 100*float64(u.OutputMismatch))
	add(u.PromptMismatch > 0, WarnPromptLength, "%.1f %% of the prompts have another length at the server than intended", 100*float64(u.PromptMismatch))
	add(u.ShortOutputs > 0, WarnShortOutputs, "%d requests ended with fewer output tokens than asked for (ignore_eos off?)", u.ShortOutputs)
	add(sum.View == ViewMifbench && math.Abs(float64(l.Little.Error)) > 0.05, WarnLittle,
		"rate × latency gives %s requests in flight, measured are %s: the window is not steady or the counts are wrong", l.Little.Implied.Fixed(0), l.InFlight.Fixed(0))
	add(l.RequestRate.Known() && l.SendRate < 0.95*l.RequestRate, WarnRate,
		"sends averaged %s requests/s of the %s asked for; %s binds", l.SendRate.Fixed(2), l.RequestRate.Fixed(2), l.Binds)
	add(l.MaxConcurrency > 0 && float64(sum.PeakInFlight) > float64(l.MaxConcurrency), WarnOverCap,
		"%s requests were in flight with a cap of %d", sum.PeakInFlight.Fixed(0), l.MaxConcurrency)
	add(math.Abs(float64(u.CacheHit)-opt.ExpectedCacheHit) > 0.01 && u.CacheHit.Known(), WarnCache,
		"%.1f %% of the prompt tokens came from the prefix cache, the scenario declares %.1f %%", 100*float64(u.CacheHit), 100*opt.ExpectedCacheHit)
	add(float64(sum.Coalesced) > 0.001*float64(sum.OutputChunks), WarnCoalesced,
		"%d of %d chunks shared a read with another: their times may be a neighbour's", sum.Coalesced, sum.OutputChunks)
	q, _ := sum.Metric(QueueTime)
	add(q.Median > 1000, WarnClientQueue, "requests waited %s s (median) in the client before they were sent: latencies from the send leave that out", (q.Median / 1000).Fixed(1))
	add(sum.View == ViewMoreh, WarnMixedBasis, "generated tokens are counted by arrival, requests and input tokens only when wholly inside the window: the total understates the input")
	add(sum.View == ViewVLLM, WarnUntrimmed, "nothing is trimmed: ramp and drain are in every figure")
	return list
}

func chunkCounting(v View) string {
	switch v {
	case ViewVLLM:
		return "; the peak rate counts chunks, as that tool does"
	case ViewMoreh:
		return "; generated tokens are counted as chunks, as that tool does"
	default:
		return ""
	}
}
