package sim

import (
	"net"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// unpaced chooses a congestion control without pacing for a listener's connections.
// BBR, the default of some hosts, starts a timer for each small write: one core then
// serves about a fifth fewer tokens (docs/performance.md), and later ones.
func unpaced(ln *net.TCPListener) error {
	c, err := ln.SyscallConn()
	if err != nil {
		return err
	}
	return c.Control(func(fd uintptr) {
		_ = unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION, "reno") // dearer without it, no less right
	})
}

// writeOnce writes to a socket that does not block, without a word to Go's scheduler:
// what the call waits for is the receiver's half of the loopback, some microseconds.
func writeOnce(fd uintptr, b []byte) (int, syscall.Errno) {
	if len(b) == 0 {
		return 0, 0
	}
	n, _, errno := unix.RawSyscall(unix.SYS_WRITE, fd, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}
