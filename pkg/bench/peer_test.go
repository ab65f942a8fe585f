package bench_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"go.uber.org/goleak"

	"github.com/mifbench/mifbench/pkg/sim"
)

// roleVar makes this test binary play another program: the server, or one of the
// clients whose cost is compared, each in a process of its own.
const roleVar = "MIFBENCH_TEST_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVar); role != "" {
		if err := play(role, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, role+":", err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

func play(role string, args []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	switch role {
	case "sim":
		return playSim(ctx, args)
	case "scripted":
		return playScripted(ctx, args)
	}
	return playClient(ctx, role, args)
}

// playSim serves until it is told to stop and says where on its first line.
func playSim(ctx context.Context, args []string) error {
	c := sim.DefaultConfig()
	fs := pflag.NewFlagSet("sim", pflag.ContinueOnError)
	c.Flags(fs)
	if err := fs.Parse(args); err != nil {
		return err
	}
	s, err := sim.New(c)
	if err != nil {
		return err
	}
	fmt.Println(s.Addr())
	return s.Serve(ctx)
}

// process is a started role.
type process struct {
	role string
	cmd  *exec.Cmd
	out  *bufio.Reader
}

// line is the next line that it writes.
func (p *process) line(t *testing.T) string {
	t.Helper()
	s, err := p.out.ReadString('\n')
	if err != nil {
		t.Fatalf("%s says nothing: %v", p.role, err)
	}
	return strings.TrimSpace(s)
}

func start(t *testing.T, role string, args ...string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), roleVar+"="+role)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := pinned(role, cmd.Start); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		grace := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		grace.Stop()
	})
	return &process{role: role, cmd: cmd, out: bufio.NewReader(out)}
}

// startSim starts a stamping simulator of constant step time and returns its URL.
func startSim(t *testing.T, ttft, itl time.Duration, more ...string) string {
	t.Helper()
	args := append([]string{"--listen", "127.0.0.1:0", "--stamp", "--stagger", "16", "--ttft", ttft.String(), "--itl", itl.String(), "--max-num-seqs", "20000", "--kv-tokens", "100000000"}, more...)
	p := start(t, "sim", args...)
	return "http://" + p.line(t)
}
