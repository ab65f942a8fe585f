package cli

import (
	"fmt"

	"github.com/mifbench/mifbench/pkg/bench"
	"github.com/mifbench/mifbench/pkg/bench/report"
)

// proofReport renders the client's proof: the verdict, and every figure beside its bound.
func proofReport(p bench.Proof) *report.Proof {
	b := bench.DefaultBounds()
	v := p.Judge(b)
	out := &report.Proof{Verdict: string(v.Class), Reasons: v.Reasons}
	fact := func(name, value, bound string, ok bool) {
		out.Facts = append(out.Facts, report.Fact{Name: name, Value: value, Bound: bound, OK: ok})
	}
	coalesced := 0.0
	if p.Events > 0 {
		coalesced = float64(p.Coalesced) / float64(p.Events)
	}
	fact("clock", string(p.ClockSource), "", true)
	fact("send lag p99", bench.Rounded(p.SendLag.P99).String(), b.SendLagP99.String(), p.SendLag.P99 <= b.SendLagP99)
	fact("receive lag p99", bench.Rounded(p.ReceiveLag.P99).String(), b.ReceiveLagP99.String(), p.ReceiveLag.P99 <= b.ReceiveLagP99)
	fact("coalesced reads", percentText(coalesced), percentText(b.Coalesced), coalesced <= b.Coalesced)
	fact("CPU share", fmt.Sprintf("%s of %d cores", percentText(p.CPUShare), p.Procs), percentText(b.CPUShare), p.CPUShare <= b.CPUShare)
	fact("longest GC pause", bench.Rounded(p.GCPauseMax).String(), b.GCPauseMax.String(), p.GCPauseMax <= b.GCPauseMax)
	share := func(name string, x *float64, bound float64) {
		if x != nil {
			fact(name, percentText(*x), percentText(bound), *x <= bound)
		}
	}
	share("token count mismatch", p.TokenMismatch, b.TokenMismatch)
	share("Little's law error", p.LittleError, b.LittleError)
	share("repeated prompts", p.RepeatShare, b.RepeatShare)
	if m := p.Machine; m.Cores > 0 {
		fact("other processes", fmt.Sprintf("%.1f of %d cores, %s idle", m.Others, m.Cores, percentText(m.Idle)), "", true)
	}
	if p.Sent > 0 { // which limit binds is told from the records, beside the load in flight
		fact("waited for a slot", percentText(float64(p.Waited)/float64(p.Sent))+" of requests", "", true)
	}
	return out
}

func percentText(share float64) string { return fmt.Sprintf("%.2f %%", 100*share) }
