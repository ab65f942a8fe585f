package istio

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/mifbench/mifbench/test/localcluster/standin/dataplane"
	"github.com/mifbench/mifbench/test/localcluster/standin/reconcile"
)

// traffic holds the open listeners of all Gateways. It is used by the controller's one goroutine only.
type traffic struct {
	addresses Addresses
	log       func(format string, args ...any)
	picker    *dataplane.Picker
	transport http.RoundTripper
	gateways  map[string]*entrance // by Gateway UID
}

// entrance is what stands open for one Gateway.
type entrance struct {
	host     string                        // its own loopback address
	handlers map[string]*dataplane.Gateway // by listener name
	servers  map[string]*dataplane.Server  // by host:port asked for
}

func newTraffic(a Addresses, log func(format string, args ...any)) *traffic {
	return &traffic{
		addresses: a, log: log, picker: &dataplane.Picker{}, transport: dataplane.Transport(), gateways: map[string]*entrance{},
	}
}

// reserve opens the Gateway's own address, if that is still to do, and returns the host:port of its first listener.
func (t *traffic) reserve(ctx context.Context, g *gateway) string {
	e := t.gateways[g.uid()]
	if e == nil {
		e = &entrance{host: t.addresses.Alloc(), handlers: map[string]*dataplane.Gateway{}, servers: map[string]*dataplane.Server{}}
		t.gateways[g.uid()] = e
	}
	first := ""
	for _, l := range g.spec.Listeners {
		if !supported(l) {
			continue
		}
		if e.handlers[l.Name] == nil {
			e.handlers[l.Name] = dataplane.New(t.picker, t.transport)
		}
		if s := t.open(ctx, e, e.host, l); s != nil && first == "" {
			first = s.Address
		}
	}
	return first
}

func (t *traffic) open(ctx context.Context, e *entrance, host string, l listener) *dataplane.Server {
	key := net.JoinHostPort(host, strconv.Itoa(l.Port))
	if s, ok := e.servers[key]; ok {
		return s
	}
	s, err := dataplane.Listen(ctx, host, l.Port, e.handlers[l.Name], t.log)
	if err != nil {
		t.log("istio: %v", err)
		return nil
	}
	e.servers[key] = s
	return s
}

// address returns the Gateway's loopback address, "" while nothing could be opened there.
func (t *traffic) address(g *gateway) string {
	if e := t.gateways[g.uid()]; e != nil && len(e.servers) > 0 {
		return e.host
	}
	return ""
}

// update gives every open Gateway its table, and opens and closes listeners with the pods and Gateways behind them.
func (t *traffic) update(ctx context.Context, w *world, routes []*route) {
	pools := map[*pool]*dataplane.Pool{}
	for _, p := range w.pools {
		pools[p] = ranks(w, p, t.addresses.Twin)
	}
	for uid, e := range t.gateways {
		if !w.has(uid) {
			e.closeExcept(nil)
			delete(t.gateways, uid)
		}
	}
	for _, g := range w.gateways {
		e := t.gateways[g.uid()]
		wanted := map[string]bool{}
		for _, l := range g.spec.Listeners {
			if e.handlers[l.Name] == nil {
				continue
			}
			e.handlers[l.Name].Set(tableOf(g, l.Name, routes, pools))
			for _, host := range t.hosts(e, g) {
				wanted[net.JoinHostPort(host, strconv.Itoa(l.Port))] = true
				t.open(ctx, e, host, l)
			}
		}
		e.closeExcept(wanted)
	}
}

// hosts are the Gateway's own address and the twins of its ready pods.
func (t *traffic) hosts(e *entrance, g *gateway) []string {
	out := []string{e.host}
	for _, p := range g.proxies {
		if reconcile.PodReady(p) {
			out = append(out, t.addresses.Twin(p.Status.PodIP))
		}
	}
	return out
}

func (e *entrance) closeExcept(wanted map[string]bool) {
	for key, s := range e.servers {
		if !wanted[key] {
			s.Close()
			delete(e.servers, key)
		}
	}
}

// tableOf collects the rules that are attached to a listener.
func tableOf(g *gateway, name string, routes []*route, pools map[*pool]*dataplane.Pool) *dataplane.Table {
	t := &dataplane.Table{}
	if readyProxies(g) == 0 {
		t.Down = "the gateway has no ready proxy pod"
	}
	for _, r := range routes {
		if !r.attachedTo(g, name) {
			continue
		}
		for i, b := range r.rules {
			out := dataplane.Route{Name: r.live.GetNamespace() + "/" + r.live.GetName(), Hosts: r.spec.Hostnames, Problem: b.problem.message}
			if b.pool != nil {
				out.Pool = pools[b.pool]
			}
			out.Matches = r.matches(i)
			t.Routes = append(t.Routes, out)
		}
	}
	dataplane.ByPrecedence(t.Routes)
	return t
}

func (r *route) attachedTo(g *gateway, name string) bool {
	for _, p := range r.parents {
		for _, l := range p.listeners {
			if p.gateway == g && l == name {
				return true
			}
		}
	}
	return false
}

// matches converts a rule's matches. Header matches of type RegularExpression are not served: they match literally.
func (r *route) matches(rule int) []dataplane.Match {
	var out []dataplane.Match
	for _, m := range r.spec.Rules[rule].Matches {
		match := dataplane.Match{Method: m.Method, Headers: map[string]string{}}
		if m.Path != nil && m.Path.Type == "Exact" {
			match.Exact = m.Path.Value
		} else if m.Path != nil {
			match.Prefix = strings.TrimSuffix(m.Path.Value, "/")
		}
		for _, h := range m.Headers {
			match.Headers[h.Name] = h.Value
		}
		out = append(out, match)
	}
	return out
}
