package cli

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/mifbench/mifbench/pkg/bench/metrics"
	"github.com/mifbench/mifbench/pkg/bench/report"
)

// publishedJSON is the published table as data: the figures of its seven logs, by the labels
// of their blocks.
//
//go:embed published.json
var publishedJSON []byte

// publishedPrefix marks a published row where a run may stand.
const publishedPrefix = "published:"

// publishedRows are the published results; their only view is moreh.
func publishedRows() []report.Result {
	var rows []map[string]any
	if err := json.Unmarshal(publishedJSON, &rows); err != nil {
		panic(fmt.Sprintf("cli: published.json: %v", err))
	}
	var out []report.Result
	for _, row := range rows {
		out = append(out, publishedResult(row))
	}
	return out
}

// publishedResult is one row. The logs do not count failed requests; they are taken to have
// none, so that a run with failures does not pass as equal.
func publishedResult(row map[string]any) report.Result {
	num := func(label string) metrics.Value {
		if f, ok := row[label].(float64); ok {
			return metrics.Value(f)
		}
		return metrics.NA()
	}
	name, _ := row["name"].(string)
	span := func(label string) time.Duration { return seconds(float64(num(label))) }
	s := metrics.Summary{
		View: metrics.ViewMoreh, Duration: float64(num("Benchmark duration (s)")),
		InputTokens: int64(num("Total input tokens")), OutputTokens: int64(num("Total generated tokens")),
		OutputThroughput: num("Output token throughput (tok/s)"), TotalThroughput: num("Total Token throughput (tok/s)"),
		RequestThroughput: metrics.NA(), InputThroughput: metrics.NA(), PeakOutput: metrics.NA(), PeakInFlight: metrics.NA(),
	}
	s.Requests.Successful = int64(num("Successful requests"))
	s.Requests.Sent = s.Requests.Successful
	s.Window.Method = metrics.MethodFixed
	s.Load.MaxConcurrency = int(num("Maximum request concurrency"))
	s.Load.Binds, s.Load.RequestRate = metrics.LimitConcurrency, num("Request rate configured (RPS)")
	s.Load.Little.Rate = metrics.NA()
	for _, m := range []metrics.MetricName{metrics.TTFT, metrics.ITL} {
		label := strings.ToUpper(string(m))
		st := metrics.Stats{
			Mean: num("Mean " + label + " (ms)"), Median: num("Median " + label + " (ms)"),
			Std: metrics.NA(), Min: metrics.NA(), Max: metrics.NA(),
		}
		for _, p := range []float64{1, 10, 25, 50, 75, 90} {
			st.Percentiles = append(st.Percentiles, metrics.Percentile{P: p, Value: num(fmt.Sprintf("P%v %s (ms)", p, label))})
		}
		s.Metrics = append(s.Metrics, metrics.Metric{Name: m, Unit: "ms", Stats: st})
	}
	return report.Result{
		Name:  name,
		Views: map[metrics.View]metrics.Summary{metrics.ViewMoreh: s},
		Params: report.Params{
			MaxConcurrency: s.Load.MaxConcurrency, RequestRate: float64(s.Load.RequestRate),
			Warmup: span("Warm-up Time"), Cooldown: span("Cool-down Time"),
		},
	}
}
