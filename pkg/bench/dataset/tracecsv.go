package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// table reads a CSV file by the names of its columns; row is called with the values of
// the wanted columns, in their order.
func table(ctx context.Context, path string, columns []string, row func(line int, v []string) error) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read
	h := sha256.New()
	r := csv.NewReader(io.TeeReader(ctxReader{ctx, f}, h))
	r.ReuseRecord = true
	header, err := r.Read()
	if err != nil {
		return "", fmt.Errorf("header: %w", err)
	}
	index, err := find(header, columns)
	if err != nil {
		return "", err
	}
	values := make([]string, len(columns))
	for {
		rec, err := r.Read()
		if errors.Is(err, io.EOF) {
			return sumOf(h), nil
		}
		if err != nil {
			return "", err
		}
		for k, c := range index {
			values[k] = strings.TrimSpace(rec[c])
		}
		line, _ := r.FieldPos(0)
		if err := row(line, values); err != nil {
			return "", fmt.Errorf("line %d: %w", line, err)
		}
	}
}

func find(header, columns []string) ([]int, error) {
	var index []int
	for _, want := range columns {
		at := -1
		for i, have := range header {
			if strings.EqualFold(strings.TrimSpace(strings.TrimPrefix(have, "\ufeff")), want) {
				at = i
			}
		}
		if at < 0 {
			return nil, fmt.Errorf("no column %q; the header has %q", want, header)
		}
		index = append(index, at)
	}
	return index, nil
}

func lengths(in, out string) (int32, int32, error) {
	a, err1 := strconv.ParseInt(in, 10, 32)
	b, err2 := strconv.ParseInt(out, 10, 32)
	if err := errors.Join(err1, err2); err != nil {
		return 0, 0, err
	}
	if a < 1 || b < 0 {
		return 0, 0, fmt.Errorf("%d input and %d output tokens", a, b)
	}
	return int32(a), int32(b), nil
}

func azureCalls(ctx context.Context, path string) (calls []call, sum string, err error) {
	var first time.Time
	sum, err = table(ctx, path, []string{"TIMESTAMP", "ContextTokens", "GeneratedTokens"}, func(_ int, v []string) error {
		at, err := parseTime(v[0])
		if err != nil {
			return err
		}
		if first.IsZero() {
			first = at
		}
		in, out, err := lengths(v[1], v[2])
		calls = append(calls, call{offset: int64(at.Sub(first)), input: in, output: out})
		return err
	})
	return calls, sum, err
}

func parseTime(s string) (time.Time, error) {
	var errs []error
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04:05Z07:00", time.RFC3339} {
		t, err := time.Parse(layout, s)
		if err == nil {
			return t, nil
		}
		errs = append(errs, err)
	}
	return time.Time{}, errors.Join(errs...)
}

func burstOptions() []OptionDoc {
	return []OptionDoc{
		{"model", "Only rows of this model; empty means all.", "GPT-4"},
		{"timestamps", "Whether requests are sent at the recorded times.", false},
		{"speed", "How many times faster than recorded.", 1.0},
		{"max_tokens", "Requests with longer prompts are left out; 0 means none are.", 0},
		textOption(),
	}
}

// openBurstGPT is the kind "burstgpt": the lengths, and on request the times, of BurstGPT.
func openBurstGPT(ctx context.Context, o *opening) (Source, error) {
	var calls []call
	model, times := o.values.string("model"), o.values.bool("timestamps")
	columns := []string{"Timestamp", "Model", "Request tokens", "Response tokens"}
	first := -1.0
	sum, err := table(ctx, o.Path, columns, func(_ int, v []string) error {
		if model != "" && v[1] != model || v[3] == "0" {
			return nil
		}
		at, err := strconv.ParseFloat(v[0], 64)
		if err != nil {
			return err
		}
		if first < 0 {
			first = at
		}
		in, out, err := lengths(v[2], v[3])
		c := call{offset: -1, input: in, output: out}
		if times {
			c.offset = int64((at - first) * 1e9)
		}
		calls = append(calls, c)
		return err
	})
	if err != nil {
		return nil, err
	}
	return openCalls(ctx, o, calls, sum, o.values.float("speed"), o.values.int("max_tokens"))
}
