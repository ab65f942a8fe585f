package metrics

// SummaryVersion is the version of Summary's JSON form.
const SummaryVersion = 1

// Summary is everything that one view says about a run. Times are ms unless named
// otherwise, rates are per second.
type Summary struct {
	Version int        `json:"version"`
	View    View       `json:"view"`
	Window  WindowInfo `json:"window"`
	// Duration is the divisor of every rate, s.
	Duration float64 `json:"duration_s"`
	// Partial tells that the records are incomplete (damaged file).
	Partial  bool     `json:"partial"`
	Requests Requests `json:"requests"`
	// Failures counts requests of the whole run that were not successful, by status and HTTP code.
	Failures []FailureCount `json:"failures"`

	InputTokens  int64 `json:"input_tokens"`
	OutputTokens int64 `json:"output_tokens"`
	// OutputChunks counts token events; Coalesced those that shared a read with another and
	// whose stamp may be its neighbour's.
	OutputChunks int64 `json:"output_chunks"`
	Coalesced    int64 `json:"coalesced_chunks"`

	RequestThroughput Value `json:"request_throughput"`
	InputThroughput   Value `json:"input_throughput"`
	OutputThroughput  Value `json:"output_throughput"`
	TotalThroughput   Value `json:"total_throughput"`
	// PeakOutput is the largest number of tokens in a 1-s bucket (vllm view: of chunks, as
	// that tool counts); PeakInFlight the most requests at one instant.
	PeakOutput   Value `json:"peak_output_throughput"`
	PeakInFlight Value `json:"peak_in_flight"`

	Metrics []Metric   `json:"metrics"`
	Load    Load       `json:"load"`
	Usage   UsageCheck `json:"usage"`
	SLO     *SLOResult `json:"slo,omitempty"`
	Scale   *Scale     `json:"scale,omitempty"`
	Cost    *Cost      `json:"cost,omitempty"`
	// References are the comparisons with a published figure; empty without a reference.
	References []ReferenceResult `json:"references,omitempty"`
	Warnings   []Warning         `json:"warnings"`
}

// Requests counts requests. Scheduled to Cancelled are of the whole run; the rest are of the
// window.
type Requests struct {
	Scheduled int64 `json:"scheduled"`
	Sent      int64 `json:"sent"`
	Dropped   int64 `json:"dropped"`
	Failed    int64 `json:"failed"`
	Cancelled int64 `json:"cancelled"`
	// Successful is the view's own figure: mifbench, those whose last token is in the window;
	// vllm, all; moreh, those wholly inside.
	Successful int64 `json:"successful"`
	// Started were sent, Finished ended successfully, Inside were sent and ended successfully, in
	// the window; Touching were in flight at some instant of it.
	Started  int64 `json:"started"`
	Finished int64 `json:"finished"`
	Inside   int64 `json:"inside"`
	Touching int64 `json:"touching"`
}

// FailureCount is the number of requests with one status and HTTP code.
type FailureCount struct {
	Status     string `json:"status"`
	HTTPStatus int    `json:"http_status,omitempty"`
	Count      int64  `json:"count"`
	// Example is the first error text seen.
	Example string `json:"example,omitempty"`
}

// Metric is one distribution with its definition.
type Metric struct {
	Name MetricName `json:"name"`
	// Unit is "ms" or "tok/s".
	Unit string `json:"unit"`
	// Basis says which samples are in, in this view.
	Basis string `json:"basis"`
	Stats
}

// MetricName names a metric as `vllm bench serve` does where it has it.
type MetricName string

// The metrics.
const (
	TTFT          MetricName = "ttft"
	TTFAT         MetricName = "ttfat"
	TPOT          MetricName = "tpot"
	ITL           MetricName = "itl"
	TokenLatency  MetricName = "token_latency"
	E2EL          MetricName = "e2el"
	UserTPS       MetricName = "tps"
	QueueTime     MetricName = "client_queue_time"
	E2ELWithQueue MetricName = "e2el_including_client_queue"
)

