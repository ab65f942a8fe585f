// Package clustertest gives tests a real Kubernetes API server with simulated nodes: the binary of test/localcluster, run
// as a process of its own, so that nothing of the control plane's dependencies reaches the tests.
//
// A cluster takes about seven seconds and 700 MB; share one in a package (Shared, from TestMain) and give every test a
// namespace of its own. The cluster's process ends with the test's, however that ends, and takes its folder with it.
//
// Without the binary tests are skipped, unless MIFBENCH_REQUIRE_CLUSTER=1 says that they must not be.
package clustertest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	// BinaryVariable names the variable that holds the path of the binary; the default is bin/localcluster of this repository.
	BinaryVariable = "MIFBENCH_LOCALCLUSTER"
	// RequireVariable names the variable that, set to 1, turns a missing binary into a failure.
	RequireVariable = "MIFBENCH_REQUIRE_CLUSTER"
)

// errNoBinary says that the control plane has not been built.
var errNoBinary = errors.New("the local control plane is not built; build it with: make cluster-build")

// Cluster is a running cluster.
type Cluster struct {
	Kubeconfig string            // file; its one context is the administrator's
	Context    string            // name of that context
	Dir        string            // folder of the cluster, gone when it ends
	Env        map[string]string // what a client's environment should hold: KUBECONFIG, addresses of the stand-ins

	process *process
}

// Option changes how a cluster is started.
type Option func(*options)

type options struct{ args []string }

// Engine has engine pods and mifbench images played by the mifbench binary at path.
func Engine(path string) Option { return flag("--engine", path) }

// Speedup sets the simulated seconds per second of the engines.
func Speedup(f float64) Option { return flag("--speedup", fmt.Sprint(f)) }

// StreamScale makes one stream load an engine like f streams.
func StreamScale(f float64) Option { return flag("--stream-scale", fmt.Sprint(f)) }

// Nodes sets the number of GPU nodes; the default is 5.
func Nodes(n int) Option { return flag("--nodes", fmt.Sprint(n)) }

// WithoutCRDs starts a cluster without custom resource definitions, and so without stand-ins.
func WithoutCRDs() Option { return flag("--crds", "none") }

// StandIns starts only the named stand-in controllers; none at all without names.
func StandIns(names ...string) Option {
	if len(names) == 0 {
		names = []string{"none"}
	}
	return flag("--standins", strings.Join(names, ","))
}

// PrivateRegistries makes images of these hosts need a pull secret.
func PrivateRegistries(hosts ...string) Option {
	return flag("--private-registries", strings.Join(hosts, ","))
}

// RestartBackoff sets the first delay of a crash loop, as time.ParseDuration reads it.
func RestartBackoff(d string) Option { return flag("--restart-backoff", d) }

func flag(args ...string) Option {
	return func(o *options) { o.args = append(o.args, args...) }
}

// Start starts a cluster for one test and stops it at the test's end. It skips the test when the binary is missing.
func Start(t testing.TB, opts ...Option) *Cluster {
	t.Helper()
	skipShort(t)
	c, err := start(opts)
	if errors.Is(err, errNoBinary) && os.Getenv(RequireVariable) != "1" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.stop(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// skipShort keeps `go test -short` free of clusters.
func skipShort(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a cluster: make test-cluster")
	}
}

// binary finds the control plane.
func binary() (string, error) {
	path := os.Getenv(BinaryVariable)
	if path == "" {
		root, err := repository()
		if err != nil {
			return "", err
		}
		path = filepath.Join(root, "bin", "localcluster")
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%w (%w)", errNoBinary, err)
	}
	return path, nil
}

// repository finds the root of the checkout above the test's working directory.
func repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "test", "localcluster", "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("not inside a checkout of this repository")
		}
	}
}
