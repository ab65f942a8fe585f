package dataplane

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/mifbench/mifbench/test/localcluster/loopback"
)

// lowPortShift moves a port that needs privileges we lack to one that does not.
const lowPortShift = 8000

// Server is an open listener.
type Server struct {
	Address string // host:port it listens on
	http    *http.Server
}

// Listen serves h on host:port; where the operating system forbids the port, on port+8000. The server ends with ctx or
// with Close.
func Listen(ctx context.Context, host string, port int, h http.Handler, log func(format string, args ...any)) (*Server, error) {
	l, err := loopback.Listen(ctx, net.JoinHostPort(host, strconv.Itoa(port)))
	if errors.Is(err, os.ErrPermission) && port < 1024 {
		l, err = loopback.Listen(ctx, net.JoinHostPort(host, strconv.Itoa(port+lowPortShift)))
	}
	if err != nil {
		return nil, fmt.Errorf("open the gateway's listener: %w", err)
	}
	s := &Server{Address: l.Addr().String(), http: &http.Server{Handler: h, ReadHeaderTimeout: 30 * time.Second}}
	stop := context.AfterFunc(ctx, s.Close)
	go func() {
		defer stop()
		if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log("gateway listener %s ended: %v", s.Address, err)
		}
	}()
	return s, nil
}

// Close ends the server and its connections, as the death of the proxy's pod would.
func (s *Server) Close() { _ = s.http.Close() } // the only error is of a listener that is closed already
