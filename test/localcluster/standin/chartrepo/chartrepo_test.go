package chartrepo

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/mifbench/mifbench/test/localcluster/charts"
)

func build(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := Build(charts.FS())
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestIndexNamesEveryArchiveByItsDigest(t *testing.T) {
	files := build(t)
	var index struct {
		Entries map[string][]struct {
			Version, Digest, Description string
			URLs                         []string
		}
	}
	if err := yaml.Unmarshal(files["index.yaml"], &index); err != nil {
		t.Fatal(err)
	}
	var versions []string
	for _, e := range index.Entries["heimdall"] {
		versions = append(versions, e.Version)
		sum := sha256.Sum256(files[e.URLs[0]])
		if e.Digest != hex.EncodeToString(sum[:]) {
			t.Errorf("%s: digest does not match the archive", e.Version)
		}
		if !strings.Contains(e.Description, "stand-in") {
			t.Errorf("%s: the description does not say that it is a stand-in", e.Version)
		}
	}
	if d := cmp.Diff([]string{"v0.7.1", "v0.7.0"}, versions); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(files, build(t)); d != "" {
		t.Error("two builds differ")
	}
}

func TestArchiveIsLaidOutAsHelmWantsIt(t *testing.T) {
	zip, err := gzip.NewReader(bytes.NewReader(build(t)["heimdall-v0.7.0.tgz"]))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	var head []byte
	for tr := tar.NewReader(zip); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
		if h.Name == "heimdall/Chart.yaml" {
			if head, err = io.ReadAll(tr); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, want := range []string{"heimdall/Chart.yaml", "heimdall/values.yaml", "heimdall/templates/_names.tpl", "heimdall/templates/deployment.yaml"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not in the archive", want)
		}
	}
	if !strings.Contains(string(head), "version: v0.7.0") || !strings.Contains(string(head), "appVersion: v0.7.0") {
		t.Errorf("Chart.yaml does not carry the former version:\n%s", head)
	}
}

func TestHandler(t *testing.T) {
	h := Handler(map[string][]byte{"index.yaml": []byte("x")})
	for path, want := range map[string]int{"/index.yaml": 200, "/nope.tgz": 404, "/": 404} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != want {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
	}
}
