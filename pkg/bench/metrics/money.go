package metrics

// Scale is the output rate by unit of hardware, tok/s each; n/a for unknown units.
// Published figures use different bases, so all are given.
type Scale struct {
	Units
	OutputPerGPU         Value `json:"output_per_gpu"`
	OutputPerNode        Value `json:"output_per_node"`
	OutputPerDecodeNode  Value `json:"output_per_decode_node"`
	OutputPerPrefillNode Value `json:"output_per_prefill_node"`
}

func scale(s Summary, u Units) *Scale {
	if u == (Units{}) {
		return nil
	}
	out := float64(s.OutputThroughput)
	return &Scale{
		Units: u, OutputPerGPU: ratio(out, float64(u.GPUs)), OutputPerNode: ratio(out, float64(u.Nodes)),
		OutputPerDecodeNode: ratio(out, float64(u.DecodeNodes)), OutputPerPrefillNode: ratio(out, float64(u.PrefillNodes)),
	}
}

// Cost is the price of tokens at the measured rate, in dollars.
type Cost struct {
	GPUHour          float64 `json:"gpu_hour"`
	GPUs             int     `json:"gpus"`
	PerMillionOutput Value   `json:"per_million_output_tokens"`
	PerMillionTotal  Value   `json:"per_million_total_tokens"`
	OutputPerDollar  Value   `json:"output_tokens_per_dollar"`
	// GPUHours is what the window itself used.
	GPUHours Value `json:"window_gpu_hours"`
}

// CostPerMillion is gpus × gpuHour / (rate × 3600) × 10⁶ dollars.
func CostPerMillion(gpus int, gpuHour, rate float64) Value {
	return ratio(float64(gpus)*gpuHour*1e6, rate*3600)
}

func cost(s Summary, opt Options) *Cost {
	if opt.GPUHour <= 0 || opt.Scale.GPUs <= 0 {
		return nil
	}
	c := &Cost{
		GPUHour: opt.GPUHour, GPUs: opt.Scale.GPUs,
		PerMillionOutput: CostPerMillion(opt.Scale.GPUs, opt.GPUHour, float64(s.OutputThroughput)),
		PerMillionTotal:  CostPerMillion(opt.Scale.GPUs, opt.GPUHour, float64(s.TotalThroughput)),
		GPUHours:         Value(s.Duration / 3600 * float64(opt.Scale.GPUs)),
	}
	c.OutputPerDollar = ratio(float64(s.OutputThroughput)*3600, float64(opt.Scale.GPUs)*opt.GPUHour)
	return c
}

// ReferenceResult is one figure beside its reference.
type ReferenceResult struct {
	// What is "output_tokens_per_second", "mean_ttft_ms" or "mean_itl_ms".
	What     string  `json:"what"`
	Want     float64 `json:"want"`
	Got      Value   `json:"got"`
	Percent  Value   `json:"percent"`
	Verdict  Verdict `json:"verdict"`
	Tolerant float64 `json:"tolerance"`
	Source   string  `json:"source,omitempty"`
}

// Verdict is the outcome of a comparison.
type Verdict string

// The verdicts. Better and Worse lie outside the tolerance.
const (
	Within  Verdict = "within"
	Better  Verdict = "better"
	Worse   Verdict = "worse"
	Unknown Verdict = "n/a"
)

// Missed tells whether r counts as a missed reference (exit code 3).
func (r ReferenceResult) Missed() bool { return r.Verdict == Worse || r.Verdict == Unknown }

// CompareReference sets got beside want. higherIsBetter is true of rates.
func CompareReference(what string, want float64, got Value, tolerance float64, higherIsBetter bool) ReferenceResult {
	r := ReferenceResult{What: what, Want: want, Got: got, Tolerant: tolerance, Percent: NA(), Verdict: Unknown}
	q := ratio(float64(got), want)
	if !q.Known() {
		return r
	}
	r.Percent = 100 * q
	r.Verdict = judge(float64(q)-1, tolerance, higherIsBetter)
	return r
}

// judge is the verdict on a relative change.
func judge(change, tolerance float64, higherIsBetter bool) Verdict {
	if !higherIsBetter {
		change = -change
	}
	switch {
	case change < -tolerance:
		return Worse
	case change > tolerance:
		return Better
	}
	return Within
}

func compareReference(s Summary, ref *Reference) []ReferenceResult {
	if ref == nil {
		return nil
	}
	ttft, _ := s.Metric(TTFT)
	itl, _ := s.Metric(ITL)
	var out []ReferenceResult
	for _, c := range []struct {
		what   string
		want   float64
		got    Value
		higher bool
	}{
		{"output_tokens_per_second", ref.OutputTokensPerSecond, s.OutputThroughput, true},
		{"mean_ttft_ms", ref.MeanTTFT, ttft.Mean, false},
		{"mean_itl_ms", ref.MeanITL, itl.Mean, false},
	} {
		if c.want == 0 {
			continue
		}
		r := CompareReference(c.what, c.want, c.got, ref.Tolerance, c.higher)
		r.Source = ref.Source
		out = append(out, r)
	}
	return out
}
