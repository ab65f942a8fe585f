//go:build linux

package main

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"

	"github.com/mifbench/mifbench/pkg/bench"
	"github.com/mifbench/mifbench/pkg/bench/arrival"
	"github.com/mifbench/mifbench/pkg/bench/client"
	"github.com/mifbench/mifbench/pkg/bench/dataset"
	"github.com/mifbench/mifbench/pkg/bench/record"
)

// oursArgs runs this binary again: the load generator of `mifbench run` and `bench
// serve`, records on, that keeps the texts' stamps besides.
func oursArgs(_ config, l load, url, dir string) ([]string, error) {
	self, err := os.Executable()
	return []string{self, "ours", url, fmt.Sprint(l.Streams), fmt.Sprint(l.Rate), fmt.Sprint(l.Requests), fmt.Sprint(l.Tokens), dir}, err
}

// timed is what playOurs leaves for readOurs.
type timed struct {
	Offset  int64 // CLOCK_REALTIME at the run's 0
	Stamps  [][]int64
	Verdict string
}

func playOurs(args []string) error {
	var l load
	if _, err := fmt.Sscan(fmt.Sprint(args[1], " ", args[2], " ", args[3], " ", args[4]), &l.Streams, &l.Rate, &l.Requests, &l.Tokens); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	runtime.GOMAXPROCS(1)
	w, err := record.Create(filepath.Join(args[5], "records"), record.Header{}, record.WriterOptions{})
	if err != nil {
		return err
	}
	t := timed{Stamps: make([][]int64, l.Requests)}
	s := bench.Scenario{
		Client: client.Options{BaseURLs: []string{args[0]}, Timeouts: client.DefaultTimeouts(), OnToken: func(i int64, text []byte, _ int64, _ bool) {
			if t.Stamps[i] == nil {
				t.Stamps[i] = make([]int64, 0, l.Tokens)
			}
			t.Stamps[i] = append(t.Stamps[i], digits(text))
		}},
		Params: client.Params{Model: "simulated", IgnoreEOS: true}, Source: short{}, OutputTokens: l.Tokens, MaxConcurrency: 2 * l.Streams,
		Arrival: arrival.Spec{Process: "constant", Rate: l.Rate, Requests: int64(l.Requests)},
		Started: func(c *client.Clock) { t.Offset = -c.FromRealtime(0) },
	}
	out, err := bench.Run(ctx, s, w, nil)
	if err := errors.Join(err, w.Close()); err != nil {
		return err
	}
	t.Verdict = fmt.Sprintf("%+v", out.Proof.Judge(bench.DefaultBounds()))
	fmt.Fprintf(os.Stderr, "%s\nproof %+v\n", t.Verdict, out.Proof)
	f, err := os.Create(filepath.Join(args[5], "stamps"))
	if err != nil {
		return err
	}
	return errors.Join(gob.NewEncoder(f).Encode(t), f.Close())
}

// digits is the number behind spaces.
func digits(text []byte) (v int64) {
	for _, c := range text {
		if c >= '0' && c <= '9' {
			v = v*10 + int64(c-'0')
		}
	}
	return v
}

func readOurs(dir string) ([]request, error) {
	f, err := os.Open(filepath.Join(dir, "stamps"))
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	var t timed
	if err := gob.NewDecoder(f).Decode(&t); err != nil {
		return nil, err
	}
	var out []request
	for r, err := range record.All(filepath.Join(dir, "records")) {
		if err != nil {
			return nil, err
		}
		q := request{stamps: t.Stamps[r.Index]}
		for _, e := range r.Events {
			q.at = append(q.at, e.At+t.Offset)
		}
		out = append(out, q)
	}
	return out, nil
}

// short is a source of short, different prompts.
type short struct{}

// Prompt implements dataset.Source.
func (short) Prompt(_ context.Context, i int64) (dataset.Prompt, error) {
	return dataset.Prompt{Text: fmt.Sprintf("prompt %d tells of numbers and of other things", i), Tokens: 9, OffsetNS: -1}, nil
}

// Info implements dataset.Source.
func (short) Info() dataset.Info { return dataset.Info{Kind: "peers", Distinct: -1} }
