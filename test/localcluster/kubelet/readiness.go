package kubelet

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mifbench/mifbench/test/localcluster/address"
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
		return func(ctx context.Context) bool { return httpOK(ctx, "http", r.w.ip, EnginePort, "/health") }
	}
	p := r.c.ReadinessProbe
	switch {
	case m != real || p == nil:
	case p.HTTPGet != nil:
		scheme := "http"
		if p.HTTPGet.Scheme == corev1.URISchemeHTTPS {
			scheme = "https"
		}
		return func(ctx context.Context) bool {
			return httpOK(ctx, scheme, r.w.ip, portOf(r.c, p.HTTPGet.Port.String()), p.HTTPGet.Path)
		}
	case p.TCPSocket != nil:
		return func(ctx context.Context) bool { return accepts(ctx, r.w.ip, portOf(r.c, p.TCPSocket.Port.String())) }
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

func accepts(ctx context.Context, podIP string, port int) bool {
	c, err := address.DialTwin(ctx, "tcp", net.JoinHostPort(podIP, strconv.Itoa(port)))
	if err != nil {
		return false
	}
	return c.Close() == nil
}

func httpOK(ctx context.Context, scheme, podIP string, port int, path string) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	t := &http.Transport{DialContext: address.DialTwin, DisableKeepAlives: true}
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
