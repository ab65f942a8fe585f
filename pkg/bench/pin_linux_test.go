package bench_test

import (
	"errors"
	"runtime"

	"golang.org/x/sys/unix"
)

// pinned starts a role in the heavy tests on a core of its own, the servers on the first
// and the clients on the last: on two cores the scheduler otherwise often puts both on
// one, and what is measured is that. A child inherits the affinity of the thread that
// starts it.
func pinned(role string, start func() error) error {
	n := runtime.NumCPU()
	if !heavy() || n < 2 {
		return start()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, want unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return err
	}
	if role == "sim" || role == "scripted" {
		want.Set(0)
	} else {
		want.Set(n - 1)
	}
	if err := unix.SchedSetaffinity(0, &want); err != nil {
		return err
	}
	return errors.Join(start(), unix.SchedSetaffinity(0, &before))
}
