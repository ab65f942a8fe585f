package sim

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Server is a simulated engine: ranks on consecutive ports. Make one with New;
// its listeners are open from then on, so Addr is known before Serve.
type Server struct {
	cfg   Config
	model Preset
	epoch time.Time
	ranks []*rank
	peers *http.Client // to prefill engines

	stop  context.Context
	halt  context.CancelFunc
	tasks sync.WaitGroup
}

// New validates cfg and opens the listeners. Errors name the flag that is wrong
// or the address that could not be had.
func New(cfg Config) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, model: cfg.engineModel(), epoch: time.Now()}
	s.peers = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4096, IdleConnTimeout: time.Minute, DisableCompression: true}}
	for i := range cfg.Ranks {
		s.ranks = append(s.ranks, newRank(s, i))
	}
	if err := s.listen(); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *Server) listen() error {
	host, portText, err := net.SplitHostPort(s.cfg.Listen)
	if err != nil {
		return err // Validate has seen it
	}
	port, err := net.LookupPort("tcp", portText)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	for i, r := range s.ranks {
		p := 0
		if port != 0 {
			p = port + i
		}
		addr := net.JoinHostPort(host, strconv.Itoa(p))
		ln, err := net.Listen("tcp", addr)
		if err != nil {
			return fmt.Errorf("rank %d: %w; is another engine running there?", i, err)
		}
		r.ln, _ = ln.(*net.TCPListener)
		if err := unpaced(r.ln); err != nil {
			return fmt.Errorf("rank %d: %w", i, err)
		}
	}
	return nil
}

// Addr is the address of rank 0.
func (s *Server) Addr() net.Addr { return s.ranks[0].ln.Addr() }

// Addrs are the addresses of all ranks, in order.
func (s *Server) Addrs() []net.Addr {
	out := make([]net.Addr, len(s.ranks))
	for i, r := range s.ranks {
		out[i] = r.ln.Addr()
	}
	return out
}

// Serve answers requests until ctx is cancelled, then accepts no more, lets
// running requests finish for at most DrainTimeout, and returns nil when nothing
// of the server is left. It returns an error when a listener fails. It can be
// called once.
func (s *Server) Serve(ctx context.Context) error {
	s.stop, s.halt = context.WithCancel(context.WithoutCancel(ctx)) // running requests outlive ctx, for a while
	failed := make(chan error, len(s.ranks))
	var engines sync.WaitGroup
	for _, r := range s.ranks {
		for _, g := range r.groups {
			engines.Go(func() { g.run(s.stop) })
		}
		engines.Go(func() {
			if err := r.accept(); err != nil && !errors.Is(err, net.ErrClosed) {
				failed <- fmt.Errorf("rank %d: accept: %w", r.index, err)
			}
		})
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	for _, r := range s.ranks {
		_ = r.ln.Close() // it is of no use any more, whatever Close says
	}
	s.drain()
	s.close()
	engines.Wait()
	s.tasks.Wait()
	return err
}

// drain waits until no request runs or DrainTimeout is over.
func (s *Server) drain() {
	deadline := time.Now().Add(s.cfg.DrainTimeout)
	for s.busy() && time.Now().Before(deadline) {
		sleep(s.stop, 10*time.Millisecond)
	}
}

func (s *Server) busy() bool {
	for _, r := range s.ranks {
		if running, waiting, _ := r.gauges(); running+waiting > 0 {
			return true
		}
	}
	return false
}

func (s *Server) close() {
	if s.halt != nil {
		s.halt()
	}
	for _, r := range s.ranks {
		if r.ln != nil {
			_ = r.ln.Close() // it may be closed already
		}
		r.closeConns()
	}
	s.peers.CloseIdleConnections()
}

// virtual is the engines' clock: real time since New, times Speedup.
func (s *Server) virtual() time.Duration {
	return time.Duration(float64(time.Since(s.epoch)) * s.cfg.Speedup)
}

// real converts a duration of the engines' clock to real time.
func (s *Server) real(d time.Duration) time.Duration {
	return time.Duration(float64(d) / s.cfg.Speedup)
}

// TokensSent is the number of tokens that all ranks have produced so far.
func (s *Server) TokensSent() (n uint64) {
	for _, r := range s.ranks {
		r.m.mu.Lock()
		n += r.m.generated
		r.m.mu.Unlock()
	}
	return n
}

// Slips is how many engine steps ended more than a step late because the machine
// did not keep up; a rehearsal with many of them was not what the model says.
func (s *Server) Slips() (n uint64) {
	for _, r := range s.ranks {
		for _, g := range r.groups {
			g.mu.Lock()
			n += g.slips
			g.mu.Unlock()
		}
	}
	return n
}
