package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/mifbench/mifbench/pkg/bench/metrics"
	"github.com/mifbench/mifbench/pkg/bench/record"
)

// VLLMJSON writes the result file of `vllm bench serve`: upstream's keys in upstream's order,
// one object a line. Figures are those of the block's view; keys of our own stand at
// the end (mifbench_view, mifbench_verdict, mifbench_partial). n/a is null. Text and records are never in it.
func VLLMJSON(w io.Writer, d Data) error {
	for _, r := range d.Results {
		s, ok := r.published(d.View)
		if !ok {
			continue
		}
		o := &object{}
		o.head(r.Params)
		o.results(r.Params, s)
		if d.SaveDetailed {
			if err := o.detailed(r); err != nil {
				return err
			}
		}
		o.put("mifbench_view", s.View)
		if v := r.Verdict(); v != "" {
			o.put("mifbench_verdict", v)
		}
		if r.Partial || s.Partial {
			o.put("mifbench_partial", true)
		}
		if o.err != nil {
			return fmt.Errorf("result %s as JSON: %w", r.Name, o.err)
		}
		if _, err := fmt.Fprintf(w, "{%s}\n", o.buf.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// object is a JSON object whose keys keep their order, spaced as Python's json.dump does.
type object struct {
	buf bytes.Buffer
	err error
}

func (o *object) put(key string, value any) {
	js, err := json.Marshal(value)
	k, kerr := json.Marshal(key)
	o.err = errors.Join(o.err, err, kerr)
	if o.buf.Len() > 0 {
		o.buf.WriteString(", ")
	}
	o.buf.Write(k)
	o.buf.WriteString(": ")
	o.buf.Write(js)
}

func orNull[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}

func (o *object) head(p Params) {
	date := p.Date
	if date.IsZero() {
		date = time.Unix(0, 0).UTC()
	}
	o.put("date", date.Format("20060102-150405"))
	o.put("endpoint_type", p.EndpointType)
	o.put("backend", p.Backend)
	o.put("label", orNull(p.Label))
	o.put("model_id", p.Model)
	o.put("tokenizer_id", p.Tokenizer)
	o.put("num_prompts", p.NumPrompts)
	for _, m := range p.Metadata {
		o.put(m.Key, m.Value)
	}
	if p.RequestRate > 0 && !math.IsInf(p.RequestRate, 1) {
		o.put("request_rate", pythonNumber(p.RequestRate))
	} else {
		o.put("request_rate", "inf")
	}
	switch {
	case p.Burstiness == 0:
		o.put("burstiness", pythonNumber(1))
	case math.IsInf(float64(p.Burstiness), 1):
		o.put("burstiness", "inf") // upstream writes Infinity, which is not JSON
	default:
		o.put("burstiness", pythonNumber(float64(p.Burstiness)))
	}
	o.put("max_concurrency", orNull(p.MaxConcurrency))
	if p.RampUp != nil {
		o.put("ramp_up_strategy", p.RampUp.Strategy)
		o.put("ramp_up_start_rps", p.RampUp.StartRPS)
		o.put("ramp_up_end_rps", p.RampUp.EndRPS)
	}
}

// pythonNumber writes a float as Python does: 140.0, not 140.
func pythonNumber(f float64) json.RawMessage {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return json.RawMessage("null")
	}
	return json.RawMessage(pythonFloat(f))
}

func number(v metrics.Value) json.RawMessage { return pythonNumber(float64(v)) }

func (o *object) results(p Params, s metrics.Summary) {
	o.put("duration", pythonNumber(s.Duration))
	o.put("completed", s.Requests.Successful)
	o.put("failed", failed(s))
	o.put("total_input_tokens", s.InputTokens)
	o.put("total_output_tokens", s.OutputTokens)
	o.put("request_throughput", number(s.RequestThroughput))
	goodput := metrics.NA()
	if p.Goodput && s.SLO != nil {
		goodput = s.SLO.Goodput
	}
	o.put("request_goodput", number(goodput))
	o.put("output_throughput", number(s.OutputThroughput))
	o.put("total_token_throughput", number(s.TotalThroughput))
	o.put("max_output_tokens_per_s", number(s.PeakOutput))
	o.put("max_concurrent_requests", s.PeakInFlight) // an int upstream
	o.put("rtfx", json.RawMessage("0.0"))
	for _, sec := range sections() {
		if !p.selected(sec.name) {
			continue
		}
		m, _ := s.Metric(sec.name)
		name := string(sec.name) + "_ms"
		o.put("mean_"+name, number(m.Mean))
		o.put("median_"+name, number(m.Median))
		o.put("std_"+name, number(m.Std))
		for _, q := range p.percentiles() {
			o.put("p"+percentileName(q)+"_"+name, number(m.At(q)))
		}
	}
}

// detail is the arrays of --save-detailed, in s, in the order of the records.
type detail struct {
	inputs, outputs []int64
	starts, ttfts   []json.RawMessage
	itls            [][]json.RawMessage
	errors          []string
}

func inSeconds(ns int64) json.RawMessage { return pythonNumber(float64(ns) / 1e9) }

// detailed adds the arrays. Generated text is not recorded, so its array holds empty strings.
func (o *object) detailed(r Result) error {
	if r.Records == nil {
		return fmt.Errorf("result %s: its records are not at hand for detailed output", r.Name)
	}
	var d detail
	for rec, err := range r.Records {
		if errors.Is(err, record.ErrDamaged) {
			continue // the summary is flagged partial
		}
		if err != nil {
			return fmt.Errorf("result %s: %w", r.Name, err)
		}
		d.add(rec)
	}
	o.put("input_lens", d.inputs)
	o.put("output_lens", d.outputs)
	o.put("start_times", d.starts)
	o.put("ttfts", d.ttfts)
	o.put("itls", d.itls)
	o.put("generated_texts", make([]string, len(d.inputs)))
	o.put("errors", d.errors)
	return nil
}

func (d *detail) add(r *record.Record) {
	out, ttft := int64(0), int64(0)
	itl := []json.RawMessage{}
	for i, e := range r.Events {
		if i == 0 {
			ttft = e.At - r.Sent
		} else {
			itl = append(itl, inSeconds(e.At-r.Events[i-1].At))
		}
		out += int64(e.Tokens)
	}
	if r.UsageCompletion >= 0 {
		out = int64(r.UsageCompletion)
	}
	if r.Status != record.OK {
		out = 0 // upstream's rule
	}
	d.inputs = append(d.inputs, int64(max(r.UsagePrompt, r.PromptTokens)))
	d.outputs = append(d.outputs, out)
	d.starts = append(d.starts, inSeconds(r.Sent))
	d.ttfts = append(d.ttfts, inSeconds(ttft))
	d.itls = append(d.itls, itl)
	d.errors = append(d.errors, r.Error)
}
