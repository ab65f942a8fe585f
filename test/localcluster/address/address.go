// Package address hands out the loopback addresses of a cluster.
//
// Every cluster claims one block 127.S.0.0/16. The Kubernetes API refuses loopback addresses in EndpointSlices, so pods
// and Services carry nominal addresses in 10.S.0.0/16 and whatever plays them listens on the twin: the same address with
// 127 for 10. Nothing is ever listened for, or dialled, outside 127.0.0.0/8.
//
// The exception is a cluster inside a network namespace of its own that leads nowhere (Wire.Direct): there nominal
// addresses are real ones.
//
// The package needs an operating system that answers on all of 127.0.0.0/8 without configuration: Linux.
package address

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
)

const (
	firstBlock = 77
	lastBlock  = 126
	// KubeletPort is the port of a real kubelet.
	KubeletPort = 10250
	// podsPerRow keeps .0 and .255 out of the last octet.
	podsPerRow = 250
)

// Block is the second octet of a cluster's addresses.
type Block int

// Node returns the address of node i; it is a loopback address, because node addresses may be.
func (b Block) Node(i int) string { return fmt.Sprintf("127.%d.0.%d", b, 10+i) }

// APIServer returns the host and port of the API server.
func (b Block) APIServer() string { return fmt.Sprintf("127.%d.0.1:6443", b) }

// Etcd returns the host and port where etcd listens for clients, or for peers.
func (b Block) Etcd(peer bool) string {
	if peer {
		return fmt.Sprintf("127.%d.0.2:2380", b)
	}
	return fmt.Sprintf("127.%d.0.2:2379", b)
}

// StandIn returns the i-th of the addresses kept free for the servers of stand-in controllers: the last rows before
// those of Services, which pods reach only after some thirty thousand others.
func (b Block) StandIn(i int) string {
	return fmt.Sprintf("127.%d.%d.%d", b, 120+i/podsPerRow%8, 1+i%podsPerRow)
}

// Pod returns the nominal address of the i-th pod, i counted from 0.
func (b Block) Pod(i int) string {
	return fmt.Sprintf("10.%d.%d.%d", b, 1+i/podsPerRow, 1+i%podsPerRow)
}

// ServiceCIDR returns the range from which the API server allocates cluster IPs.
func (b Block) ServiceCIDR() string { return fmt.Sprintf("10.%d.128.0/17", b) }

// KubernetesService returns the cluster IP of the Service kubernetes.default: the first of the range.
func (b Block) KubernetesService() string { return fmt.Sprintf("10.%d.128.1", b) }

// Twin returns the loopback address on which the holder of a nominal address listens. Addresses that are not nominal
// (a node's, the API server's) are returned unchanged.
func Twin(ip string) string {
	if rest, ok := strings.CutPrefix(ip, "10."); ok {
		return "127." + rest
	}
	return ip
}

// DialTwin dials the twin of a nominal host:port; it fits http.Transport.DialContext.
func DialTwin(ctx context.Context, network, hostport string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", hostport, err)
	}
	var d net.Dialer
	return d.DialContext(ctx, network, net.JoinHostPort(Twin(host), port))
}

// Wire says where the holder of a nominal address is to be found. The zero value is the loopback twin.
type Wire struct {
	// Direct: at the nominal address itself.
	Direct bool
}

// Addr returns the address to listen on, or to dial, for a nominal one.
func (w Wire) Addr(ip string) string {
	if w.Direct {
		return ip
	}
	return Twin(ip)
}

// Dial dials a nominal host:port; it fits http.Transport.DialContext.
func (w Wire) Dial(ctx context.Context, network, hostport string) (net.Conn, error) {
	if w.Direct {
		var d net.Dialer
		return d.DialContext(ctx, network, hostport)
	}
	return DialTwin(ctx, network, hostport)
}

// Check tells whether the wire of a block can be used. Nominal addresses are for a network namespace that holds nothing
// but the loopback interface yet, so that no packet can get out, and in which they have been made local.
func (w Wire) Check(ctx context.Context, b Block) error {
	if !w.Direct {
		return nil
	}
	all, err := net.Interfaces()
	if err != nil {
		return fmt.Errorf("nominal addresses: %w", err)
	}
	for _, i := range all {
		if i.Flags&net.FlagLoopback == 0 {
			return fmt.Errorf("nominal addresses need a network namespace without any interface but the loopback; here is %s", i.Name)
		}
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(b.Pod(0), "0"))
	if err != nil {
		return fmt.Errorf("nominal addresses are not local here: %w", err)
	}
	return l.Close()
}

// Claim takes the first block of which no other cluster holds the kubelet ports, and returns a listener per node. The
// block is held for as long as the listeners are open.
func Claim(ctx context.Context, nodes int) (Block, []net.Listener, error) {
	var last error
	for b := Block(firstBlock); b <= lastBlock; b++ {
		ls, err := listenAll(ctx, b, nodes)
		if err == nil {
			return b, ls, nil
		}
		last = err
	}
	return 0, nil, fmt.Errorf("no free block of loopback addresses between 127.%d and 127.%d (each running cluster holds one; "+
		"end some with: localcluster down): %w", firstBlock, lastBlock, last)
}

func listenAll(ctx context.Context, b Block, nodes int) ([]net.Listener, error) {
	var lc net.ListenConfig
	var ls []net.Listener
	for i := range nodes {
		l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(b.Node(i), fmt.Sprint(KubeletPort)))
		if err != nil {
			return nil, errors.Join(err, closeAll(ls))
		}
		ls = append(ls, l)
	}
	return ls, nil
}

func closeAll(ls []net.Listener) error {
	var errs []error
	for _, l := range ls {
		errs = append(errs, l.Close())
	}
	return errors.Join(errs...)
}
