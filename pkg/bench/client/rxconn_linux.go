//go:build linux && (amd64 || arm64)

package client

import (
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// kernelStamps tells that this platform's connections carry kernel receive times.
const kernelStamps = true

// rxConn is a TCP connection that reads with recvmsg and keeps the time at which the
// kernel received the last segment of what a read returned. It works below net/http
// and crypto/tls.
type rxConn struct {
	net.Conn // not *net.TCPConn: its WriteTo would pass our Read by
	raw      syscall.RawConn
	rx       rxClock
	read     func(fd uintptr) bool

	// Of the read in progress; net.Conn allows one at a time.
	p     []byte
	n     int
	errno syscall.Errno
	msg   rxMsg

	// Atomics: net/http peeks at idle connections from another goroutine.
	at, lag atomic.Int64
	group   atomic.Uint64
	drained atomic.Bool
	kernel  atomic.Bool
}

// rxMsg is recvmsg's argument, kept so that a read allocates nothing.
type rxMsg struct {
	hdr unix.Msghdr
	iov unix.Iovec
	oob [64]byte
}

// enableStamps asks the kernel for receive times; to be used before connect.
func enableStamps(_, _ string, c syscall.RawConn) error {
	var serr error
	err := c.Control(func(fd uintptr) {
		serr = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	})
	if err != nil {
		return err
	}
	return os.NewSyscallError("setsockopt SO_TIMESTAMPNS", serr)
}

// wrap returns c with stamps, or c itself when it is no TCP connection.
func wrap(c net.Conn, rx rxClock) (net.Conn, error) {
	t, ok := c.(*net.TCPConn)
	if !ok {
		return c, nil
	}
	raw, err := t.SyscallConn()
	if err != nil {
		return nil, err
	}
	r := &rxConn{Conn: c, raw: raw, rx: rx}
	r.drained.Store(true)
	r.read = r.tryRead
	return r, nil
}

// tryRead reads once; false when there is nothing yet. Reading before waiting looks
// wasteful where the last read had emptied the socket, but the poller's edge may have
// come since and is forgotten when a read begins.
func (r *rxConn) tryRead(fd uintptr) bool {
	n, stamp, errno := r.msg.recv(int(fd), r.p)
	if errno == unix.EAGAIN {
		return false
	}
	r.n, r.errno = n, errno
	if n > 0 {
		r.note(n < len(r.p), stamp)
	}
	return true
}

// note keeps when a read's data came. A read that follows one which filled its buffer
// belongs to the same group: the kernel may have merged their segments.
func (r *rxConn) note(drained bool, stamp int64) {
	if r.drained.Load() {
		r.group.Add(1)
	}
	r.drained.Store(drained)
	now := r.rx.clock.Now()
	at := now
	if stamp != 0 {
		at = min(now, r.rx.clock.FromRealtime(stamp))
		r.rx.lags.Add(time.Duration(now - at))
	}
	r.at.Store(at)
	r.lag.Store(now - at)
	r.kernel.Store(stamp != 0)
}

// Read implements net.Conn.
func (r *rxConn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	r.p = p
	err := r.raw.Read(r.read)
	r.p = nil
	switch {
	case err != nil:
		return 0, err
	case r.errno != 0:
		return 0, os.NewSyscallError("recvmsg", r.errno)
	case r.n == 0:
		return 0, io.EOF
	}
	return r.n, nil
}

func (r *rxConn) arrival() arrival {
	return arrival{at: r.at.Load(), group: r.group.Load(), lag: r.lag.Load(), kernel: r.kernel.Load()}
}

// recv is one recvmsg that does not wait; stamp is CLOCK_REALTIME ns, 0 when absent.
func (m *rxMsg) recv(fd int, p []byte) (n int, stamp int64, errno syscall.Errno) {
	m.iov.Base = &p[0]
	m.iov.SetLen(len(p))
	m.hdr.Iov = &m.iov
	m.hdr.SetIovlen(1)
	m.hdr.Control = &m.oob[0]
	for {
		m.hdr.SetControllen(len(m.oob))
		r, _, e := unix.RawSyscall(unix.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&m.hdr)), unix.MSG_DONTWAIT)
		if e == unix.EINTR {
			continue
		}
		m.iov.Base = nil
		if e != 0 {
			return 0, 0, e
		}
		return int(r), m.stamp(), 0
	}
}

// stamp finds SCM_TIMESTAMPNS among the control messages.
func (m *rxMsg) stamp() int64 {
	const head = unix.SizeofCmsghdr
	for b := m.oob[:min(uint64(len(m.oob)), uint64(m.hdr.Controllen))]; len(b) >= head; {
		h := (*unix.Cmsghdr)(unsafe.Pointer(&b[0]))
		size := int(h.Len)
		if size < head || size > len(b) {
			return 0
		}
		if h.Level == unix.SOL_SOCKET && h.Type == unix.SCM_TIMESTAMPNS && size >= head+int(unsafe.Sizeof(unix.Timespec{})) {
			return (*unix.Timespec)(unsafe.Pointer(&b[head])).Nano()
		}
		b = b[min(len(b), (size+7)&^7):]
	}
	return 0
}
