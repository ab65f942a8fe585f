//go:build linux

package main

import (
	"errors"
	"runtime"

	"golang.org/x/sys/unix"
)

// on starts a process on the first core (the server) or on all others (the tool): left to
// itself the scheduler often puts both on one, and what is measured is that. A child
// inherits the affinity of the thread that starts it.
func on(first bool, start func() error) error {
	n := runtime.NumCPU()
	if n < 2 {
		return start()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, want unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return err
	}
	for i := range n {
		if (i == 0) == first {
			want.Set(i)
		}
	}
	if err := unix.SchedSetaffinity(0, &want); err != nil {
		return err
	}
	return errors.Join(start(), unix.SchedSetaffinity(0, &before))
}
