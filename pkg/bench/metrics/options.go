package metrics

import "time"

// Options is what Summarize must know besides the records. The zero value is usable.
type Options struct {
	Window WindowSpec
	// Percentiles to compute besides DefaultPercentiles.
	Percentiles []float64
	// RequestRate is the rate asked for, 0 or +Inf when not limited; MaxConcurrency the cap, 0
	// without one.
	RequestRate    float64
	MaxConcurrency int
	SLO            *SLO
	Scale          Units
	// GPUHour is the price of a GPU hour in dollars (0: no cost).
	GPUHour   float64
	Reference *Reference
	// ExcludeCoalesced leaves out the latency samples of chunks that shared a read with
	// another in the mifbench view; their tokens still count.
	ExcludeCoalesced bool
	// ExpectedCacheHit is the prefix-cache hit share that the scenario declares.
	ExpectedCacheHit float64
}

// Units is the size of the system under test; zero fields are unknown.
type Units struct {
	GPUs         int `json:"gpus,omitempty"`
	Nodes        int `json:"nodes,omitempty"`
	PrefillNodes int `json:"prefill_nodes,omitempty"`
	DecodeNodes  int `json:"decode_nodes,omitempty"`
}

// DefaultPercentiles are always computed.
func DefaultPercentiles() []float64 { return []float64{1, 10, 25, 50, 75, 90, 95, 99, 99.9} }

// SLO limits latencies; zero limits are not set.
type SLO struct {
	TTFT time.Duration `json:"ttft_ns,omitempty"`
	ITL  time.Duration `json:"itl_ns,omitempty"`
	TPOT time.Duration `json:"tpot_ns,omitempty"`
	E2EL time.Duration `json:"e2el_ns,omitempty"`
	// Percentile of the samples that must keep the limit; 0 means 99, 100 means every one.
	Percentile float64 `json:"percentile"`
}

func (s SLO) percentile() float64 {
	if s.Percentile <= 0 {
		return 99
	}
	return min(s.Percentile, 100)
}

// Reference is a published result to compare with.
type Reference struct {
	// OutputTokensPerSecond, MeanTTFT and MeanITL (ms) are compared when not 0.
	OutputTokensPerSecond float64 `json:"output_tokens_per_second,omitempty"`
	MeanTTFT              float64 `json:"mean_ttft_ms,omitempty"`
	MeanITL               float64 `json:"mean_itl_ms,omitempty"`
	// Tolerance is a share (0.03 for 3 %).
	Tolerance float64 `json:"tolerance"`
	Source    string  `json:"source,omitempty"`
}
