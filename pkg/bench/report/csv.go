package report

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"github.com/mifbench/mifbench/pkg/bench/metrics"
)

// CSV writes one row a scenario and view; missing figures are empty cells.
func CSV(w io.Writer, d Data) error {
	c := csv.NewWriter(w)
	head := []string{
		"scenario", "view", "flags", "input_tokens_per_request", "output_tokens_per_request", "dataset", "max_concurrency", "request_rate",
		"window_s", "successful", "failed", "dropped", "input_tokens", "output_tokens", "request_throughput", "input_throughput",
		"output_throughput", "total_throughput", "peak_output_throughput", "in_flight", "peak_in_flight", "binds", "output_per_gpu",
		"output_per_decode_node", "dollars_per_million_output", "reference_percent", "goodput",
	}
	for _, def := range metrics.Definitions() {
		for _, stat := range []string{"mean", "median", "std", "p90", "p99"} {
			head = append(head, stat+"_"+string(def.Name)+unitSuffix(def.Unit))
		}
	}
	if err := c.Write(head); err != nil {
		return err
	}
	for _, r := range d.Results {
		for _, v := range metrics.Views() {
			s, ok := r.Views[v]
			if !ok {
				continue
			}
			if err := c.Write(csvRow(r, s)); err != nil {
				return err
			}
		}
	}
	c.Flush()
	return c.Error()
}

func unitSuffix(unit string) string {
	if unit == "ms" {
		return "_ms"
	}
	return ""
}

func cell(v metrics.Value) string {
	if !v.Known() {
		return ""
	}
	return v.String()
}

func csvRow(r Result, s metrics.Summary) []string {
	gpu, node, dollars, ref, good := metrics.NA(), metrics.NA(), metrics.NA(), metrics.NA(), metrics.NA()
	if s.Scale != nil {
		gpu, node = s.Scale.OutputPerGPU, s.Scale.OutputPerDecodeNode
	}
	if s.Cost != nil {
		dollars = s.Cost.PerMillionOutput
	}
	if len(s.References) > 0 {
		ref = s.References[0].Percent
	}
	if s.SLO != nil {
		good = s.SLO.Goodput
	}
	i := func(n int64) string { return strconv.FormatInt(n, 10) }
	p := r.Params
	row := []string{
		r.Name, string(s.View), strings.Join(r.Flags(), "; "), i(int64(p.ISL)), i(int64(p.OSL)), p.Dataset, i(int64(p.MaxConcurrency)), cell(s.Load.RequestRate),
		cell(metrics.Value(s.Duration)), i(s.Requests.Successful), i(s.Requests.Failed), i(s.Requests.Dropped), i(s.InputTokens), i(s.OutputTokens),
		cell(s.RequestThroughput), cell(s.InputThroughput), cell(s.OutputThroughput), cell(s.TotalThroughput), cell(s.PeakOutput),
		cell(s.Load.InFlight), cell(s.PeakInFlight), string(s.Load.Binds), cell(gpu), cell(node), cell(dollars), cell(ref), cell(good),
	}
	for _, def := range metrics.Definitions() {
		m, _ := s.Metric(def.Name)
		row = append(row, cell(m.Mean), cell(m.Median), cell(m.Std), cell(m.At(90)), cell(m.At(99)))
	}
	return row
}
