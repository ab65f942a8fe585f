package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/dynblock"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mifbench/mifbench/pkg/resource"
)

// Scenario is one instance of a scenario block: one measurement. Zero means "not set"
// unless a default is documented; lengths are tokens, times durations, money dollars.
type Scenario struct {
	Address resource.Address
	// Name is the label, with the instance key when there is one.
	Name string `hcl:"name,label" doc:"Name of the scenario in results and on the command line."`

	// Target is the resource whose address is benchmarked, nil with Endpoint or Endpoints.
	Target *resource.Address
	// TargetAttrs are the target's attributes, unknown ones included.
	TargetAttrs map[string]cty.Value
	Endpoint    string `hcl:"endpoint,optional" doc:"Base URL of the server, instead of target."`
	// Endpoints are equal servers, used in turn.
	Endpoints []string `hcl:"endpoints,optional" doc:"Base URLs of equal servers, used in turn, instead of target or endpoint."`
	// Dataset is nil when the block names none.
	Dataset *Dataset
	// Pending lists attributes whose values only apply will tell.
	Pending []string

	Engine       string            `hcl:"engine,optional" doc:"What sends the load: the native client, or the stock vllm bench serve in a client pod." enum:"native,vllm" default:"native"`
	API          string            `hcl:"api,optional" doc:"Endpoint family." enum:"completions,chat" default:"completions"`
	Model        string            `hcl:"model" doc:"Model name as served."`
	Tokenizer    string            `hcl:"tokenizer,optional" doc:"tokenizer.json of the model, for exact prompt lengths."`
	InputTokens  int64             `hcl:"input_tokens,optional" doc:"Length of every prompt."`
	OutputTokens int64             `hcl:"output_tokens,optional" doc:"Length of every answer."`
	IgnoreEOS    bool              `hcl:"ignore_eos,optional" doc:"Generate output_tokens tokens whatever the model says." default:"false"`
	PromptFormat string            `hcl:"prompt_format,optional" doc:"How prompts are sent." enum:"text,token_ids" default:"text"`
	Prompts      int64             `hcl:"prompts,optional" doc:"Number of different prompts, repeated in turn; all that the dataset has when absent."`
	Seed         int64             `hcl:"seed,optional" doc:"Seed of schedule and prompts." default:"0"`
	Stream       bool              `hcl:"stream,optional" doc:"Receive token by token." default:"true"`
	Temperature  *float64          `hcl:"temperature,optional" doc:"Sampling temperature; the server's when absent."`
	Headers      map[string]string `hcl:"headers,optional" doc:"Headers of every request."`
	APIKey       string            `hcl:"api_key,optional" doc:"Bearer token; sensitive." sensitive:"true"`
	ExtraBody    cty.Value         `hcl:"extra_body,optional" doc:"Further members of every request body, as an object."`

	Load       LoadSpec    `hcl:"load,block" doc:"How much is sent, and how."`
	Window     *Window     `hcl:"window,block" doc:"Which part counts."`
	Client     *Client     `hcl:"client,block" doc:"Where the load comes from."`
	Connection *Connection `hcl:"connection,block" doc:"How the server is reached: certificates, HTTP/2, timeouts."`
	Metrics    *Metrics    `hcl:"metrics,block" doc:"What is reported."`
	SLO        *SLO        `hcl:"slo,block" doc:"Limits of a good request; the verdict."`
	Cost       *Cost       `hcl:"cost,block" doc:"What the hardware costs."`
	Reference  *Reference  `hcl:"reference,block" doc:"A published number to be held against."`

	// Range is the block's header, At finds ranges by dotted path.
	Range hcl.Range
	At    func(path string) hcl.Range
}

// LoadSpec is the load block: requests or duration, and a rate or closed loop.
type LoadSpec struct {
	Requests       int64         `hcl:"requests,optional" doc:"Number of requests, or duration."`
	Duration       time.Duration `hcl:"duration,optional" doc:"How long requests are admitted, or requests."`
	MaxConcurrency int64         `hcl:"max_concurrency,optional" doc:"Greatest number of requests in flight; no limit when absent."`
	RequestRate    float64       `hcl:"request_rate,optional" doc:"Requests per second; as fast as max_concurrency allows when absent."`
	Burstiness     float64       `hcl:"burstiness,optional" doc:"Shape of the gamma distribution of the gaps; 1 is Poisson." default:"1"`
	Overflow       string        `hcl:"overflow,optional" doc:"What becomes of a request that is due while max_concurrency is reached: it waits for a slot, or is left out so that the rate stays as asked." enum:"queue,drop" default:"queue"`
	RampUp         string        `hcl:"ramp_up,optional" doc:"How the rate grows to request_rate." enum:"linear,exponential"`
	RampUpStart    float64       `hcl:"ramp_up_start_rate,optional" doc:"Rate at the start of the ramp."`
}

