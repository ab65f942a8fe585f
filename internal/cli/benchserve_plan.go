package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/mifbench/mifbench/pkg/bench/arrival"
	"github.com/mifbench/mifbench/pkg/bench/client"
	"github.com/mifbench/mifbench/pkg/bench/metrics"
)

// api is the dialect of the backend.
func (f *serveFlags) api() client.API {
	if f.backend == "openai-chat" {
		return client.Chat
	}
	return client.Completions
}

// checkBackend follows upstream: the path must fit the backend.
func (f *serveFlags) checkBackend() error {
	chat := strings.HasSuffix(f.endpoint, "chat/completions")
	switch f.backend {
	case "vllm", "openai":
		if chat {
			return fmt.Errorf("--backend %s sends completions, and --endpoint %s takes chats: use --backend openai-chat", f.backend, f.endpoint)
		}
		if !strings.HasSuffix(f.endpoint, "completions") {
			return fmt.Errorf("--endpoint %s must end with completions for --backend %s", f.endpoint, f.backend)
		}
		return nil
	case "openai-chat":
		if !chat {
			return fmt.Errorf("--endpoint %s must end with chat/completions for --backend openai-chat: add --endpoint /v1/chat/completions", f.endpoint)
		}
		return nil
	}
	return fmt.Errorf("--backend %q is not part of this version, which times answers token by token: use vllm, openai or openai-chat", f.backend)
}

// body is what every request has in common. Upstream sends repetition_penalty 1.0 with
// completions unless told otherwise, and merges --extra-body over the sampling flags.
func (f *serveFlags) body() (client.Params, error) {
	p := client.Params{Model: f.model, IgnoreEOS: f.ignoresEOS(), NoStream: f.noStream, Sampling: map[string]any{}}
	if f.served != "" {
		p.Model = f.served
	}
	if f.api() == client.Completions {
		p.Sampling["repetition_penalty"] = json.Number("1.0")
	}
	for name, v := range f.sampling {
		if f.given(name) {
			p.Sampling[strings.ReplaceAll(name, "-", "_")] = *v
		}
	}
	if k := f.sampling["top-k"]; k != nil && *k != math.Trunc(*k) {
		return p, fmt.Errorf("--top-k %v is not a whole number", *k)
	}
	if f.given("logprobs") {
		if f.api() == client.Chat {
			return p, errors.New("--logprobs is sent with completions only; with chats give --extra-body '{\"logprobs\":true,\"top_logprobs\":N}'")
		}
		p.Sampling["logprobs"] = f.logprobs
	}
	if f.extraBody != "" {
		if err := json.Unmarshal([]byte(f.extraBody), &p.ExtraBody); err != nil {
			return p, fmt.Errorf("--extra-body is not a JSON object: %w", err)
		}
	}
	return p, nil
}

// arrival follows vllm bench serve; offsets are the times of a trace.
func (f *serveFlags) arrival(offsets []time.Duration) arrival.Spec {
	if len(offsets) > 0 {
		return arrival.Spec{Process: "trace", Offsets: offsets, Requests: f.numPrompts}
	}
	spec := arrival.Spec{
		Rate: f.rate, Burstiness: f.burstiness, Requests: f.numPrompts, Rescale: true, Seed: uint64(f.seed), //nolint:gosec // any bits will do
	}
	if f.rampUp != "" {
		spec.Process, spec.From, spec.To = "ramp-"+f.rampUp, float64(f.rampStart), float64(f.rampEnd)
	}
	return spec
}

// finite is the rate for reports, 0 for no limit.
func (f *serveFlags) finite() float64 {
	if math.IsInf(f.rate, 1) {
		return 0
	}
	return f.rate
}

// limits are the goodput's; nil without.
func (f *serveFlags) limits() (*metrics.SLO, error) {
	if len(f.goodput) == 0 {
		return nil, nil
	}
	list, err := pairs("goodput", ":", f.goodput)
	if err != nil {
		return nil, err
	}
	slo := &metrics.SLO{}
	to := map[string]*time.Duration{"ttft": &slo.TTFT, "tpot": &slo.TPOT, "e2el": &slo.E2EL}
	for _, kv := range list {
		d, ok := to[kv[0]]
		if !ok {
			return nil, fmt.Errorf("--goodput %s: the metric is not one of ttft, tpot, e2el", kv[0])
		}
		ms, err := strconv.ParseFloat(kv[1], 64)
		if err != nil || !(ms > 0) {
			return nil, fmt.Errorf("--goodput %s:%s: the limit must be a number of milliseconds above 0", kv[0], kv[1])
		}
		*d = time.Duration(ms * float64(time.Millisecond))
	}
	return slo, nil
}

// levels are the percentiles asked for.
func (f *serveFlags) levels() ([]float64, error) {
	var out []float64
	for _, s := range listed(f.percentiles) {
		p, err := strconv.ParseFloat(s, 64)
		if err != nil || p < 0 || p > 100 {
			return nil, fmt.Errorf("--metric-percentiles: %q is not a percentile between 0 and 100", s)
		}
		out = append(out, p)
	}
	return out, nil
}
