package report

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/mifbench/mifbench/pkg/bench/metrics"
	"github.com/mifbench/mifbench/pkg/bench/record"
)

// RequestsCSV writes one row a request, read from the records. Times are ns since the run's
// start; what did not happen is an empty cell.
func RequestsCSV(w io.Writer, d Data) error {
	c := csv.NewWriter(w)
	if err := c.Write([]string{
		"scenario", "index", "status", "http_status", "intended_ns", "sent_ns", "connected_ns", "first_byte_ns", "first_token_ns", "last_token_ns", "done_ns",
		"prompt_tokens", "usage_prompt", "usage_completion", "cached_tokens", "max_tokens", "chunks", "tokens", "reasoning_chunks", "coalesced_chunks",
		"finish_reason", "target", "max_lag_ns", "kernel_clock", "error",
	}); err != nil {
		return err
	}
	for _, r := range d.Results {
		if err := eachRecord(r, func(rec *record.Record) error { return c.Write(requestRow(r.Name, rec)) }); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// eachRecord calls do for every record that can be read; damage is the summary's to tell.
func eachRecord(r Result, do func(*record.Record) error) error {
	if r.Records == nil {
		return fmt.Errorf("result %s: its records are not at hand", r.Name)
	}
	for rec, err := range metrics.Source(r.Records) {
		if errors.Is(err, record.ErrDamaged) {
			continue
		}
		if err != nil {
			return fmt.Errorf("result %s: %w", r.Name, err)
		}
		if err := do(rec); err != nil {
			return err
		}
	}
	return nil
}

func requestRow(scenario string, r *record.Record) []string {
	i := func(n int64) string { return strconv.FormatInt(n, 10) }
	instant := func(n int64) string {
		if n == 0 {
			return ""
		}
		return i(n)
	}
	known := func(n int32) string {
		if n < 0 {
			return ""
		}
		return i(int64(n))
	}
	first, last, tokens, coalesced := "", "", int64(0), int64(0)
	for k := range r.Events {
		tokens += int64(r.Events[k].Tokens)
		if r.Events[k].Coalesced {
			coalesced++
		}
	}
	if n := len(r.Events); n > 0 {
		first, last = i(r.Events[0].At), i(r.Events[n-1].At)
	}
	return []string{
		scenario, i(r.Index), string(r.Status), instant(int64(r.HTTPStatus)), i(r.Intended), i(r.Sent), instant(r.Connected), instant(r.FirstByte),
		first, last, instant(r.Done), i(int64(r.PromptTokens)), known(r.UsagePrompt), known(r.UsageCompletion), known(r.CachedTokens),
		i(int64(r.MaxTokens)), i(int64(len(r.Events))), i(tokens), i(int64(r.ReasoningEvents)), i(coalesced), r.FinishReason, i(int64(r.Target)),
		i(r.MaxLag), strconv.FormatBool(r.KernelClock), r.Error,
	}
}
