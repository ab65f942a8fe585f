package helm

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/resource"
)

func archive(t *testing.T, name, version string) (string, []byte) {
	t.Helper()
	file, err := chartutil.Save(&chart.Chart{
		Metadata:  &chart.Metadata{APIVersion: "v2", Name: name, Version: version},
		Templates: []*chart.File{{Name: "templates/c.yaml", Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n")}},
	}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return file, body
}

func TestResolveFromARepository(t *testing.T) {
	_, old := archive(t, "app", "v1.0.0")
	_, young := archive(t, "app", "v1.1.0")
	digest := strings.TrimPrefix(sum(young), "sha256:")
	hits := map[string]int{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, pass, _ := r.BasicAuth(); strings.HasPrefix(r.URL.Path, "/private") && user+pass != "up" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		path := strings.TrimPrefix(r.URL.Path, "/private")
		hits[path]++
		switch path {
		case "/index.yaml":
			_, _ = w.Write([]byte("apiVersion: v1\nentries:\n  app:\n  - {name: app, version: v1.1.0, digest: " + digest + ", urls: [a/new.tgz]}\n" +
				"  - {name: app, version: v1.0.0, urls: [a/old.tgz]}\n  bad:\n  - {name: bad, version: 1.0.0, digest: \"" + strings.Repeat("0", 64) + "\", urls: [a/old.tgz]}\n"))
		case "/a/new.tgz":
			_, _ = w.Write(young)
		case "/a/old.tgz":
			_, _ = w.Write(old)
		default:
			http.NotFound(w, r)
		}
	}))
	defer srv.Close()
	c := &charts{dir: t.TempDir(), indexes: map[string]*index{}}
	for _, x := range []struct {
		spec      resource.ReleaseSpec
		version   string
		wantError string
	}{
		{resource.ReleaseSpec{Repository: srv.URL, Chart: "app"}, "v1.1.0", ""},
		{resource.ReleaseSpec{Repository: srv.URL + "/", Chart: "app", Version: "v1.0.0"}, "v1.0.0", ""},
		{resource.ReleaseSpec{Repository: srv.URL, Chart: "app", Version: "~1.0"}, "v1.0.0", ""},
		{resource.ReleaseSpec{Repository: srv.URL, Chart: "app", Version: "^2"}, "", "the newest are v1.1.0, v1.0.0"},
		{resource.ReleaseSpec{Repository: srv.URL, Chart: "apq"}, "", `did you mean "app"?`},
		{resource.ReleaseSpec{Repository: srv.URL, Chart: "bad"}, "", "the index says sha256:000"},
		{resource.ReleaseSpec{Repository: srv.URL + "/nowhere", Chart: "app"}, "", "404"},
		{resource.ReleaseSpec{Repository: srv.URL + "/private", Chart: "app"}, "", "set username and password"},
		{resource.ReleaseSpec{Repository: srv.URL + "/private", Chart: "app", Username: "u", Password: "p"}, "v1.1.0", ""},
		{resource.ReleaseSpec{Repository: strings.Replace(srv.URL, "://", "://u:p@", 1) + "/private", Chart: "app"}, "v1.1.0", ""},
		{resource.ReleaseSpec{Repository: strings.Replace(srv.URL, "://", "://u:hunter2@", 1) + "/private", Chart: "app"}, "", "set username and password"},
		{resource.ReleaseSpec{Repository: "http://127.0.0.1:1", Chart: "app"}, "", "127.0.0.1:1"},
	} {
		p, err := c.resolve(t.Context(), x.spec, pin{})
		if strings.Contains(fmt.Sprint(err, p.origin), "hunter2") || strings.Contains(p.origin, "u:p@") {
			t.Errorf("a password is shown: %v, %s", err, p.origin)
		}
		if x.wantError != "" {
			if err == nil || !strings.Contains(err.Error(), x.wantError) {
				t.Errorf("%+v: %v", x.spec, err)
			}
			continue
		}
		if err != nil || p.version != x.version {
			t.Errorf("%+v: %q, %v", x.spec, p.version, err)
		}
	}
	if hits["/a/new.tgz"] != 1 {
		t.Errorf("the archive was fetched %d times, its digest is known", hits["/a/new.tgz"])
	}
	srv.Close()
	if _, err := c.resolve(t.Context(), resource.ReleaseSpec{Repository: srv.URL, Chart: "app"}, pin{digest: sum(young)}); err != nil {
		t.Errorf("a pinned chart needs no repository: %v", err)
	}
}

func TestResolveFromAPath(t *testing.T) {
	file, body := archive(t, "app", "1.0.0")
	dir := t.TempDir()
	if err := chartutil.Expand(dir, bytes.NewReader(body)); err != nil {
		t.Fatal(err)
	}
	c := &charts{dir: t.TempDir(), indexes: map[string]*index{}}
	for _, x := range []struct {
		spec      resource.ReleaseSpec
		wantError string
	}{
		{resource.ReleaseSpec{Chart: file}, ""},
		{resource.ReleaseSpec{Repository: file, Chart: "app"}, ""},
		{resource.ReleaseSpec{Chart: filepath.Join(dir, "app")}, ""},
		{resource.ReleaseSpec{Repository: dir, Chart: "app", Version: "^1"}, ""},
		{resource.ReleaseSpec{Chart: file, Version: "2.0.0"}, "it has version 1.0.0, the block wants 2.0.0"},
		{resource.ReleaseSpec{Chart: "nothing"}, "neither a repository URL nor a readable path"},
	} {
		_, err := c.resolve(t.Context(), x.spec, pin{})
		if x.wantError == "" && err != nil || x.wantError != "" && (err == nil || !strings.Contains(err.Error(), x.wantError)) {
			t.Errorf("%+v: %v", x.spec, err)
		}
	}
	p, err := fromDirectory(filepath.Join(dir, "app"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "app", "templates", "c.yaml"), []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	if q, err := fromDirectory(filepath.Join(dir, "app")); err != nil || q.digest == p.digest {
		t.Errorf("an edited directory has the same digest, %v", err)
	}
}

// TestResolveFromAFolderOfArchives: what `helm pull` leaves behind is a repository.
func TestResolveFromAFolderOfArchives(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mirror [1]")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, x := range [][2]string{{"app", "v1.0.0"}, {"app", "v1.10.0"}, {"app", "v1.9.0"}, {"app-crd", "v2.0.0"}} {
		_, body := archive(t, x[0], x[1])
		if err := os.WriteFile(filepath.Join(dir, x[0]+"-"+x[1]+".tgz"), body, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := &charts{dir: t.TempDir(), indexes: map[string]*index{}}
	for _, x := range []struct{ chart, want, version, wantError string }{
		{"app", "", "v1.10.0", ""},
		{"app", "v1.9.0", "v1.9.0", ""},
		{"app", "~1.9", "v1.9.0", ""},
		{"app-crd", "", "v2.0.0", ""},
		{"app", "^2", "", "the newest are v1.10.0, v1.9.0, v1.0.0"},
		{"apq", "", "", "neither a directory of that name nor an archive apq-VERSION.tgz"},
	} {
		p, err := c.resolve(t.Context(), resource.ReleaseSpec{Repository: dir, Chart: x.chart, Version: x.want}, pin{})
		if p.version != x.version || x.wantError == "" && err != nil || x.wantError != "" && (err == nil || !strings.Contains(err.Error(), x.wantError)) {
			t.Errorf("%+v: %q, %v", x, p.version, err)
		}
	}
}

// TestWordsAroundActions: the description of a definition says "for now" and means no function.
func TestWordsAroundActions(t *testing.T) {
	for text, want := range map[string]bool{
		"a: {{ .Values.a }}\ndescription: for now only caFile, shuffle is uuidv4": false,
		"a: {{ now | date \"2006\" }}":                                            true,
		"{{- if .Values.on }}\ndescription: as of now \n{{ end }}":                false,
		"a: {{- $p :=\n  randAlphaNum 12 }}":                                      true,
	} {
		ch := &chart.Chart{Templates: []*chart.File{{Name: "templates/a.yaml", Data: []byte(text)}}}
		if usesRandom(ch) != want {
			t.Errorf("%q: random is %v", text, !want)
		}
		freeze(ch)
		if changed := string(ch.Templates[0].Data) != text; changed != strings.Contains(text, "{{ now") {
			t.Errorf("%q was frozen to %q", text, ch.Templates[0].Data)
		}
	}
}

// TestManyObjectsFailAlike: one broken webhook is not a wall of text.
func TestManyObjectsFailAlike(t *testing.T) {
	errs := make([]error, 200)
	if joined(errs) != nil {
		t.Error("an error of nothing")
	}
	for i := range errs {
		errs[i] = fmt.Errorf("object %d: %w", i, deploy.ErrNoKind)
	}
	err := joined(errs)
	if !errors.Is(err, deploy.ErrNoKind) || strings.Count(err.Error(), "\n") != maxErrors || !strings.Contains(err.Error(), "and 195 more of its objects") {
		t.Error(err)
	}
}

func TestNearestAndEdits(t *testing.T) {
	if got := nearest("replicaz", []string{"image", "replicas"}); got != "replicas" {
		t.Error(got)
	}
	if got := nearest("zzz", []string{"image", "replicas"}); got != "" {
		t.Error(got)
	}
	if edits("kitten", "sitting") != 3 || edits("", "ab") != 2 {
		t.Error("edit distance")
	}
}

func TestCopyTreeKeepsWholeNumbers(t *testing.T) {
	got := copyTree(map[string]any{"a": 32400000.0, "b": 1.5, "c": []any{1.0, "x"}})
	if diff := cmp.Diff(map[string]any{"a": int64(32400000), "b": 1.5, "c": []any{int64(1), "x"}}, got); diff != "" {
		t.Fatal(diff)
	}
}

func TestValidLabel(t *testing.T) {
	for v, want := range map[string]bool{"heimdall": true, "a_b-c.D9": true, "": false, "-a": false, "a ": false, strings.Repeat("a", 64): false, `a["b"]`: false} {
		if validLabel(v) != want {
			t.Errorf("%q: %v", v, !want)
		}
	}
}

// TestAddressesInLabels: what a release's labels say of its block leads back to it, whatever its length.
func TestAddressesInLabels(t *testing.T) {
	for _, a := range []resource.Address{
		{Kind: "heimdall", Name: "heimdall"},
		{Kind: "helm_release", Name: "odin", Key: `"eu-west"`},
		{Kind: "helm_release", Name: "odin", Key: "3"},
		{Module: "stack.inner", Kind: "helm_release", Name: "x", Key: resource.StringKey(strings.Repeat("long/", 20))},
	} {
		l := labels(deploy.Query{Stack: "s1", Want: &resource.Object{Address: a}})
		for k, v := range l {
			if !validLabel(v) {
				t.Errorf("%s: label %s=%q", a, k, v)
			}
			if v == "null" {
				delete(l, k) // as Helm does
			}
		}
		if got := addressOf(l); got != a {
			t.Errorf("%s came back as %s", a, got)
		}
	}
	if got := addressOf(map[string]string{addressLabel: "?", kindLabel: "heimdall", nameLabel: "h"}); got != (resource.Address{Kind: "heimdall", Name: "h"}) {
		t.Errorf("a spoilt label: %s", got)
	}
}

func TestDifferingAndReplaceAt(t *testing.T) {
	a := map[string]any{"x": []any{map[string]any{"a/b": "1", "c": "2"}}, "y": "same", "gone": "1"}
	b := map[string]any{"x": []any{map[string]any{"a/b": "9", "c": "2"}}, "y": "same"}
	got := differing("", a, b)
	if diff := cmp.Diff([]string{"/gone", "/x/0/a~1b"}, got); diff != "" {
		t.Fatal(diff)
	}
	replaceAt(a, append(got, "/nowhere/0"), func(any) any { return "?" })
	want := map[string]any{"x": []any{map[string]any{"a/b": "?", "c": "2"}}, "y": "same", "gone": "?"}
	if diff := cmp.Diff(want, a); diff != "" {
		t.Fatal(diff)
	}
}
