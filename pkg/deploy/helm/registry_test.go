package helm

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
	helmregistry "helm.sh/helm/v3/pkg/registry"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/resource"
)

const (
	user     = "puller"
	password = "hunter2hunter2"
)

// ociRegistry is a real registry on loopback; below /v2/private it wants a password. Charts come into it
// by Helm's own client.
func ociRegistry(t *testing.T) (host string) {
	t.Helper()
	store := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u, p, _ := r.BasicAuth()
		if strings.HasPrefix(r.URL.Path, "/v2/private") && (u != user || p != password) {
			w.Header().Set("Www-Authenticate", `Basic realm="test"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		store.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	return strings.TrimPrefix(srv.URL, "http://")
}

func push(t *testing.T, host, folder, version string) []byte {
	t.Helper()
	_, body := archive(t, "app", version)
	client, err := helmregistry.NewClient(helmregistry.ClientOptPlainHTTP(), helmregistry.ClientOptBasicAuth(user, password))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Push(body, host+"/"+folder+"/app:"+version); err != nil {
		t.Fatal(err)
	}
	return body
}

func TestResolveFromARegistry(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	t.Setenv("HELM_CONFIG_HOME", t.TempDir())
	host := ociRegistry(t)
	for _, v := range []string{"v0.7.0", "v0.7.1", "v0.8.0", "v0.9.0-rc.1"} {
		push(t, host, "charts", v)
	}
	push(t, host, "charts2", "1.2.3+build.5")
	push(t, host, "private", "1.0.0")
	at := "oci://" + host
	c := &charts{dir: t.TempDir(), indexes: map[string]*index{}}
	for _, x := range []struct {
		spec      resource.ReleaseSpec
		version   string
		wantError string
	}{
		{resource.ReleaseSpec{Repository: at + "/charts", Chart: "app", Version: "v0.7.1"}, "v0.7.1", ""},
		{resource.ReleaseSpec{Repository: at + "/charts", Chart: "app", Version: "0.7.1"}, "v0.7.1", ""}, // the v does not matter
		{resource.ReleaseSpec{Repository: at + "/charts/", Chart: "app", Version: "~0.7.0"}, "v0.7.1", ""},
		{resource.ReleaseSpec{Repository: at + "/charts", Chart: "app", Version: ">=0.9.0-0"}, "v0.9.0-rc.1", ""},
		{resource.ReleaseSpec{Chart: at + "/charts/app"}, "v0.8.0", ""},
		{resource.ReleaseSpec{Chart: at + "/charts2/app", Version: "1.2.3+build.5"}, "1.2.3+build.5", ""},
		{resource.ReleaseSpec{Chart: at + "/charts2/app", Version: "^1"}, "1.2.3+build.5", ""},
		{resource.ReleaseSpec{Chart: at + "/charts/app", Version: "^3"}, "", `no version satisfies "^3"; the newest are v0.9.0-rc.1, v0.8.0`},
		{resource.ReleaseSpec{Chart: at + "/charts/app", Version: "latest"}, "", "neither a version nor a range"},
		{resource.ReleaseSpec{Chart: at + "/charts/nothing", Version: "1.0.0"}, "", "the registry has no such chart"},
		{resource.ReleaseSpec{Chart: at + "/private/app"}, "", "set username and password"},
		{resource.ReleaseSpec{Chart: at + "/private/app", Version: "1.0.0"}, "", "set username and password"},
		{resource.ReleaseSpec{Chart: at + "/private/app", Username: user, Password: "wrong-password"}, "", "set username and password"},
		{resource.ReleaseSpec{Chart: at + "/private/app", Username: user, Password: password}, "1.0.0", ""},
		{resource.ReleaseSpec{Chart: "oci://127.0.0.1:1/x/app", Version: "1.0.0"}, "", "127.0.0.1:1"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		p, err := c.resolve(ctx, x.spec, pin{})
		cancel()
		if err != nil && strings.Contains(err.Error(), "password\"") || err != nil && x.spec.Password != "" && strings.Contains(err.Error(), x.spec.Password) {
			t.Errorf("a password in an error: %v", err)
		}
		if x.wantError != "" {
			if err == nil || !strings.Contains(err.Error(), x.wantError) {
				t.Errorf("%+v: %v", x.spec, err)
			}
			continue
		}
		if err != nil || p.version != x.version || !strings.Contains(p.origin, "@sha256:") {
			t.Errorf("%+v: %q %q, %v", x.spec, p.version, p.origin, err)
		}
	}
}

// TestPinnedChartOfARange: the plan's version is applied, not what a range matches by then; a tag
// that moved is refused.
func TestPinnedChartOfARange(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	t.Setenv("HELM_CONFIG_HOME", t.TempDir())
	host := ociRegistry(t)
	push(t, host, "charts", "1.0.0")
	s := resource.ReleaseSpec{Chart: "oci://" + host + "/charts/app", Version: "^1"}
	planned, err := (&charts{dir: t.TempDir()}).resolve(t.Context(), s, pin{})
	if err != nil {
		t.Fatal(err)
	}
	push(t, host, "charts", "1.1.0")
	later := &charts{dir: t.TempDir()} // another machine: nothing in the cache
	got, err := later.resolve(t.Context(), s, pin{planned.version, planned.digest})
	if err != nil || got.version != "1.0.0" || got.digest != planned.digest {
		t.Fatalf("%+v, %v", got, err)
	}
	_, err = (&charts{dir: t.TempDir()}).resolve(t.Context(), s, pin{planned.version, "sha256:" + strings.Repeat("0", 64)})
	if !errors.Is(err, deploy.ErrChanged) || !strings.Contains(err.Error(), "plan again") {
		t.Fatal(err)
	}
}

func TestPullEndsWithItsContext(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	t.Setenv("HELM_CONFIG_HOME", t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}))
	defer srv.Close()
	s := resource.ReleaseSpec{Chart: "oci://" + strings.TrimPrefix(srv.URL, "http://") + "/charts/app", Version: "1.0.0"}
	if _, err := (&charts{dir: t.TempDir()}).resolve(ctx, s, pin{}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}
