// Package serviceproxy plays kube-proxy: for every Service it listens on the loopback twin of the cluster IP and passes
// connections on to the ready endpoints, picked at random.
//
// TCP only; no session affinity, no node ports, no traffic policies. A port below 1024 needs the right to listen there
// (root, or net.ipv4.ip_unprivileged_port_start); without it that port of the Service is missing and the log says so.
package serviceproxy

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	discoverylisters "k8s.io/client-go/listers/discovery/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/mifbench/mifbench/test/localcluster/address"
	"github.com/mifbench/mifbench/test/localcluster/loopback"
)

// settle lets a burst of events become one pass.
const settle = 50 * time.Millisecond

// Proxy is the proxy of a cluster.
type Proxy struct {
	wire     address.Wire
	static   map[string][]string
	log      *slog.Logger
	services corelisters.ServiceLister
	slices   discoverylisters.EndpointSliceLister
	dirty    chan struct{}

	mu       sync.Mutex
	backends map[string][]string // listen address to ready backends
	open     map[string]net.Listener
	refused  map[string]bool // addresses that could not be listened on
}

// Start returns when Services are known, and goes on until ctx ends. static are further addresses to listen on, with
// their backends.
func Start(ctx context.Context, cfg *rest.Config, wire address.Wire, static map[string][]string, log *slog.Logger) (*Proxy, error) {
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	f := informers.NewSharedInformerFactory(client, 0)
	p := &Proxy{
		wire: wire, static: static,
		log: log, dirty: make(chan struct{}, 1), open: map[string]net.Listener{}, refused: map[string]bool{},
		services: f.Core().V1().Services().Lister(), slices: f.Discovery().V1().EndpointSlices().Lister(),
	}
	h := cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { p.mark() }, UpdateFunc: func(_, _ any) { p.mark() }, DeleteFunc: func(any) { p.mark() },
	}
	for _, inf := range []cache.SharedIndexInformer{f.Core().V1().Services().Informer(), f.Discovery().V1().EndpointSlices().Informer()} {
		if _, err := inf.AddEventHandler(h); err != nil {
			return nil, err
		}
	}
	f.Start(ctx.Done())
	for t, ok := range f.WaitForCacheSync(ctx.Done()) {
		if !ok {
			return nil, fmt.Errorf("list %v: %w", t, context.Cause(ctx))
		}
	}
	go p.run(ctx)
	return p, nil
}

// ClusterIP returns the nominal address of a Service; ok is false when there is none.
func (p *Proxy) ClusterIP(namespace, name string) (ip string, ok bool) {
	s, err := p.services.Services(namespace).Get(name)
	if err != nil || !hasIP(s) {
		return "", false
	}
	return s.Spec.ClusterIP, true
}

// Hosts is the text of a hosts file with the names of all Services that have an address.
func (p *Proxy) Hosts() string {
	services, err := p.services.List(labels.Everything())
	if err != nil {
		p.log.Error("list services", "error", err)
		return ""
	}
	var b strings.Builder
	for _, s := range services {
		if hasIP(s) {
			name := s.Name + "." + s.Namespace
			fmt.Fprintf(&b, "%s %s.svc.cluster.local %s.svc %s\n", s.Spec.ClusterIP, name, name, name)
		}
	}
	return b.String()
}

func hasIP(s *corev1.Service) bool {
	return s.Spec.ClusterIP != "" && s.Spec.ClusterIP != corev1.ClusterIPNone
}

func (p *Proxy) mark() {
	select {
	case p.dirty <- struct{}{}:
	default:
	}
}

func (p *Proxy) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			p.apply(ctx, nil)
			return
		case <-p.dirty:
			time.Sleep(settle)
			p.refresh(ctx)
		}
	}
}

func (p *Proxy) refresh(ctx context.Context) {
	services, err := p.services.List(labels.Everything())
	if err != nil {
		p.log.Error("list services", "error", err)
		return
	}
	slices, err := p.slices.List(labels.Everything())
	if err != nil {
		p.log.Error("list endpoint slices", "error", err)
		return
	}
	want := table(p.wire, services, slices)
	maps.Copy(want, p.static)
	p.apply(ctx, want)
}

// table computes for each address to listen on where its connections may go.
func table(wire address.Wire, services []*corev1.Service, slices []*discoveryv1.EndpointSlice) map[string][]string {
	out := map[string][]string{}
	for _, s := range services {
		if !hasIP(s) || len(s.Spec.Selector) == 0 {
			continue
		}
		for _, port := range s.Spec.Ports {
			if port.Protocol != "" && port.Protocol != corev1.ProtocolTCP {
				continue
			}
			at := join(wire, s.Spec.ClusterIP, port.Port)
			out[at] = nil
			for _, sl := range slices {
				if sl.Namespace == s.Namespace && sl.Labels[discoveryv1.LabelServiceName] == s.Name {
					out[at] = append(out[at], backends(wire, sl, port.Name)...)
				}
			}
		}
	}
	return out
}

func join(wire address.Wire, ip string, port int32) string {
	return net.JoinHostPort(wire.Addr(ip), strconv.Itoa(int(port)))
}

func backends(wire address.Wire, sl *discoveryv1.EndpointSlice, portName string) []string {
	var out []string
	for _, port := range sl.Ports {
		if port.Port == nil || port.Name != nil && *port.Name != portName {
			continue
		}
		for _, e := range sl.Endpoints {
			if e.Conditions.Ready == nil || *e.Conditions.Ready {
				for _, ip := range e.Addresses {
					out = append(out, join(wire, ip, *port.Port))
				}
			}
		}
	}
	return out
}

// apply opens and closes listeners.
func (p *Proxy) apply(ctx context.Context, want map[string][]string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.backends = want
	for at, l := range maps.Clone(p.open) {
		if _, ok := want[at]; !ok {
			_ = l.Close() // connections that are open stay open, as with kube-proxy
			delete(p.open, at)
		}
	}
	for at := range want {
		if p.open[at] != nil || p.refused[at] {
			continue
		}
		l, err := loopback.Listen(ctx, at)
		if err != nil {
			p.refused[at] = true
			p.log.Warn("port of a Service is not served", "address", at, "error", err)
			continue
		}
		p.open[at] = l
		go p.accept(ctx, at, l)
	}
}

func (p *Proxy) accept(ctx context.Context, at string, l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return // closed: the Service is gone, or the cluster
		}
		go p.forward(ctx, at, c)
	}
}

// forward passes one connection on. Without a ready endpoint it is closed at once: the peer sees it reset or ended,
// where a real cluster refuses it.
func (p *Proxy) forward(ctx context.Context, at string, c net.Conn) {
	defer func() { _ = c.Close() }()
	p.mu.Lock()
	targets := p.backends[at]
	p.mu.Unlock()
	if len(targets) == 0 {
		return
	}
	b, err := (&net.Dialer{}).DialContext(ctx, "tcp", targets[rand.IntN(len(targets))])
	if err != nil {
		return
	}
	defer func() { _ = b.Close() }()
	stop := context.AfterFunc(ctx, func() { _, _ = c.Close(), b.Close() })
	defer stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		pipe(b, c)
	}()
	pipe(c, b)
	<-done
}

// pipe copies one direction and passes the end on. Errors mean that a side has gone, which the other will notice.
func pipe(dst, src net.Conn) {
	_, err := io.Copy(dst, src)
	if t, ok := dst.(*net.TCPConn); ok && err == nil {
		_ = t.CloseWrite()
		return
	}
	_ = dst.Close()
}
