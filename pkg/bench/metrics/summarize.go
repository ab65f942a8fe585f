package metrics

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mifbench/mifbench/pkg/bench/record"
)

// Summarize computes one view. It reads src twice; memory is at most eight bytes an output
// token (four when each chunk holds one) and some hundred bytes a request.
func Summarize(src Source, view View, opt Options) (Summary, error) {
	s, err := NewSurvey(src)
	if err != nil {
		return Summary{}, err
	}
	return s.Summarize(src, view, opt)
}

// SummarizeViews computes several views, one after the other, so that memory is that of one.
func SummarizeViews(src Source, opt Options, views ...View) (map[View]Summary, error) {
	s, err := NewSurvey(src)
	if err != nil {
		return nil, err
	}
	out := make(map[View]Summary, len(views))
	for _, v := range views {
		if out[v], err = s.Summarize(src, v, opt); err != nil {
			return nil, fmt.Errorf("view %s: %w", v, err)
		}
	}
	return out, nil
}

// Summarize computes one view of src, which must be the source of the survey.
func (s *Survey) Summarize(src Source, view View, opt Options) (Summary, error) {
	info, err := s.window(view, opt.Window)
	if err != nil {
		return Summary{}, err
	}
	a := s.newAccount(view, info.Window, opt)
	for r, err := range src {
		if err != nil {
			if !errors.Is(err, record.ErrDamaged) {
				return Summary{}, err
			}
			continue // the survey keeps it
		}
		a.add(r)
	}
	return s.finish(a, info, opt), nil
}

// window is the view's window: the vllm view knows none.
func (s *Survey) window(view View, spec WindowSpec) (WindowInfo, error) {
	if view != ViewVLLM {
		return s.Choose(spec)
	}
	info, err := s.Choose(WindowSpec{})
	if err != nil {
		return info, err
	}
	// From the start of dispatch to the end of the last request, failed ones included.
	info.Window = Window{From: min(0, s.Start), To: s.Over}
	info.Precision = nil
	info.Why = "from the start of the run to the end of its last request: nothing is trimmed"
	return info, nil
}

func (s *Survey) finish(a *account, info WindowInfo, opt Options) Summary {
	d := info.Seconds()
	sum := Summary{
		Version: SummaryVersion, View: a.view, Window: info, Duration: d, Partial: s.Damage != nil,
		Requests: a.requests, Failures: a.failures.list(), Usage: a.usage.result(),
		InputTokens: a.input, OutputTokens: a.output, OutputChunks: a.chunks, Coalesced: a.coalesced,
		RequestThroughput: ratio(float64(a.requests.Successful), d),
		InputThroughput:   ratio(float64(a.input), d),
		OutputThroughput:  ratio(float64(a.output), d),
		TotalThroughput:   ratio(float64(a.input+a.output), d),
		PeakOutput:        a.peak.value(), PeakInFlight: NA(),
	}
	sum.Metrics = a.metrics(percentiles(opt))
	s.load(&sum, a, opt)
	if opt.SLO != nil {
		sum.SLO = a.slo.result(*opt.SLO, sum)
	}
	sum.Scale = scale(sum, opt.Scale)
	sum.Cost = cost(sum, opt)
	sum.References = compareReference(sum, opt.Reference)
	sum.Warnings = s.warnings(sum, a, opt)
	return sum
}

// load fills in what the survey knows of requests in flight.
func (s *Survey) load(sum *Summary, a *account, opt Options) {
	spans := s.spans
	if a.view == ViewVLLM {
		spans = a.served // newest vllm: an exact sweep over [start, end) of successful requests
		slices.SortFunc(spans, func(x, y span) int { return cmpInt(x.from, y.from) })
	}
	mean, peak := inFlight(curve(spans), sum.Window.Window)
	if len(spans) > 0 {
		sum.PeakInFlight = Value(peak)
	}
	l := &sum.Load
	l.RequestRate, l.MaxConcurrency, l.InFlight = NA(), opt.MaxConcurrency, mean
	if opt.RequestRate > 0 && !math.IsInf(opt.RequestRate, 1) {
		l.RequestRate = Value(opt.RequestRate)
	}
	l.IntendedRate, l.SendRate = a.intended.rate(), a.sends.rate()
	l.Little = little(*sum, a.meanOutput(), mean)
	l.Binds = Binding(opt.MaxConcurrency, float64(l.RequestRate), float64(mean), float64(l.SendRate))
	l.FillSeconds = FillSeconds(opt.MaxConcurrency, float64(l.RequestRate))
}

// percentiles joins the default ones, those asked for and the SLO's, sorted.
func percentiles(opt Options) []float64 {
	all := append(DefaultPercentiles(), opt.Percentiles...)
	if opt.SLO != nil {
		all = append(all, opt.SLO.percentile())
	}
	slices.Sort(all)
	return slices.Compact(all)
}
