package clustertest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const (
	startTimeout = 4 * time.Minute // other packages may be compiling at the same time
	stopTimeout  = 30 * time.Second
	logTail      = 4 << 10
)

// process is the control plane's. Its standard input is held open: when this process ends, so does that one.
type process struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	dir    string
	log    *os.File // without a name on disk, so that nothing is left when this process is killed
	exited chan struct{}
	err    error // valid after exited
}

func start(opts []Option) (*Cluster, error) {
	bin, err := binary()
	if err != nil {
		return nil, err
	}
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	dir, err := os.MkdirTemp("", "mifbench-clustertest-")
	if err != nil {
		return nil, err
	}
	p, err := launch(bin, dir, o.args)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := p.waitReady(filepath.Join(dir, "ready")); err != nil {
		return nil, errors.Join(err, p.stop())
	}
	env, err := readEnv(filepath.Join(dir, "env"))
	if err != nil {
		return nil, errors.Join(err, p.stop())
	}
	return &Cluster{Kubeconfig: env["KUBECONFIG"], Context: env["LOCALCLUSTER_CONTEXT"], Dir: dir, Env: env, process: p}, nil
}

func launch(bin, dir string, args []string) (*process, error) {
	log, err := os.CreateTemp("", "mifbench-clustertest-log-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(log.Name()); err != nil {
		return nil, err
	}
	p := &process{dir: dir, log: log, exited: make(chan struct{})}
	p.cmd = exec.Command(bin, append([]string{"up", "--foreground", "--die-with-stdin", "--dir", dir}, args...)...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", bin, err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.exited)
	}()
	return p, nil
}

func (p *process) waitReady(file string) error {
	limit := time.After(startTimeout)
	for {
		if _, err := os.Stat(file); err == nil {
			return nil
		}
		select {
		case <-p.exited:
			return fmt.Errorf("the cluster ended before it was ready (%w); the end of its log:\n%s", p.err, p.tail())
		case <-limit:
			return fmt.Errorf("the cluster is not ready after %s; the end of its log:\n%s", startTimeout, p.tail())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// stop ends the process, and checks that it has left nothing behind.
func (p *process) stop() error {
	_ = p.stdin.Close() // asks it to end
	var errs []error
	select {
	case <-p.exited:
		errs = append(errs, p.err)
	case <-time.After(stopTimeout):
		errs = append(errs, fmt.Errorf("the cluster does not end within %s, killed; the end of its log:\n%s", stopTimeout, p.tail()), p.cmd.Process.Kill())
		<-p.exited
	}
	if p.err != nil {
		errs = append(errs, fmt.Errorf("the end of the cluster's log:\n%s", p.tail()))
	}
	return errors.Join(append(errs, os.RemoveAll(p.dir), p.log.Close())...)
}

func (c *Cluster) stop() error { return c.process.stop() }

// Log returns the end of the cluster's log, for the message of a failed test.
func (c *Cluster) Log() string { return c.process.tail() }

func (p *process) tail() string {
	st, err := p.log.Stat()
	if err != nil {
		return err.Error()
	}
	from := max(0, st.Size()-logTail)
	// Not Read: the offset of the file is the one at which the cluster writes.
	data, err := io.ReadAll(io.NewSectionReader(p.log, from, st.Size()-from))
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// readEnv reads the file that the cluster writes for shells: export NAME='value'.
func readEnv(file string) (map[string]string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	env := map[string]string{}
	for line := range bytes.Lines(data) {
		name, value, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(string(line)), "export "), "=")
		if !ok || len(value) < 2 {
			return nil, fmt.Errorf("%s: unexpected line %q", file, line)
		}
		env[name] = strings.ReplaceAll(value[1:len(value)-1], `'\''`, "'")
	}
	return env, nil
}
