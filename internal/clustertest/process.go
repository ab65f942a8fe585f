package clustertest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
	root   string // holds the cluster's folder and the log
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
	root, err := os.MkdirTemp("", "mifbench-clustertest-")
	if err != nil {
		return nil, err
	}
	p, err := launch(bin, root, o.args)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(root))
	}
	dir := filepath.Join(root, "cluster")
	if err := p.waitReady(filepath.Join(dir, "ready")); err != nil {
		return nil, errors.Join(err, p.stop())
	}
	env, err := readEnv(filepath.Join(dir, "env"))
	if err != nil {
		return nil, errors.Join(err, p.stop())
	}
	return &Cluster{Kubeconfig: env["KUBECONFIG"], Context: env["LOCALCLUSTER_CONTEXT"], Dir: dir, Env: env, process: p}, nil
}

func launch(bin, root string, args []string) (*process, error) {
	log, err := os.OpenFile(filepath.Join(root, "log"), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	p := &process{root: root, exited: make(chan struct{})}
	p.cmd = exec.Command(bin, append([]string{"up", "--foreground", "--die-with-stdin", "--dir", filepath.Join(root, "cluster")}, args...)...)
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
			return fmt.Errorf("the cluster ended before it was ready (%v); the end of its log:\n%s", p.err, p.tail())
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
		errs = append(errs, fmt.Errorf("the end of its log:\n%s", p.tail()))
	}
	return errors.Join(append(errs, os.RemoveAll(p.root))...)
}

func (c *Cluster) stop() error { return c.process.stop() }

// Log returns the end of the cluster's log, for the message of a failed test.
func (c *Cluster) Log() string { return c.process.tail() }

func (p *process) tail() string {
	data, err := os.ReadFile(filepath.Join(p.root, "log"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err.Error()
	}
	return string(data[max(0, len(data)-logTail):])
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
