package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/mifbench/mifbench/test/localcluster/clusterdir"
)

// logTail is how much of the log is shown when a cluster does not come up.
const logTail = 4 << 10

// detach starts this binary again in a session of its own and waits until the cluster is ready.
func detach(ctx context.Context, o *upOptions, dir clusterdir.Dir, args []string, s streams) error {
	if err := dir.Create(); err != nil {
		return err
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	log, err := os.OpenFile(dir.Log(), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(exe, append(append([]string{"up"}, args...), "--foreground", "--dir", string(dir))...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	if err := waitUp(ctx, dir, exited, o.timeout); err != nil {
		tail := readTail(dir.Log())
		if _, derr := takeDown(dir); derr != nil {
			err = errors.Join(err, derr)
		}
		return fmt.Errorf("%w; the end of its log:\n%s", err, tail)
	}
	env, err := os.ReadFile(dir.Env())
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "# cluster %s is ready in %s; end it with: localcluster down --dir %s\n%s", o.name, dir, dir, env)
	return nil
}

func waitUp(ctx context.Context, dir clusterdir.Dir, exited <-chan error, timeout time.Duration) error {
	limit := time.After(timeout + 10*time.Second) // the process itself gives up earlier, and knows why
	for {
		if _, err := os.Stat(dir.Ready()); err == nil {
			return nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-exited:
			return fmt.Errorf("the cluster ended before it was ready (%v)", err)
		case <-limit:
			return fmt.Errorf("the cluster is not ready after %s", timeout)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func readTail(file string) []byte {
	data, err := os.ReadFile(file)
	if err != nil {
		return []byte(err.Error())
	}
	if len(data) > logTail {
		data = data[len(data)-logTail:]
		data = data[bytes.IndexByte(data, '\n')+1:]
	}
	return data
}
