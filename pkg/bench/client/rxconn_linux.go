//go:build linux && (amd64 || arm64)

package client

import (
	"errors"
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

// enableStamps asks the kernel for receive times, and for the number of bytes left
// after each read; to be used before connect.
func enableStamps(_, _ string, c syscall.RawConn) error {
	var serr error
	err := c.Control(func(fd uintptr) {
		serr = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
		// Before Linux 4.18 there is no such option; reads then go on to EAGAIN.
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_INQ, 1)
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
	got := r.msg.recv(int(fd), r.p)
	if got.errno == unix.EAGAIN {
		return false
	}
	r.n, r.errno = got.n, got.errno
	if got.n > 0 {
		r.note(got.n < len(r.p), got.stamp)
	}
	return true
}

// rxBuf is a buffer that is held only while there is data to read, so that a thousand
// waiting streams need none.
type rxBuf struct {
	msg rxMsg
	p   [16 << 10]byte
}

// each hands what arrives to f until f stops it or the connection fails; an error is
// io.EOF at the end. One wake-up costs one recvmsg: the kernel says when nothing is
// left, the FIN included, and then the poller cannot have forgotten an edge, because
// the wait follows in the same RawConn.Read.
func (r *rxConn) each(f func(b []byte, a arrival) (bool, error)) error {
	var ferr error
	err := r.raw.Read(func(fd uintptr) bool {
		buf, _ := r.rx.bufs.Get().(*rxBuf)
		if buf == nil {
			buf = new(rxBuf)
		}
		defer r.rx.bufs.Put(buf)
		for {
			got := buf.msg.recv(int(fd), buf.p[:])
			switch {
			case got.errno == unix.EAGAIN:
				return false
			case got.errno != 0:
				ferr = os.NewSyscallError("recvmsg", got.errno)
				return true
			case got.n == 0:
				ferr = io.EOF
				return true
			}
			r.note(got.n < len(buf.p), got.stamp)
			stop, err := f(buf.p[:got.n], r.arrival())
			if stop || err != nil {
				ferr = err
				return true
			}
			if got.left == 0 {
				return false
			}
		}
	})
	if err != nil {
		return err
	}
	return ferr
}

// alive tells whether an idle connection can be used: the server has neither closed it
// nor, over plain TCP, sent something unasked.
func (r *rxConn) alive(quiet bool) bool {
	ok := false
	err := r.raw.Control(func(fd uintptr) {
		var b [1]byte
		n, _, errno := unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		ok = errors.Is(errno, unix.EAGAIN) || errno == nil && n > 0 && !quiet
	})
	return err == nil && ok
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

// received is the result of one recvmsg. stamp is CLOCK_REALTIME ns, 0 when absent;
// left is how many bytes are still there (1 for a FIN alone), -1 when not known.
type received struct {
	n     int
	left  int
	stamp int64
	errno syscall.Errno
}

// recv is one recvmsg that does not wait.
func (m *rxMsg) recv(fd int, p []byte) received {
	m.iov.Base = &p[0]
	m.iov.SetLen(len(p))
	m.hdr.Iov = &m.iov
	m.hdr.SetIovlen(1)
	m.hdr.Control = &m.oob[0]
	for {
		m.hdr.SetControllen(len(m.oob))
		n, _, e := unix.RawSyscall(unix.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&m.hdr)), unix.MSG_DONTWAIT)
		if e == unix.EINTR {
			continue
		}
		m.iov.Base = nil
		got := received{n: int(n), left: -1, errno: e}
		if e != 0 {
			got.n = 0
			return got
		}
		m.control(&got)
		return got
	}
}

// control reads the control messages: SCM_TIMESTAMPNS and TCP_CM_INQ.
func (m *rxMsg) control(got *received) {
	const head = unix.SizeofCmsghdr
	for b := m.oob[:min(uint64(len(m.oob)), uint64(m.hdr.Controllen))]; len(b) >= head; {
		h := (*unix.Cmsghdr)(unsafe.Pointer(&b[0]))
		size := int(h.Len)
		if size < head || size > len(b) {
			return
		}
		switch body := b[head:size]; {
		case h.Level == unix.SOL_SOCKET && h.Type == unix.SCM_TIMESTAMPNS && len(body) >= int(unsafe.Sizeof(unix.Timespec{})):
			got.stamp = (*unix.Timespec)(unsafe.Pointer(&body[0])).Nano()
		case h.Level == unix.IPPROTO_TCP && h.Type == unix.TCP_CM_INQ && len(body) >= 4:
			got.left = int(*(*int32)(unsafe.Pointer(&body[0])))
		}
		b = b[min(len(b), (size+7)&^7):]
	}
}
