package dataplane

import (
	"net/http"
	"slices"
	"strings"
)

// Pool is an InferencePool as the data path sees it. Ranks are host:port, dialable from here.
type Pool struct {
	Name    string
	Decode  []string // ranks that answer requests: role decode, both, or none given
	Prefill []string // ranks of role prefill
	Down    string   // why no rank can be chosen; "" when one can
}

// Match is one of a rule's matches. Empty fields match everything.
type Match struct {
	Prefix  string            // path prefix, by whole elements
	Exact   string            // path
	Method  string            // HTTP method
	Headers map[string]string // exact values by canonical name
}

// Route is one rule of an HTTPRoute.
type Route struct {
	Name    string   // namespace/name of the HTTPRoute
	Hosts   []string // host names, "*.example.org" included; none: all
	Matches []Match  // one must match; none: all do
	Pool    *Pool    // nil: the rule has no usable backend
	Problem string   // why Pool is nil
}

// Table is what a listener serves; it is never changed once in use.
type Table struct {
	Down   string // why the whole gateway does not serve; "" when it does
	Routes []Route
}

// ByPrecedence sorts rules as the Gateway API demands: an exact path before a prefix, a longer prefix before a shorter one,
// more headers before fewer, else as they are. A rule counts by the best of its matches.
func ByPrecedence(routes []Route) {
	slices.SortStableFunc(routes, func(a, b Route) int { return slices.Compare(b.rank(), a.rank()) })
}

// rank is larger for rules that come first.
func (t *Route) rank() []int {
	best := []int{0, 0, 0}
	for _, m := range t.Matches {
		r := []int{len(m.Exact), len(m.Prefix), len(m.Headers)}
		if slices.Compare(r, best) > 0 {
			best = r
		}
	}
	return best
}

// Find returns the first rule that matches a request, or nil. Rules must be in order of precedence.
func (t *Table) Find(r *http.Request) *Route {
	for i := range t.Routes {
		if t.Routes[i].matches(r) {
			return &t.Routes[i]
		}
	}
	return nil
}

func (t *Route) matches(r *http.Request) bool {
	if !hostMatches(t.Hosts, r.Host) {
		return false
	}
	for _, m := range t.Matches {
		if m.matches(r) {
			return true
		}
	}
	return len(t.Matches) == 0
}

func (m Match) matches(r *http.Request) bool {
	if m.Exact != "" && r.URL.Path != m.Exact {
		return false
	}
	if m.Method != "" && r.Method != m.Method {
		return false
	}
	if p := strings.TrimSuffix(m.Prefix, "/"); p != "" {
		rest, ok := strings.CutPrefix(r.URL.Path, p)
		if !ok || rest != "" && rest[0] != '/' {
			return false
		}
	}
	for name, value := range m.Headers {
		if r.Header.Get(name) != value {
			return false
		}
	}
	return true
}

func hostMatches(patterns []string, host string) bool {
	host, _, _ = strings.Cut(host, ":")
	for _, p := range patterns {
		if p == host || strings.HasPrefix(p, "*.") && strings.HasSuffix(host, p[1:]) {
			return true
		}
	}
	return len(patterns) == 0
}
