package sim

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// histogram is a Prometheus histogram with fixed upper bounds.
type histogram struct {
	bounds []float64
	counts []uint64 // one more than bounds: +Inf
	sum    float64
	n      uint64
}

func newHistogram(bounds []float64) histogram {
	return histogram{bounds: bounds, counts: make([]uint64, len(bounds)+1)}
}

func (h *histogram) observe(v float64, times int) {
	if times <= 0 {
		return
	}
	i := 0
	for i < len(h.bounds) && v > h.bounds[i] {
		i++
	}
	h.counts[i] += uint64(times)
	h.n += uint64(times)
	h.sum += v * float64(times)
}

// The bounds are vLLM's (V1 engine).
//
//nolint:gochecknoglobals // read-only tables
var (
	ttftBounds = []float64{0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560}
	tpotBounds = []float64{0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80}
	e2eBounds  = []float64{0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680}
	iterBounds = []float64{1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384}
	lenBounds  = []float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000}
)

// rankMetrics are the counters of one rank; the gauges come from its engines.
type rankMetrics struct {
	mu                                 sync.Mutex
	prompt, generated                  uint64
	stop, length                       uint64
	ttft, itl, tpot, e2e, queue        histogram
	inference, prefill, decode, tokens histogram
	promptLen, genLen                  histogram
}

func newRankMetrics() *rankMetrics {
	h := newHistogram
	return &rankMetrics{
		ttft: h(ttftBounds), itl: h(tpotBounds), tpot: h(tpotBounds), e2e: h(e2eBounds), queue: h(e2eBounds),
		inference: h(e2eBounds), prefill: h(e2eBounds), decode: h(e2eBounds), tokens: h(iterBounds),
		promptLen: h(lenBounds), genLen: h(lenBounds),
	}
}

// step counts one engine step of that (virtual) duration; called before reap.
func (m *rankMetrics) step(e *engine, dur time.Duration, speedup float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.generated += uint64(len(e.running))
	fresh, prompts := 0, 0
	for _, s := range e.joined {
		if s.state == seqRunning && s.preempted == 0 {
			fresh++
			prompts += s.prompt
			m.ttft.observe((s.first-s.arrived).Seconds()/speedup, 1)
		}
	}
	m.prompt += uint64(prompts)
	m.tokens.observe(float64(len(e.running)+prompts), 1)
	m.itl.observe(dur.Seconds()/speedup, len(e.running)-fresh)
}

// finished counts a completed sequence.
func (m *rankMetrics) finished(s *seq, now time.Duration, speedup float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	reason := ""
	if st, ok := s.owner.(*stream); ok {
		reason = st.w.j.reason
	}
	if reason == "stop" {
		m.stop++
	} else {
		m.length++
	}
	sec := func(d time.Duration) float64 { return d.Seconds() / speedup }
	m.e2e.observe(sec(now-s.arrived), 1)
	m.queue.observe(sec(s.scheduled-s.arrived), 1)
	m.inference.observe(sec(now-s.scheduled), 1)
	m.prefill.observe(sec(s.first-s.scheduled), 1)
	m.decode.observe(sec(now-s.first), 1)
	if s.max > 1 {
		m.tpot.observe(sec(now-s.first)/float64(s.max-1), 1)
	}
	m.promptLen.observe(float64(s.prompt), 1)
	m.genLen.observe(float64(s.max), 1)
}

// gauges sums over the rank's engines; kv is the mean share of used KV memory.
func (r *rank) gauges() (running, waiting int, kv float64) {
	for _, g := range r.groups {
		g.mu.Lock()
		running += g.e.numRunning()
		waiting += g.e.numWaiting()
		kv += g.e.kvUsage() / float64(len(r.groups))
		g.mu.Unlock()
	}
	return running, waiting, kv
}

