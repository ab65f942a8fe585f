package report

import (
	"encoding/json"
	"math"
	"time"

	"github.com/mifbench/mifbench/pkg/bench/metrics"
)

// Data is what a report is made of.
type Data struct {
	// Title and Stack name the job, Tool is the program's name and version.
	Title     string    `json:"title,omitempty"`
	Stack     string    `json:"stack,omitempty"`
	Tool      string    `json:"tool,omitempty"`
	Generated time.Time `json:"generated"`
	// View is the view of the formats vllm, vllm-json and of markdown's published table. When
	// empty it is chosen by result: moreh with a warm-up or cool-down, else vllm.
	View metrics.View `json:"-"`
	// SaveDetailed adds the arrays of each request to vllm-json (needs Records).
	SaveDetailed bool `json:"-"`
	// Provenance is of the whole run (configuration, versions, inventory); no secrets.
	Provenance map[string]string `json:"provenance,omitempty"`
	Results    []Result          `json:"results"`
}

// Result is one scenario's outcome.
type Result struct {
	Name   string `json:"name"`
	Params Params `json:"params"`
	// Views holds the summaries; formats leave out what is not there.
	Views map[metrics.View]metrics.Summary `json:"views"`
	// Proof is nil when the client was not watched.
	Proof    *Proof            `json:"proof,omitempty"`
	Timeline *metrics.Timeline `json:"timeline,omitempty"`
	// Server holds curves scraped from the engines, on the timeline's clock.
	Server     []Series          `json:"server,omitempty"`
	Provenance map[string]string `json:"provenance,omitempty"`
	// Partial tells that the run was interrupted.
	Partial bool `json:"partial,omitempty"`
	// Notes are printed with the result, for example that the engine preset has no metrics.
	Notes []string `json:"notes,omitempty"`
	// Records is the source of the formats that list requests or events; nil if not at hand.
	Records metrics.Source `json:"-"`
}

// Params says what was run.
type Params struct {
	ISL     int    `json:"input_tokens"`
	OSL     int    `json:"output_tokens"`
	Dataset string `json:"dataset"`
	// ApproximateLengths tells that prompts were cut without the server's tokenizer.
	ApproximateLengths bool `json:"approximate_lengths,omitempty"`
	MaxConcurrency     int  `json:"max_concurrency,omitempty"`
	// RequestRate is requests/s, 0 for no limit.
	RequestRate float64 `json:"request_rate,omitempty"`
	Burstiness  Shape   `json:"burstiness,omitempty"`
	RampUp      *RampUp `json:"ramp_up,omitempty"`
	NumPrompts  int     `json:"num_prompts,omitempty"`
	// Workers is the "Number of worker processes" of the published block; 0 leaves the row out.
	Workers      int           `json:"workers,omitempty"`
	Warmup       time.Duration `json:"warmup_ns,omitempty"`
	Cooldown     time.Duration `json:"cooldown_ns,omitempty"`
	EndpointType string        `json:"endpoint_type,omitempty"`
	Backend      string        `json:"backend,omitempty"`
	Label        string        `json:"label,omitempty"`
	Model        string        `json:"model,omitempty"`
	Tokenizer    string        `json:"tokenizer,omitempty"`
	Seed         int64         `json:"seed"`
	Date         time.Time     `json:"date"`
	// MetricPercentiles and PercentileMetrics are vLLM's flags: which percentiles of which
	// metrics the block shows. Empty means 99 and ttft,tpot,itl. Unknown names (the published
	// commands' "tps") are ignored, as upstream does.
	MetricPercentiles []float64 `json:"metric_percentiles,omitempty"`
	PercentileMetrics []string  `json:"percentile_metrics,omitempty"`
	// Goodput tells that the goodput row of the block was asked for.
	Goodput bool `json:"goodput,omitempty"`
	// Metadata are vLLM's --metadata pairs, in order.
	Metadata []Pair `json:"metadata,omitempty"`
}

// Shape is the shape of the gaps' gamma distribution; +Inf, even gaps, is "inf" in JSON.
type Shape float64

