// Package crds installs the custom resource definitions that a cluster for MIF has.
//
// Other projects' definitions are not copied into this repository: they are read at start from the Go module cache, at
// pinned versions and with pinned hashes (the go command downloads what is not there yet, so the first start needs a
// module proxy and the go command). Odin's are our own, after its documentation, and embedded.
package crds

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// source is a module that carries definitions.
type source struct {
	module, version string
	sum             string   // as in go.sum
	files           []string // in the module
	names           []string // the definitions to take from them
}

// sources lists the modules. To change a version: edit it, run the tests, take the hash from their message.
func sources() []source {
	return []source{
		{"sigs.k8s.io/gateway-api", "v1.6.3", "h1:lKpJa5bGlraC/QeACvCpsHLdmO6y0iKfzVl6gzaFEYc=",
			[]string{
				"config/crd/standard/gateway.networking.k8s.io_gatewayclasses.yaml",
				"config/crd/standard/gateway.networking.k8s.io_gateways.yaml",
				"config/crd/standard/gateway.networking.k8s.io_httproutes.yaml",
				"config/crd/standard/gateway.networking.k8s.io_referencegrants.yaml",
			},
			[]string{
				"gatewayclasses.gateway.networking.k8s.io", "gateways.gateway.networking.k8s.io",
				"httproutes.gateway.networking.k8s.io", "referencegrants.gateway.networking.k8s.io",
			}},
		{"sigs.k8s.io/gateway-api-inference-extension", "v1.5.0", "h1:w9Awt60cmI1vM7Y6N81h8wDCBP0WkmxpdI7GKY0v070=",
			[]string{
				"config/crd/bases/inference.networking.k8s.io_inferencepools.yaml",
				"config/crd/bases/inference.networking.x-k8s.io_inferenceobjectives.yaml",
			},
			[]string{
				"inferencepools.inference.networking.k8s.io",
				"inferenceobjectives.inference.networking.x-k8s.io", // the endpoint picker does not start without
			}},
		{"sigs.k8s.io/lws", "v0.7.0", "h1:qWfzX8+UBak+Hq0+m/PuE3uO0mp/3dmm5q/h/7z31A8=",
			[]string{"config/crd/bases/leaderworkerset.x-k8s.io_leaderworkersets.yaml"},
			[]string{"leaderworkersets.leaderworkerset.x-k8s.io"}},
		{"github.com/prometheus-operator/prometheus-operator", "v0.85.0", "h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=",
			[]string{
				"example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml",
				"example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml",
			},
			[]string{"podmonitors.monitoring.coreos.com", "servicemonitors.monitoring.coreos.com"}},
		{"istio.io/api", "v1.32.0", "h1:37mJvg9I0biYZAEQF+MATs4FNeCpXEIVO3LFpVb6iNM=",
			[]string{"kubernetes/customresourcedefinitions.gen.yaml"},
			[]string{"destinationrules.networking.istio.io"}},
	}
}

//go:embed odin/*.yaml
var odin embed.FS

// Load reads all definitions.
func Load(ctx context.Context) ([]*apiext.CustomResourceDefinition, error) {
	dirs, err := download(ctx, sources())
	if err != nil {
		return nil, err
	}
	out, err := Odin()
	if err != nil {
		return nil, err
	}
	for i, s := range sources() {
		for _, f := range s.files {
			data, err := os.ReadFile(filepath.Join(dirs[i], f))
			if err != nil {
				return nil, fmt.Errorf("definitions of %s@%s: %w", s.module, s.version, err)
			}
			found, err := parse(data, s.names)
			if err != nil {
				return nil, fmt.Errorf("definitions of %s@%s: %s: %w", s.module, s.version, f, err)
			}
			out = append(out, found...)
		}
	}
	return out, nil
}

// Odin returns the embedded definitions.
func Odin() ([]*apiext.CustomResourceDefinition, error) {
	files, err := odin.ReadDir("odin")
	if err != nil {
		return nil, err
	}
	var out []*apiext.CustomResourceDefinition
	for _, f := range files {
		data, err := odin.ReadFile("odin/" + f.Name())
		if err != nil {
			return nil, err
		}
		found, err := parse(data, nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		out = append(out, found...)
	}
	return out, nil
}

// parse reads the definitions of a YAML file that have one of the names; no names means all. Documents of other names
// are skipped undecoded: files are large and decoding is slow.
func parse(data []byte, names []string) ([]*apiext.CustomResourceDefinition, error) {
	var out []*apiext.CustomResourceDefinition
	for _, doc := range bytes.Split(data, []byte("\n---\n")) {
		named := func(n string) bool { return bytes.Contains(doc, []byte("\n  name: "+n+"\n")) }
		if len(bytes.TrimSpace(doc)) == 0 || names != nil && !slices.ContainsFunc(names, named) {
			continue
		}
		crd := &apiext.CustomResourceDefinition{}
		if err := yaml.Unmarshal(doc, crd); err != nil {
			return nil, err
		}
		out = append(out, crd)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("none of %v in it", names)
	}
	return out, nil
}

// download has the go command put modules into its cache and returns their folders.
func download(ctx context.Context, ss []source) ([]string, error) {
	args := []string{"mod", "download", "-json"}
	for _, s := range ss {
		args = append(args, s.module+"@"+s.version)
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = os.TempDir() // outside of any module
	// The hashes pinned here make the checksum database needless, and with it a network for modules that are cached.
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "GONOSUMDB=*", "GO111MODULE=on")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	runErr := cmd.Run()
	dirs, err := downloaded(stdout.Bytes(), ss)
	if err != nil || runErr != nil {
		return nil, fmt.Errorf("go mod download (needed once for the definitions of other projects): %w\n%s", errors.Join(runErr, err), stderr.String())
	}
	return dirs, nil
}

// downloaded reads the go command's answer and checks the hashes.
func downloaded(answer []byte, ss []source) ([]string, error) {
	dec := json.NewDecoder(bytes.NewReader(answer))
	var dirs []string
	for _, s := range ss {
		var m struct{ Path, Dir, Sum, Error string }
		if err := dec.Decode(&m); err != nil {
			return nil, fmt.Errorf("answer for %s: %w", s.module, err)
		}
		switch {
		case m.Error != "":
			return nil, fmt.Errorf("%s@%s: %s", s.module, s.version, m.Error)
		case m.Path != s.module:
			return nil, fmt.Errorf("%s: answer is about %s", s.module, m.Path)
		case m.Sum != s.sum:
			return nil, fmt.Errorf("%s@%s has hash %s, not the pinned %s", s.module, s.version, m.Sum, s.sum)
		}
		dirs = append(dirs, m.Dir)
	}
	return dirs, nil
}
