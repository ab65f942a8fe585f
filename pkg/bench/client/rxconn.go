package client

import (
	"crypto/tls"
	"net"
	"sync"

	"github.com/mifbench/mifbench/pkg/bench/client/lag"
)

// stamper is a connection that knows when what its last Read returned had arrived.
type stamper interface {
	net.Conn
	arrival() arrival
	// each reads until f stops it; alive tells whether an idle connection can be used.
	each(f func(b []byte, a arrival) (bool, error)) error
	alive(quiet bool) bool
}

// stamperOf finds the stamper below c, nil when there is none.
func stamperOf(c net.Conn) stamper {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	s, _ := c.(stamper)
	return s
}

// rxClock is what a stamping connection needs of its client.
type rxClock struct {
	clock *Clock
	lags  *lag.Histogram
	bufs  *sync.Pool
}