// MarshalJSON writes a number, or "inf".
func (s Shape) MarshalJSON() ([]byte, error) {
	if math.IsInf(float64(s), 1) {
		return []byte(`"inf"`), nil
	}
	return json.Marshal(float64(s))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Shape) UnmarshalJSON(b []byte) error {
	if string(b) == `"inf"` {
		*s = Shape(math.Inf(1))
		return nil
	}
	return json.Unmarshal(b, (*float64)(s))
}

// RampUp is vLLM's ramp of the request rate.
type RampUp struct {
	Strategy string `json:"strategy"`
	StartRPS int    `json:"start_rps"`
	EndRPS   int    `json:"end_rps"`
}

// Pair is a key with its value.
type Pair struct{ Key, Value string }

// Proof is the verdict on the client itself.
type Proof struct {
	// Verdict is OK, UNVERIFIED or CLIENT-LIMITED.
	Verdict string `json:"verdict"`
	// Reasons say why, one line each.
	Reasons []string `json:"reasons,omitempty"`
	// Facts are the figures behind the verdict, with their bounds, for people.
	Facts []Fact `json:"facts,omitempty"`
}

// ProofOK is the verdict of a client that kept up.
const ProofOK = "OK"

// Fact is one figure of a proof; Bound is empty when there is none.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Bound string `json:"bound,omitempty"`
	OK    bool   `json:"ok"`
}

// Series is one curve of the server side.
type Series struct {
	// Name is the curve's name and Panel the title of the plot it belongs to.
	Name  string          `json:"name"`
	Panel string          `json:"panel"`
	Unit  string          `json:"unit,omitempty"`
	Times []float64       `json:"times_s"`
	Value []metrics.Value `json:"values"`
}

// Main is the summary that a reader should look at first: mifbench, else the one there is;
// ok is false, and every rate n/a, when there is none.
func (r Result) Main() (metrics.Summary, bool) {
	for _, v := range metrics.Views() {
		if s, ok := r.Views[v]; ok {
			return s, true
		}
	}
	na := metrics.NA()
	return metrics.Summary{OutputThroughput: na, InputThroughput: na, TotalThroughput: na, RequestThroughput: na}, false
}

// published is the summary for the block and the published table.
func (r Result) published(view metrics.View) (metrics.Summary, bool) {
	if view == "" {
		view = metrics.ViewVLLM
		if r.Params.Warmup > 0 || r.Params.Cooldown > 0 {
			view = metrics.ViewMoreh
		}
	}
	if s, ok := r.Views[view]; ok {
		return s, true
	}
	return r.Main()
}

// Verdict is the proof's verdict, empty when the client was not watched.
func (r Result) Verdict() string {
	if r.Proof == nil {
		return ""
	}
	return r.Proof.Verdict
}

// Flags are the marks that must stand beside every figure of r, worst first.
func (r Result) Flags() []string {
	var flags []string
	add := func(on bool, f string) {
		if on {
			flags = append(flags, f)
		}
	}
	v := r.Verdict()
	add(v != "" && v != ProofOK, v)
	s, ok := r.Main()
	add(!ok, "NO RESULT")
	add(r.Partial || s.Partial, "PARTIAL")
	add(r.Params.ApproximateLengths, "approximate lengths")
	add(ok && s.Window.Precision != nil && s.Window.Precision.Sure == metrics.SureLow, "low confidence")
	add(s.Requests.Failed > 0, "failures")
	return flags
}

// Missed lists the service levels and references that r misses; empty is a pass. It is what
// exit code 3 is about.
func (r Result) Missed() []string {
	var missed []string
	s, ok := r.Main()
	if !ok {
		return nil
	}
	if s.SLO != nil {
		for _, c := range s.SLO.Checks {
			if !c.Met {
				missed = append(missed, string(c.Metric)+" "+c.Value.Fixed(1)+" ms is over the limit of "+metrics.Value(c.Limit).Fixed(1)+" ms ("+s.SLO.Rule+")")
			}
		}
	}
	for _, ref := range s.References {
		if ref.Missed() {
			missed = append(missed, ref.What+" "+ref.Got.Fixed(2)+" is "+ref.Percent.Fixed(1)+" % of the reference "+metrics.Value(ref.Want).Fixed(2))
		}
	}
	return missed
}
