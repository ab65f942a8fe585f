package metrics

import (
	"fmt"
	"time"

	"github.com/mifbench/mifbench/pkg/bench/record"
)

// SLOResult is the verdict on the limits and the goodput.
type SLOResult struct {
	SLO
	// Rule says in words what had to hold.
	Rule string `json:"rule"`
	Met  bool   `json:"met"`
	// Checks has one entry a limit.
	Checks []SLOCheck `json:"checks"`
	// Good of Judged completed requests kept every limit themselves; Goodput is Good a second.
	Good    int64 `json:"good"`
	Judged  int64 `json:"judged"`
	Goodput Value `json:"goodput"`
}

// SLOCheck is one limit; n/a in Value means that nothing could be judged, which is a miss.
type SLOCheck struct {
	Metric MetricName `json:"metric"`
	Limit  float64    `json:"limit_ms"`
	Value  Value      `json:"value_ms"`
	Met    bool       `json:"met"`
}

// goodput counts requests that keep every limit. TTFT, TPOT and E2EL are one figure a
// request (vLLM's rule: a request of one token has TPOT 0); of its chunk gaps the share
// of the SLO's percentile must keep the ITL limit.
type goodput struct {
	limits       SLO
	good, judged int64
}

func (g *goodput) add(r *record.Record, tpot float64) {
	g.judged++
	over := func(d int64, limit time.Duration) bool { return limit > 0 && d > int64(limit) }
	if over(r.Events[0].At-r.Sent, g.limits.TTFT) || over(lastEvent(r)-r.Sent, g.limits.E2EL) {
		return
	}
	if g.limits.TPOT > 0 && tpot > ms(g.limits.TPOT) || g.gapsOver(r) {
		return
	}
	g.good++
}

func (g *goodput) gapsOver(r *record.Record) bool {
	if g.limits.ITL <= 0 || len(r.Events) < 2 {
		return false
	}
	late := 0
	for i := 1; i < len(r.Events); i++ {
		if r.Events[i].At-r.Events[i-1].At > int64(g.limits.ITL) {
			late++
		}
	}
	return float64(late) > (1-g.limits.percentile()/100)*float64(len(r.Events)-1)
}

func ms(d time.Duration) float64 { return float64(d) / 1e6 }

func (g *goodput) result(slo SLO, s Summary) *SLOResult {
	p := slo.percentile()
	r := &SLOResult{SLO: slo, Good: g.good, Judged: g.judged, Goodput: ratio(float64(g.good), s.Duration), Met: true}
	r.Percentile = p
	r.Rule = fmt.Sprintf("p%v of each metric keeps its limit", p)
	if p == 100 {
		r.Rule = "every sample of each metric keeps its limit"
	}
	for _, c := range []struct {
		name  MetricName
		limit time.Duration
	}{{TTFT, slo.TTFT}, {ITL, slo.ITL}, {TPOT, slo.TPOT}, {E2EL, slo.E2EL}} {
		if c.limit <= 0 {
			continue
		}
		m, _ := s.Metric(c.name)
		check := SLOCheck{Metric: c.name, Limit: ms(c.limit), Value: m.At(p)}
		check.Met = check.Value.Known() && float64(check.Value) <= check.Limit
		r.Met = r.Met && check.Met
		r.Checks = append(r.Checks, check)
	}
	return r
}
