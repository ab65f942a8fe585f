package provision

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// class is what a request is for.
type class string

const (
	discovery class = "discovery"
	read      class = "read"
	list      class = "list"
	watch     class = "watch"
	dryRun    class = "dry-run"
	review    class = "review"
	write     class = "write"
)

// classes in the order of the table.
func classes() []class { return []class{discovery, read, list, watch, dryRun, review, write} }

func classify(r *http.Request) class {
	steps := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	q := r.URL.Query()
	switch {
	case q.Get("dryRun") != "":
		return dryRun
	case strings.HasSuffix(r.URL.Path, "reviews"):
		return review
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		return write
	case steps[0] != "api" && steps[0] != "apis", steps[0] == "api" && len(steps) < 3, steps[0] == "apis" && len(steps) < 4:
		return discovery
	case q.Get("watch") != "" && q.Get("watch") != "false":
		return watch
	case named(steps):
		return read
	}
	return list
}

// named tells whether a path ends in an object rather than in a collection.
func named(steps []string) bool {
	rest := steps[2:]
	if steps[0] == "apis" {
		rest = steps[3:]
	}
	if len(rest) > 2 && rest[0] == "namespaces" {
		rest = rest[2:]
	}
	return len(rest) > 1
}

// counter is a proxy before an API server that counts requests by class.
type counter struct {
	mu    sync.Mutex
	seen  map[class]int
	paths map[string]int
}

func (c *counter) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen, c.paths = map[class]int{}, map[string]int{}
}

func (c *counter) counts() map[class]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := map[class]int{}
	for k, v := range c.seen {
		out[k] = v
	}
	return out
}

// behind starts the proxy and writes a kubeconfig that leads through it: the administrator's rights
// without credentials, on loopback.
func behind(t *testing.T, kubeconfig, context string) (c *counter, file string) {
	t.Helper()
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := rest.TransportFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(cfg.Host)
	if err != nil {
		t.Fatal(err)
	}
	c = &counter{}
	c.reset()
	forward := &httputil.ReverseProxy{Transport: transport, FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		k := classify(r)
		c.mu.Lock()
		c.seen[k]++
		c.paths[fmt.Sprintf("%s %s %s", k, r.Method, r.URL.Path)]++
		c.mu.Unlock()
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	file = filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: %[1]s
clusters: [{name: c, cluster: {server: %[2]q}}]
users: [{name: u, user: {}}]
contexts: [{name: %[1]s, context: {cluster: c, user: u}}]
`, context, srv.URL)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return c, file
}

func TestClassify(t *testing.T) {
	for request, want := range map[string]class{
		"GET /api": discovery, "GET /apis/apps/v1": discovery, "GET /openapi/v3": discovery, "GET /version": discovery,
		"GET /api/v1/namespaces/a":                                    read,
		"GET /api/v1/namespaces":                                      list,
		"GET /api/v1/namespaces/a/configmaps":                         list,
		"GET /api/v1/namespaces/a/configmaps/b":                       read,
		"GET /api/v1/pods?watch=true":                                 watch,
		"GET /apis/apps/v1/namespaces/a/deployments":                  list,
		"GET /apis/apps/v1/namespaces/a/scales/b":                     read,
		"GET /apis/a/v1/clusterthings/b":                              read,
		"PATCH /api/v1/namespaces/a?dryRun=All":                       dryRun,
		"PATCH /api/v1/namespaces/a":                                  write,
		"POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews": review,
	} {
		method, target, _ := strings.Cut(request, " ")
		if got := classify(httptest.NewRequest(method, target, nil)); got != want {
			t.Errorf("%s: %s, want %s", request, got, want)
		}
	}
}
