//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// row is what one tool did at one load.
type row struct {
	Tool string
	Load load
	// Held is the largest number of requests in flight; TokensPerSecond, CPU (seconds per
	// million tokens), Cores and Memory are of the time when at least 95 % of it were.
	Held                        float64
	TokensPerSecond, CPU, Cores float64
	Memory                      int64
	// Offered is (rate of sends, as the server saw them) / (rate asked for) - 1.
	Offered float64
	// Stamp is |tool's time of a token event - the server's time of sending it|; Gap is
	// |tool's gap - server's gap|; Events is how many were compared, 0 when the tool left
	// no times.
	Stamp, Gap errorOf
	Events     int
	// Note says what went wrong.
	Note string
}

// measure runs one tool at one load.
func (c config) measure(ctx context.Context, t tool, l load) (row, error) {
	r := row{Tool: t.name, Load: l}
	dir := filepath.Join(c.dir, "out", fmt.Sprintf("%s-%dx%s", t.name, l.Streams, l.Gap))
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
		return r, err
	}
	server, url, err := c.serve(ctx, l)
	if err != nil {
		return r, err
	}
	defer end(server)
	args, err := t.args(c, l, url, dir)
	if err != nil {
		return r, err
	}
	samples, note, err := c.play(ctx, args, t.env(l, dir), l, url, dir)
	if err != nil {
		return r, err
	}
	r.Note = note
	r.summarize(samples)
	requests, err := t.read(dir)
	if err != nil {
		r.Note += " (no times of token events: " + strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), "") + ")"
	}
	r.compare(requests, samples)
	fmt.Fprintln(os.Stderr, r.line())
	return r, nil
}

// play runs the tool and watches it; a tool that does not end in time is ended.
func (c config) play(ctx context.Context, args, env []string, l load, url, dir string) ([]sample, string, error) {
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, "", err
	}
	defer log.Close() //nolint:errcheck // for reading by people
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	cmd.Env = append(os.Environ(), append(env, "DO_NOT_TRACK=1", "VLLM_NO_USAGE_STATS=1", "PYTHONWARNINGS=ignore")...)
	if err := on(false, cmd.Start); err != nil {
		return nil, "", err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	watching, stop := context.WithCancel(ctx)
	defer stop()
	ch := make(chan sample, 16)
	go watch(watching, url, cmd.Process.Pid, ch)
	var all []sample
	started, begun, busy := time.Now(), time.Time{}, time.Time{}
	for {
		select {
		case s := <-ch:
			if s.err == nil && !s.at.IsZero() {
				all = append(all, s)
			}
			if begun.IsZero() && s.received > 0 {
				begun, busy = s.at, s.at
			}
			if s.running > 0 {
				busy = s.at
			}
			if why := c.overdue(started, begun, busy, l); why != "" {
				endAll(cmd.Process.Pid)
				<-ended //nolint:errcheck // it was ended by us
				return all, why, nil
			}
		case err := <-ended:
			if err != nil {
				return all, fmt.Sprintf("failed: %v, see its log", err), nil
			}
			return all, "", nil
		case <-ctx.Done():
			endAll(cmd.Process.Pid)
			return nil, "", ctx.Err()
		}
	}
}

// overdue says why a tool is to be ended, if it is: it does not begin, it is not done with
// its requests long after it should be, or with its report.
func (c config) overdue(started, begun, busy time.Time, l load) string {
	switch {
	case begun.IsZero() && time.Since(started) > c.start:
		return fmt.Sprintf("sent nothing within %v", c.start)
	case !begun.IsZero() && time.Since(busy) < time.Second && time.Since(begun) > l.Planned+c.patience:
		return fmt.Sprintf("ended with requests in flight after %.0f s; the load takes %.0f", time.Since(begun).Seconds(), l.Planned.Seconds())
	case !begun.IsZero() && time.Since(busy) > c.report:
		return fmt.Sprintf("no report within %v of its last request", c.report)
	}
	return ""
}

// endAll ends a process that was started here with its descendants.
func endAll(root int) {
	for _, pid := range family(root) {
		_ = syscall.Kill(pid, syscall.SIGKILL) // gone meanwhile is as good
	}
}

var address = regexp.MustCompile(`http://\S+`)

// serve starts the stamping server and returns its URL.
func (c config) serve(ctx context.Context, l load) (*exec.Cmd, string, error) {
	cmd := exec.CommandContext(ctx, c.mifbench, "simulate", "--listen", "127.0.0.1:0", "--stamp", "--stagger", "16", "--model", "simulated",
		"--ttft", ttft.String(), "--itl", l.Gap.String(), "--max-num-seqs", "100000", "--kv-tokens", "100000000")
	pipe, err := cmd.StderrPipe()
	if err != nil {
		return nil, "", err
	}
	cmd.Stdout = cmd.Stderr
	if err := on(true, cmd.Start); err != nil {
		return nil, "", fmt.Errorf("%s: %w", c.mifbench, err)
	}
	lines := bufio.NewScanner(pipe)
	for lines.Scan() {
		if url := address.FindString(lines.Text()); url != "" {
			go func() { // nobody reads more, but the server must not wait for it
				for lines.Scan() {
				}
			}()
			return cmd, url, nil
		}
	}
	return nil, "", errors.Join(errors.New("the simulator says no address"), cmd.Wait())
}

func end(cmd *exec.Cmd) {
	_ = cmd.Process.Signal(syscall.SIGINT)
	grace := time.AfterFunc(5*time.Second, func() { _ = cmd.Process.Kill() })
	defer grace.Stop()
	_ = cmd.Wait() // interrupted is how it ends
}