// Metric is the metric of that name; ok is false when the view does not have it.
func (s Summary) Metric(name MetricName) (m Metric, ok bool) {
	for _, m := range s.Metrics {
		if m.Name == name {
			return m, true
		}
	}
	return Metric{Name: name, Stats: empty(nil)}, false
}

// Warning is a doubt about a result that a reader must see.
type Warning struct {
	// Code is stable and short, for machines.
	Code string `json:"code"`
	Text string `json:"text"`
}

// Definition is what a metric means and what other tools call it.
type Definition struct {
	Name    MetricName `json:"name"`
	Label   string     `json:"label"`
	Unit    string     `json:"unit"`
	Meaning string     `json:"meaning"`
	// Elsewhere maps to other tools' names.
	Elsewhere string `json:"elsewhere"`
}

// Definitions lists all metrics in report order. Names clash across tools
// (vllm-project/vllm#6531, #7242): each report can print what it means by them.
func Definitions() []Definition {
	return []Definition{
		{TTFT, "Time to first token", "ms", "send to first chunk with content, reasoning or a tool call", "vllm counts an empty first chunk as well; guidellm, aiperf: same name"},
		{TTFAT, "Time to first answer token", "ms", "send to first chunk that is not reasoning", "guidellm TTFOT; aiperf TTFO"},
		{TPOT, "Time per output token", "ms", "(last token - first token) / (tokens - 1) of one request; requests of one token are left out", "guidellm and aiperf call this ITL"},
		{ITL, "Inter-token latency (chunk gap)", "ms", "time between two neighbouring chunks of a stream, all streams pooled", "vllm, sglang: ITL; aiperf: inter-chunk latency"},
		{TokenLatency, "Per-token latency", "ms", "chunk gap divided by the chunk's tokens, once per token; equals ITL when each chunk holds one", "sglang ITL; genai-perf ITL"},
		{E2EL, "End-to-end latency", "ms", "send to last token", "same everywhere; guidellm counts to the request's end"},
		{UserTPS, "Tokens/s per user", "tok/s", "(tokens - 1) / (last token - first token) of one request", "InferenceX interactivity"},
		{QueueTime, "Client queue time", "ms", "intended send to send: waiting for a slot and being late", "vllm client_queue_time"},
		{E2ELWithQueue, "End-to-end latency from the intended send", "ms", "intended send to last token: what a user of an open system feels", "wrk2's corrected latency; vllm e2el_including_client_queue"},
	}
}

// Load is what was asked of the system and what held it back.
type Load struct {
	// RequestRate is the rate asked for, n/a when not limited; SendRate the rate of sends over
	// the whole run, IntendedRate that of the schedule.
	RequestRate  Value `json:"request_rate"`
	IntendedRate Value `json:"intended_rate"`
	SendRate     Value `json:"send_rate"`
	// MaxConcurrency is the cap, 0 without one.
	MaxConcurrency int `json:"max_concurrency"`
	// InFlight is the time-weighted mean of requests in flight in the window.
	InFlight Value  `json:"in_flight"`
	Little   Little `json:"little"`
	// Binds says which limit set the load, FillSeconds how long the rate needs to fill the cap.
	Binds       Limit `json:"binds"`
	FillSeconds Value `json:"fill_s"`
}

// UsageCheck compares the client's token counts with the server's.
type UsageCheck struct {
	// WithUsage of Successful requests brought the server's count.
	Successful int64 `json:"successful"`
	WithUsage  int64 `json:"with_usage"`
	// Counted and Reported are output tokens of requests with usage, as chunks and as usage.
	Counted  int64 `json:"counted_tokens"`
	Reported int64 `json:"reported_tokens"`
	// OutputMismatch is |Counted-Reported| / Reported; PromptMismatch the share of requests
	// whose prompt had another length at the server than intended.
	OutputMismatch Value `json:"output_mismatch"`
	PromptMismatch Value `json:"prompt_mismatch"`
	// ShortOutputs ended with fewer tokens than asked for.
	ShortOutputs int64 `json:"short_outputs"`
	// CacheHit is cached / prompt tokens of requests whose usage says so.
	CacheHit Value `json:"prefix_cache_hit"`
}
