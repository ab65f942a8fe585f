//go:build linux

// Command peers runs other load generators and this one against the same stamping
// server, one after another, and prints what each cost and how well it timed: the table
// of docs/performance.md. run.sh installs them and calls it.
//
//	peers --mifbench bin/mifbench --dir .bench/peers [--loads 100x20ms,…] [--tools vllm,…]
//
// The server is `mifbench simulate --stamp` in a process of its own: each token's text is
// the time at which it was sent. What is offered and held is read from the server's
// /metrics, CPU and memory from /proc, so that no tool is believed about itself; only
// the times of its token events are its own, compared with the texts it received.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"
)

// config is the command line.
type config struct {
	mifbench, dir, model, vllm string
	loads, tools               []string
	hold, start                time.Duration
	show                       bool
	patience, report           time.Duration
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "ours" {
		exit(playOurs(os.Args[2:]))
	}
	var c config
	fs := pflag.NewFlagSet("peers", pflag.ContinueOnError)
	fs.StringVar(&c.mifbench, "mifbench", "bin/mifbench", "this project's binary")
	fs.StringVar(&c.dir, "dir", ".bench/peers", "where install.sh put the peers; results go to its folder out")
	fs.StringVar(&c.vllm, "vllm", ".bench/vllm/venv", "virtual environment with vLLM")
	fs.StringVar(&c.model, "model", ".bench/vllm/model", "directory with a tokenizer, for tools that insist on one")
	fs.StringSliceVar(&c.loads, "loads", []string{"50x20ms", "100x20ms", "250x20ms", "500x20ms", "1000x20ms", "10800x164ms"}, "streams x gap")
	fs.StringSliceVar(&c.tools, "tools", toolNames(), "tools to run")
	fs.DurationVar(&c.hold, "hold", 6*time.Second, "how long each load is held")
	fs.DurationVar(&c.start, "start", 3*time.Minute, "how long a tool may take until it sends")
	fs.DurationVar(&c.patience, "patience", 20*time.Second, "how much longer than planned requests may be in flight")
	fs.DurationVar(&c.report, "report", time.Minute, "how long a tool may take for its report")
	fs.BoolVar(&c.show, "show", false, "run nothing; print the tables of what earlier runs kept")
	if err := fs.Parse(os.Args[1:]); err != nil {
		exit(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	exit(c.run(ctx))
}

func exit(err error) {
	if err != nil && !errors.Is(err, pflag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func (c config) run(ctx context.Context) error {
	var err error
	for _, p := range []*string{&c.mifbench, &c.dir, &c.vllm, &c.model} {
		if *p, err = filepath.Abs(*p); err != nil {
			return err
		}
	}
	if c.show {
		rows, err := c.kept()
		fmt.Print(table(rows), "\n", largest(rows))
		return err
	}
	var rows []row
	for _, text := range c.loads {
		l, err := parseLoad(text, c.hold)
		if err != nil {
			return err
		}
		for _, t := range tools {
			if !slices.Contains(c.tools, t.name) {
				continue
			}
			r, err := c.measure(ctx, t, l)
			if err != nil {
				return fmt.Errorf("%s at %s: %w", t.name, l, err)
			}
			rows = append(rows, r)
			if err := c.keep(r); err != nil {
				return err
			}
		}
	}
	fmt.Print(table(rows), "\n", largest(rows))
	return nil
}

// keep appends a row to the file of results, so that an interrupted run loses nothing.
func (c config) keep(r row) error {
	f, err := os.OpenFile(filepath.Join(c.dir, "results.jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(json.NewEncoder(f).Encode(r), f.Close())
}

// kept reads the rows of all runs: of each tool and load the latest, ordered as they are run.
func (c config) kept() ([]row, error) {
	f, err := os.Open(filepath.Join(c.dir, "results.jsonl"))
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // opened for reading
	latest := map[string]row{}
	for dec := json.NewDecoder(f); ; {
		var r row
		if err := dec.Decode(&r); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		latest[r.Tool+" "+r.Load.String()] = r
	}
	rows := slices.Collect(maps.Values(latest))
	place := func(r row) int { return r.Load.Streams*len(tools) + slices.Index(toolNames(), r.Tool) }
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(place(a), place(b)) })
	return rows, nil
}

// load is streams whose tokens come a gap apart, each request of the same length.
type load struct {
	Streams  int
	Gap      time.Duration
	Tokens   int
	Rate     float64 // requests a second that keep Streams in flight
	Requests int
	Planned  time.Duration // from the first send to the last token
}

// ttft is the server's time to the first token, plus what is left of its step.
const ttft = 50 * time.Millisecond

func (l load) String() string { return fmt.Sprintf("%d × %.3g tok/s", l.Streams, 1/l.Gap.Seconds()) }

func parseLoad(text string, hold time.Duration) (load, error) {
	n, g, _ := strings.Cut(text, "x")
	var l load
	if _, err := fmt.Sscan(n, &l.Streams); err != nil || l.Streams < 1 {
		return l, fmt.Errorf("load %q: want streams x gap, such as 100x20ms", text)
	}
	gap, err := time.ParseDuration(g)
	if err != nil || gap <= 0 {
		return l, fmt.Errorf("load %q: want streams x gap, such as 100x20ms", text)
	}
	// Longer where there are many, so that connecting is not most of the work.
	length := 4 * time.Second
	if l.Streams > 5000 {
		length = 12 * time.Second
	}
	l.Gap, l.Tokens = gap, int(length/gap)
	length = ttft + time.Duration(l.Tokens)*gap
	l.Rate = float64(l.Streams) / length.Seconds()
	l.Requests = int(l.Rate * (length + hold).Seconds())
	l.Planned = 2*length + hold
	return l, nil
}
