package cli_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mifbench/mifbench/internal/cli"
)

// asked is a request of the load, as the server saw it.
type asked struct {
	path   string
	header http.Header
	body   map[string]any
	proto  int
}

// serveUser runs bench serve against a simulator, with a proxy between them that remembers
// what was asked.
type serveUser struct {
	t          *testing.T
	url        string
	host, port string
	proxy      http.Handler
	dir        string
	env        []string

	mu       sync.Mutex
	load     []asked
	inFlight atomic.Int64
	most     atomic.Int64
	answered atomic.Int64
}

func newServeUser(t *testing.T) *serveUser {
	t.Helper()
	host, port := simulator(t)
	to, err := url.Parse("http://" + net.JoinHostPort(host, port))
	if err != nil {
		t.Fatal(err)
	}
	u := &serveUser{t: t, dir: t.TempDir()}
	pass := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(to) },
		FlushInterval: -1, Transport: &http.Transport{MaxIdleConnsPerHost: 100},
	}
	u.proxy = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "completions") {
			u.note(r)
			if n := u.inFlight.Add(1); n > u.most.Load() {
				u.most.Store(n)
			}
			defer u.answered.Add(1)
			defer u.inFlight.Add(-1)
		}
		pass.ServeHTTP(w, r)
	})
	server := httptest.NewServer(u.proxy)
	t.Cleanup(server.Close)
	u.url = server.URL
	if u.host, u.port, err = net.SplitHostPort(server.Listener.Addr().String()); err != nil {
		t.Fatal(err)
	}
	return u
}

func (u *serveUser) note(r *http.Request) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	r.Body = io.NopCloser(bytes.NewReader(text))
	a := asked{path: r.URL.Path, header: r.Header.Clone(), proto: r.ProtoMajor}
	if err := json.Unmarshal(text, &a.body); err != nil {
		u.t.Errorf("body of a request: %v", err)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.load = append(u.load, a)
}

// outcome is what a run left.
type outcome struct {
	code      int
	out, talk string
	load      []asked
}

// serve runs bench serve with a small load unless the flags say otherwise.
func (u *serveUser) serve(flags ...string) outcome {
	u.t.Helper()
	args := append([]string{"bench", "serve", "--host", u.host, "--port", u.port, "--num-prompts", "4", "--random-input-len", "20", "--random-output-len", "5"}, flags...)
	return u.run(cli.Env{Args: args})
}

func (u *serveUser) run(env cli.Env) outcome {
	u.t.Helper()
	u.load = nil
	u.most.Store(0)
	u.answered.Store(0)
	var out, talk bytes.Buffer
	env.Stdout, env.Stderr, env.Environ = &out, &talk, u.env
	code := cli.Run(u.t.Context(), env)
	u.mu.Lock()
	defer u.mu.Unlock()
	return outcome{code: code, out: out.String(), talk: talk.String(), load: u.load}
}

// ok is serve for runs that must succeed.
func (u *serveUser) ok(flags ...string) outcome {
	u.t.Helper()
	o := u.serve(flags...)
	if o.code != 0 {
		u.t.Fatalf("%v: exit code %d:\n%s", flags, o.code, o.talk)
	}
	return o
}

// object reads a JSON file below the user's directory.
func (u *serveUser) object(name string) map[string]any {
	u.t.Helper()
	text, err := os.ReadFile(filepath.Join(u.dir, name))
	if err != nil {
		u.t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		u.t.Fatal(err)
	}
	return m
}

func (u *serveUser) write(name, text string) string {
	u.t.Helper()
	path := filepath.Join(u.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		u.t.Fatal(err)
	}
	return path
}

func (o outcome) prompts() (out []string) {
	for _, a := range o.load {
		p, _ := a.body["prompt"].(string)
		out = append(out, p)
	}
	return out
}
