//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// request is what a tool noted of one request: the times of its token events by the
// tool's clock and the server's stamps in the texts it received, both in ns of
// CLOCK_REALTIME. ends tells that only the first and the last event have times.
type request struct {
	at, stamps []int64
	ends       bool
}

// monotonic is CLOCK_REALTIME - CLOCK_MONOTONIC, ns: Python's perf_counter is the latter.
func monotonic() int64 {
	best, offset := int64(1)<<62, int64(0)
	for range 100 {
		a := time.Now()
		var ts unix.Timespec
		if unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) != nil {
			return 0
		}
		b := time.Now()
		if d := int64(b.Sub(a)); d < best {
			best, offset = d, (a.UnixNano()+b.UnixNano())/2-ts.Nano()
		}
	}
	return offset
}

// stampsOf reads the numbers of a text.
func stampsOf(text string) []int64 {
	var out []int64
	for f := range strings.FieldsSeq(text) {
		var v int64
		if len(f) == 19 {
			if _, err := fmt.Sscan(f, &v); err == nil {
				out = append(out, v)
			}
		}
	}
	return out
}

func decode(path string, to any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	// Python writes what JSON does not know, for example for burstiness inf.
	b = notJSON.ReplaceAll(b, []byte("$1 null"))
	if err := json.Unmarshal(b, to); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

var notJSON = regexp.MustCompile(`(:)\s*(Infinity|NaN)\b`)

func ns(seconds float64) int64 { return int64(seconds * 1e9) }

func readVLLM(dir string) ([]request, error) {
	var d struct {
		Starts []float64   `json:"start_times"`
		TTFTs  []float64   `json:"ttfts"`
		ITLs   [][]float64 `json:"itls"`
		Texts  []string    `json:"generated_texts"`
	}
	if err := decode(filepath.Join(dir, "out.json"), &d); err != nil {
		return nil, err
	}
	offset := monotonic()
	var out []request
	for i := range d.Starts {
		at := d.Starts[i] + d.TTFTs[i]
		r := request{at: []int64{ns(at) + offset}, stamps: stampsOf(d.Texts[i])}
		for _, g := range d.ITLs[i] {
			at += g
			r.at = append(r.at, ns(at)+offset)
		}
		out = append(out, r)
	}
	return out, nil
}

// readGuidellm finds the first and the last token's time: it keeps no others.
func readGuidellm(dir string) ([]request, error) {
	type stats struct {
		Output string
		Info   struct {
			Timings struct {
				First float64 `json:"first_token_iteration"`
				Last  float64 `json:"last_token_iteration"`
			}
		}
	}
	var d struct {
		Benchmarks []struct {
			Requests struct{ Successful []stats }
		}
	}
	if err := decode(filepath.Join(dir, "out.json"), &d); err != nil {
		return nil, err
	}
	var out []request
	for _, b := range d.Benchmarks {
		for _, q := range b.Requests.Successful {
			if s := stampsOf(q.Output); len(s) > 1 {
				t := q.Info.Timings
				out = append(out, request{at: []int64{ns(t.First), ns(t.Last)}, stamps: []int64{s[0], s[len(s)-1]}, ends: true})
			}
		}
	}
	return out, nil
}

// chunkStamp is the stamp in a completions chunk; false for a chunk without text.
func chunkStamp(chunk string) (int64, bool) {
	var c struct{ Choices []struct{ Text string } }
	if json.Unmarshal([]byte(chunk), &c) != nil || len(c.Choices) == 0 {
		return 0, false
	}
	s := stampsOf(c.Choices[0].Text)
	if len(s) == 0 {
		return 0, false
	}
	return s[0], true
}

func readAiperf(dir string) ([]request, error) {
	f, err := os.Open(filepath.Join(dir, "out", "profile_export_raw.jsonl"))
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	offset := monotonic()
	var out []request
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var d struct {
			Responses []struct {
				At      int64 `json:"perf_ns"`
				Packets []struct{ Value string }
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &d); err != nil {
			return nil, err
		}
		var r request
		for _, p := range d.Responses {
			for _, k := range p.Packets {
				if s, ok := chunkStamp(k.Value); ok {
					r.at, r.stamps = append(r.at, p.At+offset), append(r.stamps, s)
				}
			}
		}
		out = append(out, r)
	}
	return out, lines.Err()
}

func readInfperf(dir string) ([]request, error) {
	var d []struct {
		Info struct {
			Metrics struct {
				Chunks []string  `json:"response_chunks"`
				Times  []float64 `json:"chunk_times"`
			} `json:"response_metrics"`
		}
	}
	if err := decode(filepath.Join(dir, "out", "per_request_lifecycle_metrics.json"), &d); err != nil {
		return nil, err
	}
	offset := monotonic()
	var out []request
	for _, q := range d {
		var r request
		for i, c := range q.Info.Metrics.Chunks {
			if s, ok := chunkStamp(c); ok && i < len(q.Info.Metrics.Times) {
				r.at, r.stamps = append(r.at, ns(q.Info.Metrics.Times[i])+offset), append(r.stamps, s)
			}
		}
		out = append(out, r)
	}
	return out, nil
}
