package kubelet

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// healthPoll is how often an engine that is coming up is asked.
const healthPoll = 100 * time.Millisecond

// becomeReady marks a container ready once it is: an engine when it answers, a process with a readiness probe when that
// succeeds, anything else after the readiness delay. It does not look again afterwards.
func (r *runner) becomeReady(ctx context.Context, m mode) {
	if fault(r.pod) == FaultNeverReady && !r.init {
		r.neverReady(ctx)
		return
	}
	if !pause(ctx, r.w.k.ReadyDelay) {
		return
	}
	check := r.check(m)
	for !check(ctx) {
		if !pause(ctx, healthPoll) {
			return
		}
	}
	if ctx.Err() == nil {
		r.w.change(r.init, r.c.Name, func(s *containerState) { s.ready = s.running != nil })
	}
}

func (r *runner) neverReady(ctx context.Context) {
	for pause(ctx, r.w.k.ReadyDelay) {
		r.w.event(corev1.EventTypeWarning, "Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503")
		if !pause(ctx, 10*time.Second) {
			return
		}
	}
}

// check returns the test that applies.
func (r *runner) check(m mode) func(context.Context) bool {
	if m == engine {
		return func(ctx context.Context) bool { return r.w.k.httpOK(ctx, "http", r.w.ip, EnginePort, "/health") }
	}
	p := r.c.ReadinessProbe
	switch {
	case m != real && m != contained || p == nil:
	case p.HTTPGet != nil:
		scheme := "http"
		if p.HTTPGet.Scheme == corev1.URISchemeHTTPS {
			scheme = "https"
		}
		return func(ctx context.Context) bool {
			return r.w.k.httpOK(ctx, scheme, r.w.ip, portOf(r.c, p.HTTPGet.Port.String()), p.HTTPGet.Path)
		}
	case p.GRPC != nil:
		return func(ctx context.Context) bool { return r.w.k.grpcServes(ctx, r.w.ip, p.GRPC) }
	case p.TCPSocket != nil:
		return func(ctx context.Context) bool {
			return r.w.k.accepts(ctx, r.w.ip, portOf(r.c, p.TCPSocket.Port.String()))
		}
	}
	return func(context.Context) bool { return true }
}

// portOf resolves a port given by number or name.
func portOf(c *corev1.Container, port string) int {
	if n, err := strconv.Atoi(port); err == nil {
		return n
	}
	for _, p := range c.Ports {
		if p.Name == port {
			return int(p.ContainerPort)
		}
	}
	return 0
}

func (k *Kubelet) accepts(ctx context.Context, podIP string, port int) bool {
	c, err := k.Wire.Dial(ctx, "tcp", net.JoinHostPort(podIP, strconv.Itoa(port)))
	if err != nil {
		return false
	}
	return c.Close() == nil
}

// grpcServes asks the gRPC health service.
func (k *Kubelet) grpcServes(ctx context.Context, podIP string, p *corev1.GRPCAction) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	conn, err := grpc.NewClient("passthrough:///"+net.JoinHostPort(podIP, strconv.Itoa(int(p.Port))),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, at string) (net.Conn, error) { return k.Wire.Dial(ctx, "tcp", at) }))
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()
	answer, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{Service: ptr.Deref(p.Service, "")})
	return err == nil && answer.Status == healthpb.HealthCheckResponse_SERVING
}

func (k *Kubelet) httpOK(ctx context.Context, scheme, podIP string, port int, path string) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	t := &http.Transport{DialContext: k.Wire.Dial, DisableKeepAlives: true}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s://%s%s", scheme, net.JoinHostPort(podIP, strconv.Itoa(port)), path), nil)
	if err != nil {
		return false
	}
	resp, err := (&http.Client{Transport: t}).Do(req)
	if err != nil {
		return false
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	return resp.StatusCode >= 200 && resp.StatusCode < 400
}
