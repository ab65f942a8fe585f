package clusterdir

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// markerName is the variable that every process of a pod carries.
const markerName = "LOCALCLUSTER_POD_OF"

// ErrNotRunning says that no cluster runs in a folder.
var ErrNotRunning = errors.New("no cluster runs there")

// Process is a process and when it started (in clock ticks since boot): together they name it beyond the reuse of ids.
type Process struct {
	ID    int
	start string
}

// Marker is NAME=value for the environment of a cluster's processes.
func (d Dir) Marker() string { return markerName + "=" + string(d) }

// WritePID notes this process as the one that runs the cluster.
func (d Dir) WritePID() error {
	start, err := startTime(os.Getpid())
	if err != nil {
		return err
	}
	return os.WriteFile(d.PID(), []byte(fmt.Sprintf("%d %s\n", os.Getpid(), start)), 0o600)
}

// Process returns the process that runs the cluster, or ErrNotRunning.
func (d Dir) Process() (Process, error) {
	data, err := os.ReadFile(d.PID())
	if errors.Is(err, fs.ErrNotExist) {
		return Process{}, ErrNotRunning
	}
	if err != nil {
		return Process{}, err
	}
	var p Process
	if _, err := fmt.Sscan(string(data), &p.ID, &p.start); err != nil {
		return Process{}, fmt.Errorf("%s: %w", d.PID(), err)
	}
	if !p.Alive() {
		return Process{}, ErrNotRunning
	}
	return p, nil
}

// Alive tells whether the very process still runs; one that has ended but was not waited for does not.
func (p Process) Alive() bool {
	start, err := startTime(p.ID)
	return err == nil && start == p.start
}

// Stop asks the process to end, and ends it when it has not after the grace period.
func (p Process) Stop(grace time.Duration) error {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if err := syscall.Kill(p.ID, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("signal process %d: %w", p.ID, err)
		}
		for deadline := time.Now().Add(grace); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			if !p.Alive() {
				return nil
			}
		}
	}
	return fmt.Errorf("process %d does not end", p.ID)
}

// startTime reads field 22 of /proc/PID/stat; a zombie counts as gone.
func startTime(pid int) (string, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", err
	}
	// The second field is the command's name in parentheses, and may hold anything.
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	if len(fields) < 20 {
		return "", fmt.Errorf("process %d: short stat", pid)
	}
	if fields[0] == "Z" || fields[0] == "X" {
		return "", fmt.Errorf("process %d has ended", pid)
	}
	return fields[19], nil
}

// Processes finds the processes that a cluster's pods have started and that still run.
func (d Dir) Processes() ([]Process, error) {
	envs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return nil, err
	}
	var out []Process
	for _, f := range envs {
		data, err := os.ReadFile(f) // fails for processes of others and for those that just ended
		if err != nil || !bytes.Contains(append([]byte{0}, data...), []byte("\x00"+d.Marker()+"\x00")) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(f)))
		if err != nil {
			return nil, err
		}
		if start, err := startTime(pid); err == nil {
			out = append(out, Process{ID: pid, start: start})
		}
	}
	return out, nil
}
