//go:build !linux || (!amd64 && !arm64)

package client

import (
	"net"
	"sync/atomic"
	"syscall"
)

// kernelStamps tells that this platform's connections carry kernel receive times.
const kernelStamps = false

// rxConn stamps with the clock after each read: receive times of the kernel are not
// to be had here.
type rxConn struct {
	net.Conn
	rx      rxClock
	at      atomic.Int64
	group   atomic.Uint64
	drained atomic.Bool
}

func enableStamps(_, _ string, _ syscall.RawConn) error { return nil }

func wrap(c net.Conn, rx rxClock) (net.Conn, error) {
	r := &rxConn{Conn: c, rx: rx}
	r.drained.Store(true)
	return r, nil
}

// Read implements net.Conn.
func (r *rxConn) Read(p []byte) (int, error) {
	n, err := r.Conn.Read(p)
	if n > 0 {
		if r.drained.Load() {
			r.group.Add(1)
		}
		r.drained.Store(n < len(p))
		r.at.Store(r.rx.clock.Now())
	}
	return n, err
}

func (r *rxConn) arrival() arrival {
	return arrival{at: r.at.Load(), group: r.group.Load()}
}

// each hands what arrives to f until f stops it or the connection fails.
func (r *rxConn) each(f func(b []byte, a arrival) (bool, error)) error {
	buf := make([]byte, 4<<10)
	for {
		n, err := r.Read(buf)
		if n > 0 {
			if stop, ferr := f(buf[:n], r.arrival()); stop || ferr != nil {
				return ferr
			}
		}
		if err != nil {
			return err
		}
	}
}

// alive cannot know here; a request on a dead connection is sent again on a new one.
func (r *rxConn) alive(bool) bool { return true }
