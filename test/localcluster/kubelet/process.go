package kubelet

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// pipeDelay bounds the wait for output of grandchildren that outlive their parent.
const pipeDelay = time.Second

// spawner starts processes that die with this one, however it ends. Linux ties the parent-death signal to the thread
// that forked, and the Go runtime may end any thread but a locked one: hence one goroutine, locked for ever.
type spawner struct {
	starts chan func()

	mu      sync.Mutex
	closed  bool
	running map[*process]bool
}

func newSpawner() *spawner {
	s := &spawner{starts: make(chan func()), running: map[*process]bool{}}
	go func() {
		runtime.LockOSThread() // and never unlocked: see above
		for f := range s.starts {
			f()
		}
	}()
	return s
}

// close kills every process and waits for each; later launches fail.
func (s *spawner) close() {
	s.mu.Lock()
	s.closed = true
	var ps []*process
	for p := range s.running {
		ps = append(ps, p)
	}
	s.mu.Unlock()
	for _, p := range ps {
		p.terminate(0, nil)
	}
}

// start starts a process in a process group of its own. The lock is held meanwhile, so that close misses none.
func (s *spawner) start(p *process) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errStopping
	}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	p.cmd.WaitDelay = pipeDelay
	done := make(chan error, 1)
	s.starts <- func() { done <- p.cmd.Start() }
	if err := <-done; err != nil {
		return err
	}
	s.running[p] = true
	return nil
}

func (s *spawner) forget(p *process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, p)
}

var errStopping = errors.New("the cluster is being stopped")

// command is what to run as a real process.
type command struct {
	argv           []string
	env            []string
	dir            string
	stdin          io.Reader
	stdout, stderr io.Writer
}

// process is a running command.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
	code int           // valid after done
}

// launch starts a command. Standard input is copied by a goroutine that nobody waits for: a peer that keeps it open must
// not keep a finished command alive.
func (s *spawner) launch(c command) (*process, error) {
	cmd := exec.Command(c.argv[0], c.argv[1:]...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = c.env, c.dir, c.stdout, c.stderr
	var in io.WriteCloser
	if c.stdin != nil {
		var err error
		if in, err = cmd.StdinPipe(); err != nil {
			return nil, err
		}
	}
	p := &process{cmd: cmd, done: make(chan struct{})}
	if err := s.start(p); err != nil {
		return nil, err
	}
	if in != nil {
		go func() {
			_, _ = io.Copy(in, c.stdin) // ends when the command has, with an error that means nothing
			_ = in.Close()
		}()
	}
	go func() {
		p.code = exitCode(cmd.Wait())
		s.forget(p)
		close(p.done)
	}()
	return p, nil
}

// exitCode follows the shell: 128 + n for a process ended by signal n.
func exitCode(err error) int {
	var ee *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return 0
	case errors.As(err, &ee):
		if ws, ok := ee.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			return 128 + int(ws.Signal())
		}
		return ee.ExitCode()
	default:
		return 255
	}
}

// terminate asks the whole process group to end, and ends it after the grace period or when hurry closes. It returns
// when it has ended.
func (p *process) terminate(grace time.Duration, hurry <-chan struct{}) {
	if grace > 0 {
		p.signal(syscall.SIGTERM)
		select {
		case <-p.done:
		case <-hurry:
		case <-time.After(grace):
		}
	}
	p.signal(syscall.SIGKILL) // also what the leader left behind
	<-p.done
}

func (p *process) signal(sig syscall.Signal) {
	// The only error is that the group is gone, which is what we want.
	_ = syscall.Kill(-p.cmd.Process.Pid, sig)
}

// wait returns the exit code; when ctx ends first, the process is killed.
func (p *process) wait(ctx context.Context) int {
	select {
	case <-p.done:
	case <-ctx.Done():
		p.terminate(0, nil)
	}
	return p.code
}

// hostEnv is what a container sees of this machine's environment.
func hostEnv(marker, home string) []string {
	return []string{marker, "PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home}
}
