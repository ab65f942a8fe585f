package metrics

import (
	"errors"
	"fmt"
	"time"
)

// ErrEmptyWindow is wrapped when nothing can be measured in the window asked for.
var ErrEmptyWindow = errors.New("the measurement window is empty")

// Window is the half-open time [From, To) in ns since the run's start.
type Window struct {
	From int64 `json:"from_ns"`
	To   int64 `json:"to_ns"`
}

// Contains tells whether t is in w.
func (w Window) Contains(t int64) bool { return w.From <= t && t < w.To }

// Seconds is w's length.
func (w Window) Seconds() float64 { return float64(w.To-w.From) / 1e9 }

// WindowSpec says how to choose a window. The zero value is the whole run.
type WindowSpec struct {
	// Warmup and Cooldown are cut off by the published tool's rule: the window begins at the
	// earliest request's start + Warmup and ends at the latest request's end - Cooldown.
	Warmup, Cooldown time.Duration
	// Auto finds the steady state instead.
	Auto bool
	// Ratio is the share of the peak of requests in flight that Auto takes for steady; 0
	// means 0.9.
	Ratio float64
}

// The methods of a chosen window.
const (
	MethodWhole = "whole run"
	MethodFixed = "warm-up and cool-down"
	MethodAuto  = "auto"
)

// WindowInfo is the window in use, why, and how far it can be trusted.
type WindowInfo struct {
	Window
	Method string `json:"method"`
	// Why is one sentence for people.
	Why string `json:"why"`
	// Precision is nil in the untrimmed vllm view.
	Precision *Precision `json:"precision,omitempty"`
}

// Choose picks the window of spec. Errors wrap ErrEmptyWindow.
func (s *Survey) Choose(spec WindowSpec) (WindowInfo, error) {
	if len(s.spans) == 0 {
		return WindowInfo{}, fmt.Errorf("%w: no request was sent", ErrEmptyWindow)
	}
	info := WindowInfo{Method: MethodWhole, Why: "from the first send to the last token"}
	switch {
	case spec.Auto:
		info = s.auto(spec.Ratio)
	case spec.Warmup == 0 && spec.Cooldown == 0:
		info.Window = Window{s.Start, s.End + 1} // the last token belongs to the run
	default:
		info.Window = Window{s.Start + int64(spec.Warmup), s.End - int64(spec.Cooldown)}
		info.Method = MethodFixed
		info.Why = fmt.Sprintf("%v after the first send to %v before the last token", spec.Warmup, spec.Cooldown)
	}
	if info.To <= info.From {
		return info, fmt.Errorf("%w: the run lasted %.1f s from first send to last token, warm-up %v and cool-down %v leave nothing: shorten them or use auto",
			ErrEmptyWindow, float64(s.End-s.Start)/1e9, spec.Warmup, spec.Cooldown)
	}
	p := s.precision(info.Window)
	info.Precision = &p
	return info, nil
}
