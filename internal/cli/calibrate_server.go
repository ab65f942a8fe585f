package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"time"
)

// stampModel is the name that the stamping server serves.
const stampModel = "stamps"

// startStamping starts the simulator as a process of its own and returns its base URL. stop
// ends that process and no other.
func (a *app) startStamping(ctx context.Context, gap time.Duration) (base string, stop func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, a.env.Executable, "simulate", "--stamp", "--listen", "127.0.0.1:0", //nolint:gosec // ourselves
		"--model", stampModel, "--stagger", "16", "--itl", gap.String(), "--ttft", "1ms",
		"--max-num-seqs", "20000", "--kv-tokens", "100000000", "--drain-timeout", "1ms")
	cmd.Env = a.env.Environ
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 3 * time.Second
	out, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		cancel()
		return "", nil, fmt.Errorf("start the stamping server %s simulate: %w", a.env.Executable, err)
	}
	stop = func() {
		cancel()
		cmd.Wait() //nolint:errcheck // it was told to end
	}
	said, address := "", regexp.MustCompile(`http://[^ ]+`)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if base = address.FindString(lines.Text()); base != "" {
			go io.Copy(io.Discard, out) //nolint:errcheck // ends with the process
			return base, stop, nil
		}
		said += lines.Text() + "\n"
	}
	stop()
	return "", nil, fmt.Errorf("the stamping server did not start: %s", said)
}