// metrics answers /metrics in the text format, with vLLM's names and labels.
func (r *rank) metrics(c *conn, req *http.Request, _ []byte) {
	running, waiting, kv := r.gauges()
	var preempted, queries, hits, slips uint64
	for _, g := range r.groups {
		g.mu.Lock()
		preempted += g.e.preemptions
		queries += g.e.queries
		hits += g.e.hits
		slips += g.slips
		g.mu.Unlock()
	}
	w := &promWriter{labels: fmt.Sprintf("engine=%q,model_name=%q", strconv.Itoa(r.index), r.srv.cfg.Model)}
	w.value("gauge", "num_requests_running", "Number of requests in model execution batches.", float64(running))
	w.value("gauge", "num_requests_waiting", "Number of requests waiting to be processed.", float64(waiting))
	w.value("gauge", "kv_cache_usage_perc", "KV-cache usage. 1 means 100 percent usage.", kv)
	w.value("counter", "num_preemptions", "Cumulative number of preemption from the engine.", float64(preempted))
	w.value("counter", "prefix_cache_queries", "Prefix cache queries, in terms of number of queried tokens.", float64(queries))
	w.value("counter", "prefix_cache_hits", "Prefix cache hits, in terms of number of cached tokens.", float64(hits))
	w.head("gauge", "cache_config_info", "Information of the LLMEngine CacheConfig")
	w.line("cache_config_info", fmt.Sprintf(`,block_size="%d",enable_prefix_caching=%q,num_gpu_blocks="%d"`,
		blockSize, pythonBool(r.srv.cfg.PrefixCaching), r.srv.model.KVTokens/blockSize), 1)
	fmt.Fprintf(&w.b, "# HELP mifbench_sim_slips_total Steps that ended more than a step late: the machine did not keep up.\n"+
		"# TYPE mifbench_sim_slips_total counter\nmifbench_sim_slips_total{%s} %d\n"+
		"# HELP mifbench_sim_refused_total Connections not accepted for want of file descriptors.\n"+
		"# TYPE mifbench_sim_refused_total counter\nmifbench_sim_refused_total{%s} %d\n", w.labels, slips, w.labels, r.refused.Load())
	m := r.m
	m.mu.Lock()
	defer m.mu.Unlock()
	w.value("counter", "prompt_tokens", "Number of prefill tokens processed.", float64(m.prompt))
	w.value("counter", "generation_tokens", "Number of generation tokens processed.", float64(m.generated))
	w.head("counter", "request_success", "Count of successfully processed requests.")
	for _, x := range []struct {
		reason string
		n      uint64
	}{{"stop", m.stop}, {"length", m.length}, {"abort", 0}, {"error", 0}, {"repetition", 0}} { // a client that hangs up counts as none of them
		w.line("request_success_total", `,finished_reason="`+x.reason+`"`, float64(x.n))
	}
	for _, x := range []struct {
		name, help string
		h          *histogram
	}{
		{"iteration_tokens_total", "Histogram of number of tokens per engine_step.", &m.tokens},
		{"time_to_first_token_seconds", "Histogram of time to first token in seconds.", &m.ttft},
		{"inter_token_latency_seconds", "Histogram of inter-token latency in seconds.", &m.itl},
		{"request_time_per_output_token_seconds", "Histogram of time_per_output_token_seconds per request.", &m.tpot},
		{"e2e_request_latency_seconds", "Histogram of e2e request latency in seconds.", &m.e2e},
		{"request_queue_time_seconds", "Histogram of time spent in WAITING phase for request.", &m.queue},
		{"request_inference_time_seconds", "Histogram of time spent in RUNNING phase for request.", &m.inference},
		{"request_prefill_time_seconds", "Histogram of time spent in PREFILL phase for request.", &m.prefill},
		{"request_decode_time_seconds", "Histogram of time spent in DECODE phase for request.", &m.decode},
		{"request_prompt_tokens", "Number of prefill tokens processed.", &m.promptLen},
		{"request_generation_tokens", "Number of generation tokens processed.", &m.genLen},
	} {
		w.histogram(x.name, x.help, x.h)
	}
	c.answer(req, http.StatusOK, "text/plain; version=1.0.0; charset=utf-8", []byte(w.b.String()))
}

func pythonBool(b bool) string {
	if b {
		return "True"
	}
	return "False"
}

// promWriter writes the Prometheus text format.
type promWriter struct {
	b      strings.Builder
	labels string
}

func (w *promWriter) head(kind, name, help string) {
	if kind == "counter" {
		name += "_total"
	}
	fmt.Fprintf(&w.b, "# HELP vllm:%s %s\n# TYPE vllm:%s %s\n", name, help, name, kind)
}

func (w *promWriter) line(name, more string, v float64) {
	fmt.Fprintf(&w.b, "vllm:%s{%s%s} %s\n", name, w.labels, more, number(v))
}

func (w *promWriter) value(kind, name, help string, v float64) {
	w.head(kind, name, help)
	if kind == "counter" {
		name += "_total"
	}
	w.line(name, "", v)
}

func (w *promWriter) histogram(name, help string, h *histogram) {
	w.head("histogram", name, help)
	sum := uint64(0)
	for i, n := range h.counts {
		sum += n
		bound := math.Inf(1)
		if i < len(h.bounds) {
			bound = h.bounds[i]
		}
		w.line(name+"_bucket", `,le="`+number(bound)+`"`, float64(sum))
	}
	w.line(name+"_count", "", float64(h.n))
	w.line(name+"_sum", "", h.sum)
}

// number is a value as Prometheus' Python client writes it.
func number(v float64) string {
	if math.IsInf(v, 1) {
		return "+Inf"
	}
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}
