package client

import (
	"crypto/tls"
	"net"

	"github.com/mifbench/mifbench/pkg/bench/client/lag"
)

// stamper is a connection that knows when what its last Read returned had arrived.
type stamper interface {
	net.Conn
	arrival() arrival
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
}
