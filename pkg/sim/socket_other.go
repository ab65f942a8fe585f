//go:build !linux

package sim

import (
	"errors"
	"net"
	"syscall"
)

func unpaced(*net.TCPListener) error { return nil }

func writeOnce(fd uintptr, b []byte) (int, syscall.Errno) {
	n, err := syscall.Write(int(fd), b)
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return 0, errno
	}
	return n, 0
}
