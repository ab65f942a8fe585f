// Package loopback opens listeners for what plays a part of the data plane, whose streams are many small writes between
// processes of one machine. Errors are the operating system's.
package loopback

import (
	"context"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// Listen opens a TCP listener whose connections do not pace: with BBR, the default of some hosts, each small write starts
// a timer; without it the gateway spends about a tenth less on a chunk (BenchmarkPaced of standin/dataplane).
func Listen(ctx context.Context, address string) (net.Listener, error) {
	lc := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) {
			_ = unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION, "reno") // dearer without it, no less right
		})
	}}
	return lc.Listen(ctx, "tcp", address)
}