// Window is the window block: measured is [start+warmup, end-cooldown).
type Window struct {
	Auto     bool          `hcl:"auto,optional" doc:"Find the steady state." default:"false"`
	Warmup   time.Duration `hcl:"warmup,optional" doc:"Left out at the start."`
	Cooldown time.Duration `hcl:"cooldown,optional" doc:"Left out at the end."`
}

// Client is the client block.
type Client struct {
	Mode         string            `hcl:"mode,optional" doc:"cluster: load from pods; local: from this machine." enum:"cluster,local" default:"cluster"`
	Pods         int64             `hcl:"pods,optional" doc:"Number of client pods." default:"1"`
	Image        string            `hcl:"image,optional" doc:"Image of the client pods."`
	NodeSelector map[string]string `hcl:"node_selector,optional" doc:"Labels of the nodes for client pods."`
	Tolerations  cty.Value         `hcl:"tolerations,optional" doc:"Tolerations of the client pods, as in a pod."`
	Resources    cty.Value         `hcl:"resources,optional" doc:"Resources of the client container, as in a pod."`
}

// Metrics is the metrics block.
type Metrics struct {
	Percentiles []float64 `hcl:"percentiles,optional" doc:"Percentiles from 0 to 100."`
	View        string    `hcl:"view,optional" doc:"Basis of the numbers." enum:"mifbench,vllm,moreh" default:"mifbench"`
}

// SLO is the slo block; each limit is optional.
type SLO struct {
	TTFT  time.Duration `hcl:"ttft,optional" doc:"Greatest time to first token."`
	ITL   time.Duration `hcl:"itl,optional" doc:"Greatest inter-token latency."`
	TPOT  time.Duration `hcl:"tpot,optional" doc:"Greatest time per output token."`
	E2EL  time.Duration `hcl:"e2el,optional" doc:"Greatest end-to-end latency."`
	Share Percent       `hcl:"share,optional" doc:"Share of requests that must be good." default:"100%"`
}

// Cost is the cost block.
type Cost struct {
	GPUHour float64 `hcl:"gpu_hour" doc:"Dollars for one GPU and one hour."`
	GPUs    int64   `hcl:"gpus" doc:"Number of GPUs."`
}

// Reference is the reference block: numbers from elsewhere, nil when not given.
type Reference struct {
	OutputTokensPerSecond *float64 `hcl:"output_tokens_per_second,optional" doc:"Output throughput."`
	TotalTokensPerSecond  *float64 `hcl:"total_tokens_per_second,optional" doc:"Input and output throughput."`
	RequestsPerSecond     *float64 `hcl:"requests_per_second,optional" doc:"Request throughput."`
	TTFTMillis            *float64 `hcl:"ttft_ms,optional" doc:"Mean time to first token, milliseconds."`
	ITLMillis             *float64 `hcl:"itl_ms,optional" doc:"Mean inter-token latency, milliseconds."`
	Tolerance             Percent  `hcl:"tolerance,optional" doc:"Allowed difference." default:"5%"`
	Source                string   `hcl:"source,optional" doc:"Where the numbers come from."`
}

// Percent is a share: 0.03 for "3%". It is written with a percent sign or as a fraction.
type Percent float64

// UnmarshalText reads "3%" or "0.03"; the range is 0 to 1000 %.
func (p *Percent) UnmarshalText(text []byte) error {
	number, percent := strings.CutSuffix(strings.TrimSpace(string(text)), "%")
	f, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		f /= 100
	}
	if err != nil || !(f >= 0 && f <= 10) {
		return fmt.Errorf("%q is not a share; write for example \"3%%\" or 0.03", text)
	}
	*p = Percent(f)
	return nil
}

// scenarioRefs are the attributes of a scenario that refer to other blocks.
type scenarioRefs struct {
	Target  cty.Value `hcl:"target,optional" doc:"The resource to benchmark, e.g. gateway.mif; or endpoint."`
	Dataset cty.Value `hcl:"dataset,optional" doc:"The dataset to take prompts from, e.g. dataset.sharegpt."`
}

func expandDynamic(b *hclsyntax.Block, ctx *hcl.EvalContext) hcl.Body {
	return dynblock.Expand(b.Body, ctx)
}
