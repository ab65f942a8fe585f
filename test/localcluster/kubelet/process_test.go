package kubelet

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestProcess(t *testing.T) {
	s := newSpawner()
	t.Cleanup(s.close)
	run := func(stdin io.Reader, argv ...string) (string, int) {
		var out bytes.Buffer
		p, err := s.launch(command{argv: argv, dir: t.TempDir(), stdin: stdin, stdout: &out})
		if err != nil {
			t.Fatal(err)
		}
		code := p.wait(t.Context())
		return out.String(), code
	}
	if _, code := run(nil, "sh", "-c", "exit 3"); code != 3 {
		t.Errorf("exit code %d, want 3", code)
	}
	if _, code := run(nil, "sh", "-c", "kill -TERM $$"); code != 143 {
		t.Errorf("ended by a signal: exit code %d, want 143", code)
	}
	if out, _ := run(strings.NewReader("text"), "cat"); out != "text" {
		t.Errorf("cat wrote %q", out)
	}
	open, held := io.Pipe() // never closed by the peer
	defer func() { _ = held.Close() }()
	if _, code := run(open, "sh", "-c", "exit 4"); code != 4 {
		t.Errorf("with open standard input: exit code %d, want 4", code)
	}
	if _, err := s.launch(command{argv: []string{"no-such-command"}}); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("unknown command: %v", err)
	}
}

func TestTerminateKillsTheGroupAfterTheGracePeriod(t *testing.T) {
	s := newSpawner()
	t.Cleanup(s.close)
	r, w := io.Pipe()
	p, err := s.launch(command{argv: []string{"sh", "-c", "trap '' TERM; echo up; sleep 60 & wait; sleep 60"}, stdout: w})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, r) }()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	go p.terminate(50*time.Millisecond, nil)
	if code := p.wait(ctx); code != 137 || ctx.Err() != nil {
		t.Errorf("exit code %d, want 137 (killed); %v", code, ctx.Err())
	}
}

func TestClosedSpawnerStartsNothing(t *testing.T) {
	s := newSpawner()
	p, err := s.launch(command{argv: []string{"sleep", "60"}})
	if err != nil {
		t.Fatal(err)
	}
	s.close()
	select {
	case <-p.done:
	default:
		t.Error("the process still runs")
	}
	if _, err := s.launch(command{argv: []string{"true"}}); !errors.Is(err, errStopping) {
		t.Errorf("got %v", err)
	}
}
